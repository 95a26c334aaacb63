// Uploads files for a send, and saves the files of messages.

import { open, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'

import type { SendAttachment } from '../api/attachments.ts'
import { argument, type Call, type Command, type CommandOption } from './command.ts'
import type { ControlClient } from './control-client.ts'
import type { ProgressBar } from './output.ts'
import { runningRelay } from './own-file.ts'
import { sizeCell } from './table.ts'

export const SAVE_OPTIONS: readonly CommandOption[] = [
  { name: 'to', value: 'FILE', isRequired: true, sentence: 'File to save to.' },
  { name: 'force', value: null, sentence: 'Overwrite the file if it exists.' },
]

export const ATTACHMENT_COMMANDS: readonly Command[] = [
  {
    name: 'attachments get',
    args: [{ name: 'ID' }],
    options: SAVE_OPTIONS,
    sentence: 'Save an attachment as a file.',
    run: get,
  },
]

export async function uploadAll(
  call: Call,
  client: ControlClient,
  paths: readonly string[],
): Promise<readonly SendAttachment[]> {
  const uploaded = []
  for (const path of paths) {
    const file = Bun.file(path)
    const name = basename(path)
    const bar = call.out.bar(name, file.size)
    try {
      const { id } = await client.upload(name, counted(file.stream(), bar))
      uploaded.push({ id })
    } finally {
      bar.end()
    }
  }
  return uploaded
}

function counted(bytes: ReadableStream<Uint8Array>, bar: ProgressBar): ReadableStream<Uint8Array> {
  return bytes.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bar.add(chunk.length)
        controller.enqueue(chunk)
      },
    }),
  )
}

async function get(call: Call): Promise<undefined> {
  const id = argument(call, 0)
  const client = await runningRelay(call)
  const attachment = await client.ask('getAttachment', { params: { id } })
  const bytes = client.download('downloadAttachment', { params: { id } })
  const to = await saveFile(call, bytes, attachment)
  const size = attachment.size === null ? '' : ` (${sizeCell(attachment.size)})`
  call.out.data({ ...attachment, saved_to: to }, [`Saved ${to}${size}.`])
}

/** Saves to the file of `--to`, which appears only once it is complete; returns its path. */
export async function saveFile(
  call: Call,
  bytes: AsyncIterable<Uint8Array>,
  expected: { readonly size: number | null; readonly sha256: string | null },
): Promise<string> {
  const to = call.options.get('to') ?? ''
  const isForced = call.options.has('force')
  const refuseExisting = async () => {
    if (isForced || !(await Bun.file(to).exists())) return
    throw new Error(`${to} exists already. Choose another name, or add --force to overwrite it.`)
  }
  await refuseExisting()
  const part = `${to}.part-${crypto.randomUUID()}`
  const bar = call.out.bar(basename(to), expected.size)
  try {
    const sha256 = await save(part, bytes, bar)
    if (expected.sha256 !== null && sha256 !== expected.sha256) {
      throw new Error('The file changed on its way. Try again.')
    }
    await refuseExisting()
    await rename(part, to)
  } finally {
    bar.end()
    await rm(part, { force: true })
  }
  return to
}

/** Writes a new file; returns the SHA-256 of its bytes. */
async function save(path: string, bytes: AsyncIterable<Uint8Array>, bar: ProgressBar) {
  const hasher = new Bun.CryptoHasher('sha256')
  const file = await open(path, 'wx')
  try {
    for await (const chunk of bytes) {
      await file.writeFile(chunk)
      hasher.update(chunk)
      bar.add(chunk.length)
    }
  } finally {
    await file.close()
  }
  return hasher.digest('hex')
}
