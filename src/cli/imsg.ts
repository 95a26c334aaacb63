// `hookline imsg`: the commands of imsg that OpenClaw's iMessage channel runs, with a relay in place of a Mac.

import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

import type { MessageAttachment } from '../api/attachments.ts'
import { RPC_METHODS, RpcServer } from '../compat/imsg/rpc.ts'
import { DAY_MS } from '../domain/time.ts'
import { systemClock } from '../system/clock.ts'
import { readTextOrNull } from '../system/files.ts'
import { exitProcess, inputLines, ownExecutable } from '../system/own-process.ts'
import { VERSION } from '../system/version.ts'
import { EXIT, UsageError, argument, type Call, type Command, type ExitCode } from './command.ts'
import { ControlClient } from './control-client.ts'
import { STANDARD } from './output.ts'

const URL_NAME = 'HOOKLINE_URL'
const KEY_NAME = 'HOOKLINE_KEY'
const ROOT = '/compat/imsg'

const PLACE = [
  { name: 'url', value: 'URL', sentence: `The relay. Default: the variable ${URL_NAME}.` },
  {
    name: 'key-file',
    value: 'FILE',
    sentence: `A file with KEY:SECRET. Default: the variable ${KEY_NAME}.`,
  },
  { name: 'files', value: 'FOLDER', sentence: 'Where received files go for the agent.' },
  { name: 'db', value: 'FILE', sentence: 'Taken from OpenClaw, and not used.' },
] as const

export const IMSG_COMMANDS: readonly Command[] = [
  {
    name: 'imsg rpc',
    options: PLACE,
    sentence: 'Serve the relay to OpenClaw as imsg does, on standard input and output.',
    run: serve,
  },
  {
    name: 'imsg status',
    options: PLACE,
    sentence: 'Show what imsg rpc can do, as OpenClaw asks for it.',
    run: status,
  },
  {
    name: 'imsg install',
    args: [{ name: 'FILE' }],
    options: PLACE.slice(0, 2),
    sentence:
      'Write the program that OpenClaw starts, with the address and key of the relay in it.',
    run: install,
  },
]

async function serve(call: Call): Promise<ExitCode> {
  const server = serverFor(call)
  for await (const line of inputLines()) server.take(line)
  await server.end()
  return EXIT.ok
}

function status({ out }: Call): Promise<undefined> {
  const message = 'Lines of a relay need no private API. Typing, tapbacks and edits are left out.'
  const known = {
    version: VERSION,
    basic_features: true,
    advanced_features: false,
    typing_indicators: false,
    read_receipts: false,
    message,
    bridge_version: 0,
    v2_ready: false,
    selectors: {},
    rpc_methods: RPC_METHODS,
    capabilities: { engine: { version: VERSION }, features: {} },
  }
  out.data(known, [message, `Methods: ${RPC_METHODS.join(', ')}`])
  return Promise.resolve(undefined)
}

function serverFor(call: Call): RpcServer {
  const { environment, folder } = call.surroundings
  const { url, key } = placeOf(call)
  const relay = new ControlClient({
    url: url.replace(/\/*$/, ROOT),
    headers: { authorization: `Bearer ${key}` },
    environment,
  })
  const files = call.options.get('files') ?? join(environment['HOME'] ?? folder, FILES)
  return new RpcServer({
    relay,
    clock: systemClock,
    version: VERSION,
    fileAt: (file) => fileAt(relay, resolve(folder, files), file),
    readFile: async (path) => {
      const file = resolve(folder, path)
      const found = statSync(file, { throwIfNoEntry: false })
      if (found?.isFile() !== true) throw new Error('there is no such file')
      return { name: basename(file), bytes: Bun.file(file).stream() }
    },
    write: (line) => STANDARD.log(line),
    onRefused: (error) => {
      call.out.problem(error instanceof Error ? error.message : String(error))
      exitProcess(EXIT.notAllowed)
    },
  })
}

/** The relay's address and `KEY:SECRET`. */
function placeOf({ options, surroundings: { environment, folder } }: Call) {
  const url = options.get('url') ?? environment[URL_NAME]
  if (url === undefined || !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError(
      `${URL_NAME} must be the address of a relay, such as http://mac.local:4665.`,
    )
  }
  const file = options.get('key-file')
  const key = file === undefined ? environment[KEY_NAME] : readTextOrNull(resolve(folder, file))
  if (key === undefined || key === null || !/^[^:\s]+:\S+\s*$/.test(key)) {
    const where = file === undefined ? KEY_NAME : file
    throw new UsageError(`${where} must have KEY:SECRET of a key: hookline keys create --for imsg`)
  }
  return { url, key: key.trim() }
}

/** OpenClaw starts one program without arguments of its own or variables, so they are in a script. */
async function install(call: Call): Promise<undefined> {
  const { url, key } = placeOf(call)
  const path = resolve(call.surroundings.folder, argument(call, 0))
  if (basename(path) === 'imsg') {
    throw new UsageError('Give it another name than imsg: OpenClaw then looks for a database.')
  }
  const program = [ownExecutable() ?? 'hookline', 'imsg'].map(quoted).join(' ')
  const lines = [
    '#!/bin/sh',
    `export ${URL_NAME}=${quoted(url)} ${KEY_NAME}=${quoted(key)}`,
    `exec ${program} "$@"`,
  ]
  await Bun.write(path, `${lines.join('\n')}\n`, { mode: 0o700 })
  chmodSync(path, 0o700)
  call.out.data({ path }, [path, `openclaw config set channels.imessage.cliPath ${path}`])
  return undefined
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Below the home directory. */
const FILES = '.cache/hookline/imsg'
const FILES_KEPT_MS = 7 * DAY_MS
const FILE_BYTES_MAX = 100_000_000

/** Downloads a file once; null if the relay doesn't have it. */
async function fileAt(
  relay: ControlClient,
  root: string,
  { id, filename, size }: MessageAttachment,
): Promise<string | null> {
  if (!/^att_[0-9a-z]+$/.test(id) || (size ?? 0) > FILE_BYTES_MAX) return null
  const folder = join(root, id)
  const path = join(folder, basename(filename).replace(/^\.+/, '') || 'file')
  if (await Bun.file(path).exists()) return path
  removeOld(root)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const unfinished = join(root, `.${id}.${crypto.randomUUID()}`)
  try {
    const sink = Bun.file(unfinished).writer()
    for await (const chunk of relay.download('downloadAttachment', { params: { id } })) {
      void sink.write(chunk)
      await sink.flush()
    }
    await sink.end()
    renameSync(unfinished, path)
    return path
  } catch (error) {
    rmSync(unfinished, { force: true })
    if (error instanceof Error) return null
    throw error
  }
}

function removeOld(root: string): void {
  mkdirSync(root, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(root)) {
    const { mtimeMs } = statSync(join(root, name))
    const isOld = systemClock.now() - mtimeMs > FILES_KEPT_MS
    if (isOld) rmSync(join(root, name), { recursive: true, force: true })
  }
}
