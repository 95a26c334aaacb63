// The events of rows: a message with its files, a reaction, a group change, an edit.

import { timestamp } from '../../../domain/ids.ts'
import type { Clock } from '../../../system/clock.ts'
import type { DeviceChange, DeviceGroup, DeviceMessage, LineEvent } from '../../driver.ts'
import type { Chat, MessageRow } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'
import { type Classification, groupIdentifier, isUnsent, readableText } from './classify.ts'
import { editsOf } from './edits.ts'
import type { MessageFiles } from './message-files.ts'
import type { Owner } from './own-addresses.ts'
import type { OwnMessages } from './own-messages.ts'
import { spelledHandle } from './people.ts'
import { PublishedRows } from './published-rows.ts'
import { replyOf } from './row-changes.ts'
import { serviceOf } from './status-tracker.ts'

export type Classified = Exclude<Classification, { kind: 'incomplete' }>
type Relayed = Extract<Classified, { kind: 'relay' }>
type Changed = Extract<Classified, { kind: 'change' }>

/** Counts messages published as history, and messages published without their whole text. */
export type Counted = 'history' | 'undecodable'

export class RowEvents {
  readonly own: OwnMessages
  readonly owner: Owner
  readonly #clock: Clock
  readonly #files: MessageFiles
  readonly #counts = new Map<Counted, number>()
  readonly #published: PublishedRows

  constructor(clock: Clock, own: OwnMessages, owner: Owner, files: MessageFiles) {
    this.#clock = clock
    this.own = own
    this.owner = owner
    this.#files = files
    this.#published = new PublishedRows(clock)
  }

  /** True if a file may be complete at any moment. */
  get isWaiting(): boolean {
    return this.#files.isWaiting
  }

  countOf(what: Counted): number {
    return this.#counts.get(what) ?? 0
  }

  /** The event of a complete row; null if there is nothing to report. */
  of(db: ChatDb, row: MessageRow, found: Classified): LineEvent | null {
    switch (found.kind) {
      case 'skip':
        return null
      case 'leave_out': {
        const at = timestamp(row.at ?? this.#clock.now())
        const leftOut = { guid: row.guid, kind: found.leftOut, at }
        return { type: 'left_out', leftOut, checkpoint: null }
      }
      case 'relay':
        return { type: 'message', message: this.#message(db, row, found), checkpoint: null }
      case 'change': {
        const change = this.#change(db, row, found)
        return change === null ? null : { type: 'change', change, checkpoint: null }
      }
    }
  }

  /** The edit or unsend of a published message; a message from before `since` is history. */
  editEvent(db: ChatDb, row: MessageRow, since: number): readonly LineEvent[] {
    const { editedAt, guid: targetGuid, summary } = row
    if (editedAt === null) return []
    const kind = isUnsent(row) ? ('unsent' as const) : ('edited' as const)
    const base = {
      guid: `${targetGuid}:${kind}:${editedAt}`,
      at: timestamp(editedAt),
      isHistory: editedAt < since,
      group: this.#groupIn(db, row),
      targetGuid,
    }
    const text = readableText(row, db)
    const edits = summary === null ? [] : editsOf(summary)
    const change = kind === 'unsent' ? { ...base, kind } : { ...base, kind, text, edits }
    return [{ type: 'change', change, checkpoint: null }]
  }

  /** Files and words that were added to rows after they were published, and the ends of pending files. */
  additions(db: ChatDb): readonly LineEvent[] {
    const { files, rowsWithWords } = this.#published.takeAdditions(db)
    const edits = rowsWithWords.flatMap(({ row, isHistory }) => {
      const text = readableText(row, db)
      const guid = `${row.guid}:completed`
      const at = timestamp(this.#clock.now())
      const base = { guid, at, isHistory, group: this.#groupIn(db, row) }
      const change = { ...base, kind: 'edited' as const, targetGuid: row.guid, text, edits: [] }
      return text === '' ? [] : [{ type: 'change' as const, change, checkpoint: null }]
    })
    const later = files.map(({ messageGuid, file }) => this.#files.add(messageGuid, file))
    return [...edits, ...later, ...this.#files.takeEnded(db)]
  }

  /** Follows a message that an earlier run published, with its current files. */
  watch(row: MessageRow): void {
    const fileGuids = row.files.map(({ guid }) => guid)
    this.#published.take(row, fileGuids, false)
  }

  forgetRowIds(): void {
    this.#published.clear()
  }

  #message(db: ChatDb, row: MessageRow, found: Relayed): DeviceMessage {
    const { guid, isFromMe, state } = row
    const { handle, text, isHistory, withheld, group } = found
    if (isHistory) this.#count('history')
    if (row.bodyProblem !== null) this.#count('undecodable')
    if (isFromMe && !isHistory) this.own.tracker.settle(row, this.#clock.now())
    const attachments = this.#files.attachmentsOf(row, isHistory)
    const fileGuids = attachments.map((file) => file.guid)
    this.#published.take(row, fileGuids, isHistory)
    const [at, service] = [timestamp(found.at), serviceOf(state)]
    const message = { guid, handle, text, isFromMe, service, at, isHistory, withheld }
    return {
      ...message,
      attachments: attachments.length === 0 ? undefined : attachments,
      group: group === null ? undefined : this.#groupOf(db, group),
      replyTo: replyOf(row),
    }
  }

  #change(db: ChatDb, row: MessageRow, found: Changed): DeviceChange | null {
    const { isHistory, handle, change } = found
    const group = found.group === null ? undefined : this.#groupOf(db, found.group)
    const base = { guid: row.guid, at: timestamp(found.at), isHistory }
    if (change.kind === 'reaction') {
      const sender = handle ?? spelledHandle(this.owner.number)
      return { ...base, ...change, handle: sender, isFromMe: row.isFromMe, group }
    }
    if (group === undefined) return null
    const { name, target: member, replaced, ...rest } = change
    const named = change.change === 'renamed' ? { ...group, name } : group
    const people = { actor: handle, target: this.#memberOf(member) }
    const before = typeof replaced === 'string' ? spelledHandle(replaced) : undefined
    return { ...base, ...rest, ...people, group: named, replaced: before }
  }

  #memberOf(handle: string | null): DeviceMessage['handle'] | null {
    return handle === null || this.owner.isAlias(handle) ? null : spelledHandle(handle)
  }

  #groupIn(db: ChatDb, { chat }: MessageRow): DeviceGroup | undefined {
    return chat === null || chat.isDirect ? undefined : this.#groupOf(db, chat)
  }

  #groupOf(db: ChatDb, chat: Chat): DeviceGroup {
    const members = db.membersOf(chat.rowId)
    const others = members.filter((handle) => !this.owner.isAlias(handle))
    return {
      chatGuid: chat.guid,
      identifier: groupIdentifier(chat),
      name: chat.name,
      participants: [...new Set(others.map(spelledHandle))],
    }
  }

  #count(what: Counted): void {
    this.#counts.set(what, this.countOf(what) + 1)
  }
}
