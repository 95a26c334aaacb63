import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

import { deviceHandle } from '../../src/domain/handle.ts'
import { ChatDb, ChatDbError } from '../../src/lines/kinds/mac/chat-db.ts'
import { sha256 } from '../../src/system/hash.ts'
import type { RunProcess } from '../../src/system/process.ts'
import { encodeAttributedBody } from '../support/mac/attributed-body-encoder.ts'
import { ChatDbFile } from '../support/mac/chat-db-file.ts'
import { type SchemaName } from '../support/mac/chat-db-schemas.ts'
import { driverOn, fakeMac, type FakeMac } from '../support/mac/fake-mac.ts'
import { MessagesModel } from '../support/mac/messages-model.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { type LineRig, runLine } from './line-rig.ts'

export type MacRig = LineRig &
  Disposable & {
    readonly model: MessagesModel
    readonly mac: FakeMac
    readonly chatDbPath: string
    /** Folder of Messages. */
    readonly folder: string
    readonly stagingFolder: string
    /** Whether macOS lets the relay read chat.db, and whether it lets a child that starts now. */
    readonly fullDiskAccess: { relay: boolean; child: boolean }
    /** Runs a program of the Mac. */
    readonly run: RunProcess
    /** The names of the programs that were run, in order. */
    readonly ran: readonly string[]
    /** Reasons why the driver asked for a restart. */
    readonly restarts: readonly string[]
  }

type Options = {
  readonly schema?: SchemaName | undefined
  readonly driver?: Parameters<typeof driverOn>[2]
}

const SENDER = '+12025550166'

/** Messages on a Mac of its own, on the test clock. */
export function makeMacRig(options: Options = {}): MacRig {
  const folder = new ScratchFolder()
  const chatDbPath = folder.file('chat.db')
  const clock = new TestClock()
  const file = ChatDbFile.create(chatDbPath, options.schema ?? 'macos26a')
  const model = new MessagesModel(file, clock)
  const mac = fakeMac(model)
  const restarts: string[] = []
  const fullDiskAccess = { relay: true, child: true }
  const openChatDb = (path: string) => {
    if (fullDiskAccess.relay) return ChatDb.open(path)
    throw new ChatDbError('denied', new Error('authorization denied'))
  }
  const ran: string[] = []
  const run: RunProcess = async (order, signal) => {
    ran.push(basename(order.path))
    if (basename(order.path) !== 'head') return mac.run(order, signal)
    const isAllowed = fullDiskAccess.child && order.args.includes(chatDbPath)
    return { end: 'exited', exitCode: isAllowed ? 0 : 1, stdout: '', stderr: '' }
  }
  const make = () =>
    driverOn({ ...mac, run }, chatDbPath, {
      openChatDb,
      restart: (why) => restarts.push(why),
      ...options.driver,
    })
  const close = () => {
    model.close()
    folder[Symbol.dispose]()
  }
  return {
    clock,
    driver: make(),
    restart: make,
    recipient: deviceHandle('+12025550155'),
    startMs: 1_000,
    settleMs: 30_000,
    burst: Infinity,
    provesUnsent: false,
    canBeAsked: true,
    carried: (text) => model.carried(text),
    receive: async (text) => void model.receive(SENDER, text),
    sentFiles: () => model.letters.flatMap(({ file: path }) => path ?? []).map(hashOf),
    receiveFile: async (text, bytes) =>
      receiveFile(model, folder.file('Attachments/ab/menu.pdf'), { text, bytes }),
    receiveInGroup: async (text) => {
      const chat = model.file.addChat({ identifier: 'chat831', style: 43, members: [SENDER] })
      model.file.receive({ from: SENDER, text, at: clock.now(), chat })
      return 'chat831'
    },
    close,
    [Symbol.dispose]: close,
    model,
    mac,
    fullDiskAccess,
    chatDbPath,
    folder: dirname(chatDbPath),
    stagingFolder: folder.file('Attachments/Hookline'),
    run,
    ran,
    restarts,
  }
}

/** Such a Mac with its line, which runs until the end of the test. */
export async function attendedMac(options: Options = {}) {
  const rig = makeMacRig(options)
  const line = await runLine(rig, rig.driver)
  const end = async () => {
    await line.end()
    rig.close()
  }
  return { ...rig, line, [Symbol.asyncDispose]: end }
}

function hashOf(path: string): string {
  return sha256(readFileSync(path)).toHex()
}

/** A message with a file before its text, as Messages writes it. */
function receiveFile(
  model: MessagesModel,
  path: string,
  { text, bytes }: { readonly text: string; readonly bytes: Uint8Array },
): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  const attributedBody = encodeAttributedBody(`\uFFFC${text}`, { attachments: ['F'] })
  model.file.db.transaction(() => {
    const values = { attributedBody, cache_has_attachments: 1 }
    const { rowId } = model.receive(SENDER, '', values)
    const name = { transfer_name: 'menu.pdf', mime_type: 'application/pdf' }
    const filename = '~/Library/Messages/Attachments/ab/menu.pdf'
    model.file.addAttachment(rowId, { guid: 'F', filename, ...name, total_bytes: bytes.length })
  })()
}
