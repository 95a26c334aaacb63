// Files of received messages. Messages writes a file's row before it has the file, and iCloud takes files
// back: a file is available once its row says so and its size is stable.

// A path is checked to be a plain file below the folder with one short system call.
import { lstatSync, realpathSync } from 'node:fs'
import { basename, isAbsolute, join, relative, sep } from 'node:path'

import type { Clock } from '../../../system/clock.ts'
import type { DeviceAttachment, DeviceFile, DriverLine, LineEvent } from '../../driver.ts'
import type { FileRow, MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

/** `transfer_state` of a file that has arrived (beeper, BlueBubbles). */
const FINISHED = 5
/** Prefix of paths in the database, wherever its folder is. */
const MESSAGES_FOLDER = '~/Library/Messages/'

/** Pending files are checked at each change for ten minutes, then hourly for a day. */
const OFTEN_MS = 600_000
const SELDOM_MS = 3_600_000
const GIVEN_UP_MS = 86_400_000
/** Longest wait for a file that its row calls finished but that is not there. */
const ABSENT_MS = 10_000
/** A file is stable if two checks this far apart find the same size. */
const STILL_MS = 500
const PENDING_MAX = 1_000

type PendingFile = {
  readonly messageGuid: string
  readonly attachmentGuid: string
  /** Monotonic, as are the other times. */
  readonly since: number
  readonly checkedAt: number
  /** Size and time of the last check; null if there was no file. */
  readonly seen: { readonly size: number; readonly at: number } | null
}

export class MessageFiles {
  readonly #clock: Clock
  readonly #folder: string
  readonly #pending = new Map<string, PendingFile>()

  /** `folder` is Messages' folder, which contains chat.db. */
  constructor(clock: Clock, folder: string) {
    this.#clock = clock
    this.#folder = folder
  }

  /** True if a file may be ready soon: the next tick checks it. */
  get isWaiting(): boolean {
    return [...this.#pending.values()].some(({ seen }) => seen !== null)
  }

  /** Follows files that an earlier run announced and whose end it did not see. */
  follow(awaited: DriverLine['awaited']): void {
    for (const { messageGuid, attachmentGuid } of awaited ?? []) {
      this.#follow(messageGuid, attachmentGuid)
    }
  }

  /**
   * The files of a message that is published now; pending files are followed from now on. Files of history stay with
   * Messages, because iCloud restores years of them.
   */
  attachmentsOf(row: MessageRow, isHistory: boolean): readonly DeviceAttachment[] {
    return filesInOrder(row).map(({ guid, file }) => {
      const state = isHistory ? ('not_kept' as const) : this.#stateOf(file, null)
      const device = typeof state === 'string' ? { state } : state
      if (device.state === 'pending') this.#follow(row.guid, guid)
      return deviceAttachment(guid, file, device)
    })
  }

  add(messageGuid: string, file: FileRow): LineEvent {
    const device = this.#stateOf(file, null)
    if (device.state === 'pending') this.#follow(messageGuid, file.guid)
    const attachment = deviceAttachment(file.guid, file, device)
    return { type: 'attachment', messageGuid, attachment, checkpoint: null }
  }

  takeEnded(db: ChatDb): readonly LineEvent[] {
    const due = [...this.#pending.values()].filter((pending) => this.#isDue(pending))
    return due.flatMap((pending) => {
      const attachment = this.#check(db, pending)
      if (attachment === null) return []
      this.#pending.delete(keyOf(pending.messageGuid, pending.attachmentGuid))
      const { messageGuid } = pending
      return [{ type: 'attachment' as const, messageGuid, attachment, checkpoint: null }]
    })
  }

  #follow(messageGuid: string, attachmentGuid: string): void {
    const now = this.#clock.monotonic()
    if (this.#pending.size >= PENDING_MAX) return
    const pending = { messageGuid, attachmentGuid, since: now, checkedAt: -Infinity, seen: null }
    this.#pending.set(keyOf(messageGuid, attachmentGuid), pending)
  }

  #isDue({ since, checkedAt, seen }: PendingFile): boolean {
    const now = this.#clock.monotonic()
    if (seen !== null) return now - checkedAt >= STILL_MS
    return now - since < OFTEN_MS || now - checkedAt >= SELDOM_MS
  }

  /** The attachment once its state is final; null while it is pending. */
  #check(db: ChatDb, pending: PendingFile): DeviceAttachment | null {
    const { messageGuid, attachmentGuid, since } = pending
    const rowId = db.rowIdOf(messageGuid)
    const file = rowId === null ? undefined : db.fileOf(rowId, attachmentGuid)
    const endedWith = (device: DeviceFile) => deviceAttachment(attachmentGuid, file, device)
    if (rowId === null) return endedWith({ state: 'missing' })
    const state = this.#stateOf(file, pending)
    if (state.state !== 'pending') return endedWith(state)
    const isOver = this.#clock.monotonic() - since >= GIVEN_UP_MS
    if (isOver) return endedWith({ state: 'failed' })
    this.#note(pending, file)
    return null
  }

  #note(pending: PendingFile, file: FileRow | undefined): void {
    const now = this.#clock.monotonic()
    const located = isFinished(file) ? this.#locate(file?.path ?? null) : null
    const isStill = located !== null && located.size === pending.seen?.size
    const seen = located === null ? null : { size: located.size, at: now }
    const next = { ...pending, checkedAt: now, seen: isStill ? pending.seen : seen }
    this.#pending.set(keyOf(pending.messageGuid, pending.attachmentGuid), next)
  }

  /** `pending` is null at the first check. */
  #stateOf(file: FileRow | undefined, pending: PendingFile | null): DeviceFile {
    if (file === undefined || !isFinished(file)) return { state: 'pending' }
    const located = this.#locate(file.path)
    const now = this.#clock.monotonic()
    if (located === null) {
      const waitedMs = pending === null ? 0 : now - pending.since
      return { state: waitedMs >= ABSENT_MS ? 'missing' : 'pending' }
    }
    const seen = pending?.seen
    const isStill = seen?.size === located.size && now - seen.at >= STILL_MS
    const isWhole = located.size === file.size
    return isWhole || isStill ? { state: 'available', path: located.path } : { state: 'pending' }
  }

  /** The file, if it is in the folder of Messages and the path contains no link. */
  #locate(path: string | null): { readonly path: string; readonly size: number } | null {
    if (path === null) return null
    const isOfMessages = path.startsWith(MESSAGES_FOLDER)
    const named = isOfMessages ? join(this.#folder, path.slice(MESSAGES_FOLDER.length)) : path
    try {
      const inner = relative(this.#folder, named)
      const isBelow = isAbsolute(named) && !isAbsolute(inner) && !inner.startsWith(`..${sep}`)
      const real = realpathSync(named)
      if (!isBelow || real !== join(realpathSync(this.#folder), inner)) return null
      const status = lstatSync(real)
      return status.isFile() ? { path: real, size: status.size } : null
    } catch {
      return null
    }
  }
}

function isFinished(file: FileRow | undefined): boolean {
  return file?.transferState === FINISHED
}

function keyOf(messageGuid: string, attachmentGuid: string): string {
  return `${messageGuid}\0${attachmentGuid}`
}

/**
 * Files in the order of the text: the body names them, and their rows are in another order (imessage-database). A
 * name without a row is a file whose row is still to come. Without a body, only the rows are known.
 */
function filesInOrder(
  row: MessageRow,
): readonly { readonly guid: string; readonly file: FileRow | undefined }[] {
  const inline = new Set(row.inlineEmoji.map(({ guid }) => guid))
  const named = row.attachmentGuids.filter((guid) => !inline.has(guid))
  const fileOf = (guid: string) => row.files.find((file) => file.guid === guid)
  const all =
    row.attachmentGuids.length > 0
      ? named.map((guid) => ({ guid, file: fileOf(guid) }))
      : row.files.map((file) => ({ guid: file.guid, file }))
  return all.filter(({ file }) => file?.isHidden !== true)
}

function deviceAttachment(
  guid: string,
  file: FileRow | undefined,
  device: DeviceFile,
): DeviceAttachment {
  const name = file?.name ?? basename(file?.path ?? '')
  return {
    guid,
    filename: name === '' ? 'attachment' : name,
    declaredType: file?.mimeType ?? null,
    size: file === undefined || file.size <= 0 ? null : file.size,
    file: device,
  }
}
