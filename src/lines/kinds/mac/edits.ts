// History of an edited or unsent message: `message_summary_info`, a binary property list. `ec` has the
// texts of each part with their dates, oldest first; `otr` the parts that the message had, and `rp` those
// that were unsent (imessage-exporter's fixtures of real rows).

import { timestamp } from '../../../domain/ids.ts'
import type { Edit } from '../../../domain/message-extras.ts'
import {
  bytesOf,
  dictionaryOf,
  numberOf,
  type PropertyDictionary,
  type PropertyValue,
  readBinaryPropertyList,
} from '../../../system/binary-plist.ts'
import { fromAppleTime } from './apple-time.ts'
import { decodeAttributedBody, withoutMarks } from './attributed-body.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

/** Apple allows five edits of a message. */
const EDITS_MAX = 50

/** Earlier texts, oldest first; if the message has several parts, the earlier texts of the edited parts. */
export function editsOf(summary: Uint8Array): readonly Edit[] {
  const parts = dictionaryOf(readSummary(summary)?.['ec'])
  const edits = Object.values(parts ?? {}).flatMap((versions) =>
    listOf(versions).slice(0, -1).flatMap(editOf),
  )
  return edits.toSorted((a, b) => a.at - b.at).slice(0, EDITS_MAX)
}

/** True if every part that the message had was unsent. */
export function isWhollyRetracted(summary: Uint8Array): boolean {
  const list = readSummary(summary)
  const parts = Object.keys(dictionaryOf(list?.['otr']) ?? {})
  const retracted = new Set(listOf(list?.['rp']).map(String))
  return parts.length > 0 && parts.every((part) => retracted.has(part))
}

function editOf(version: PropertyValue): readonly Edit[] {
  const fields = dictionaryOf(version)
  const body = bytesOf(fields?.['t'])
  const at = fromAppleTime(numberOf(fields?.['d']))
  if (body === null || at === null) return []
  const decoded = decodeAttributedBody(body)
  return decoded.ok ? [{ text: withoutMarks(decoded.text), at: timestamp(at) }] : []
}

function listOf(value: PropertyValue | undefined): readonly PropertyValue[] {
  return Array.isArray(value) ? value : []
}

/** Returns null if the list cannot be read: the message was edited, but its earlier texts are unknown. */
function readSummary(summary: Uint8Array): PropertyDictionary | null {
  try {
    return dictionaryOf(readBinaryPropertyList(summary))
  } catch {
    return null
  }
}

/** A device that cannot edit sends this text for an edit, and iCloud brings it to all others (mautrix). */
const COPY = /^Edited to [“"](.*)[”"]$/s
const COPY_MS = 60_000

export function mayBeEditCopy({ at, text }: MessageRow): boolean {
  return at !== null && text !== null && COPY.test(text)
}

/** True if the row quotes the text of an edit that its sender made within a minute. */
export function isEditCopy(row: MessageRow, db: Pick<ChatDb, 'editedSince' | 'rowsAt'>): boolean {
  const { at, text, handle, isFromMe, chat } = row
  const [, quoted] = COPY.exec(text ?? '') ?? []
  if (at === null || quoted === undefined) return false
  const edited = db
    .editedSince(at - WINDOW_MS)
    .filter(({ editedAt }) => Math.abs(editedAt - at) <= COPY_MS)
  return db.rowsAt(edited.map(({ rowId }) => rowId)).some((other) => {
    const isOfSame = other.isFromMe === isFromMe && other.handle === handle
    const isHere = handle !== null || other.chat?.rowId === chat?.rowId
    return isOfSame && isHere && withoutMarks(other.text ?? '').trim() === quoted.trim()
  })
}

/** Date of each message's last known edit, by ROWID. */
export type KnownEdits = readonly (readonly [rowId: number, editedAt: number])[]

const WINDOW_MS = 1_200_000
/** After an outage, the window begins before it, but at most this far back. */
const WINDOW_MS_MAX = 7 * 86_400_000

type EditQuery = {
  readonly now: number
  /** Last healthy time of the line: edits made in an outage come after it. */
  readonly healthyAt: number
  /** False for a row that was read but still waits to be published. */
  readonly isRead: (rowId: number) => boolean
}

export class EditWatch {
  #known: ReadonlyMap<number, number>

  constructor(known: KnownEdits) {
    this.#known = new Map(known)
  }

  /** Stored in the checkpoint, so that a restart publishes no edit again. */
  get known(): KnownEdits {
    return [...this.#known]
  }

  /** Notes a new message, whose text already contains its edits up to now. */
  take(row: MessageRow): void {
    if (row.editedAt !== null) this.#known = new Map([...this.#known, [row.rowId, row.editedAt]])
  }

  /** Marks everything that was edited before the first run as known. */
  begin(db: ChatDb, now: number): void {
    const edited = db.editedSince(now - WINDOW_MS)
    this.#known = new Map(edited.map(({ rowId, editedAt }) => [rowId, editedAt]))
  }

  /** Called for another database, which has other ROWIDs. The core knows an edit by its message's guid. */
  clear(): void {
    this.#known = new Map()
  }

  /** Messages that were edited or unsent since the last call. */
  takeChanged(db: ChatDb, { now, healthyAt, isRead }: EditQuery): readonly MessageRow[] {
    const from = Math.max(Math.min(now, healthyAt) - WINDOW_MS, now - WINDOW_MS_MAX)
    const edited = db.editedSince(from).filter(({ rowId }) => isRead(rowId))
    const changed = edited.filter(({ rowId, editedAt }) => this.#known.get(rowId) !== editedAt)
    this.#known = new Map(edited.map(({ rowId, editedAt }) => [rowId, editedAt]))
    return changed.length === 0 ? [] : db.rowsAt(changed.map(({ rowId }) => rowId))
  }
}
