// A relay with files, and scripted devices that can send all that a line can: one device may do less.

import { rmSync } from 'node:fs'

import type { AttachmentId } from '../../src/domain/ids.ts'
import type { Capabilities } from '../../src/domain/line.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { TEXTS_ONLY } from './scripted-driver.ts'
import { startScripted } from './scripted-relay.ts'
import { type TestRelay } from './test-relay.ts'

export const ABLE: Capabilities = {
  ...TEXTS_ONLY,
  choose_service: true,
  attachments: true,
  receives_attachments: true,
  groups: 'reply',
}

/** Kinds of which `mac` can do all, also while its line is offline. */
const KINDS = LINE_KINDS.map((kind) => (kind.name === 'mac' ? { ...kind, abilities: ABLE } : kind))

type Options = Omit<Exclude<Parameters<typeof startScripted>[0], undefined>, 'folder'> & {
  readonly folder?: ScratchFolder
  /** One number for each device. */
  readonly numbers?: readonly string[]
  /** A life before this one, whose key and clock go on. */
  readonly before?: TestRelay
}

export async function startRich({ folder, numbers, before, parts, ...start }: Options = {}) {
  const own = folder ?? new ScratchFolder()
  const relay = await startScripted({
    lines: (numbers ?? ['+12025550801']).map(() => 'online' as const),
    capabilities: ABLE,
    clock: before?.clock,
    key: before?.key,
    ...start,
    folder: own.path,
    parts: { kinds: KINDS, ...parts },
  })
  return {
    ...relay,
    folder: own,
    file: (content: string, name?: string) => upload(relay, content, name),
    /** Takes the bytes of all files away. */
    loseFiles: () => rmSync(own.file('attachments'), { recursive: true }),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      if (folder === undefined) own[Symbol.dispose]()
    },
  }
}

export type RichRelay = Awaited<ReturnType<typeof startRich>>

/** The id of an upload. */
async function upload(
  { fetch, credentials }: TestRelay,
  content: string,
  filename = 'menu.txt',
): Promise<AttachmentId> {
  const headers = { ...credentials, 'Content-Type': 'application/octet-stream' }
  const path = `/api/v1/attachments?filename=${encodeURIComponent(filename)}`
  const response = await fetch(path, { method: 'POST', headers, body: content })
  const { id } = (await response.json()) as { readonly id: AttachmentId }
  return id
}
