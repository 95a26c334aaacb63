// A relay with files, and scripted devices that can send all that a line can: one device may do less.

import { rmSync } from 'node:fs'

import { AttachmentStore } from '../../src/attachments/store.ts'
import type { AttachmentId } from '../../src/domain/ids.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { Capabilities } from '../../src/domain/line.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { insertAttachment } from '../../src/storage/attachments.ts'
import type { Tx } from '../../src/storage/database.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { TEXTS_ONLY } from './scripted-driver.ts'
import { startScripted } from './scripted-relay.ts'
import { TEST_START, TestClock } from './test-clock.ts'
import { seededRandom, type TestRelay } from './test-relay.ts'

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
    file: (content: string, name?: string) => storeFile(relay, own, content, name),
    /** Takes the bytes of all files away. */
    loseFiles: () => rmSync(own.file('attachments'), { recursive: true }),
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      if (folder === undefined) own[Symbol.dispose]()
    },
  }
}

export type RichRelay = Awaited<ReturnType<typeof startRich>>

let files = 0

/** An upload, as if a caller had made it. */
async function storeFile(
  { db }: TestRelay,
  folder: ScratchFolder,
  content: string,
  filename = 'menu.txt',
): Promise<AttachmentId> {
  files += 1
  const tools = { random: seededRandom(files), clock: new TestClock() }
  const settings = { get: () => 10 } as never // Its quota is the only setting that it asks for.
  const store = new AttachmentStore({ folder: folder.file('attachments'), ...tools, settings })
  const limits = { maxBytes: 1_000_000, declaredBytes: null, declaredType: null }
  const stored = await store.write(new Blob([content]).stream(), limits)
  const id = `att_${String(files).padStart(26, '0')}` as AttachmentId // The form of an id.
  const at = timestamp(TEST_START)
  const declared = {
    filename,
    declaredType: null,
    direction: 'outbound',
    state: 'available',
  } as const
  const links = { messageId: null, deviceGuid: null, uploadKey: null, createdAt: at, expiresAt: at }
  insertAttachment(db as Tx, { id, ...stored, ...declared, ...links }) // A write of its own.
  return id
}
