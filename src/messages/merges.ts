// Merges a conversation whose handle is another spelling of a person's into the person's conversation. Such
// conversations come from data older than normalized spellings, or from a line whose country wasn't known. The old id
// can still be read, nothing is announced, and the owner can separate them again.

import { RELAY_ITSELF, type Origin } from '../domain/audit.ts'
import { NO_CONTACT, joinedContact, type DailyContact } from '../domain/contact-limit.ts'
import { RelayError } from '../domain/errors.ts'
import { commonHome, homeOfNumber, personOf, type Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import { keywordIn } from '../domain/opt-out.ts'
import { readPeopleProgress, savePeopleProgress, type PeopleProgress } from '../storage/about.ts'
import { openConversation } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { changeContact, readContact } from '../storage/daily-contacts.ts'
import type { Tx } from '../storage/database.ts'
import { listLines } from '../storage/lines.ts'
import {
  aliasesOf,
  countFacts,
  countReserved,
  findMerge,
  findTalk,
  forgetContact,
  giveBackMessages,
  hasOwnMessages,
  insertMerge,
  isSendingIn,
  isSpelledElsewhere,
  markSeparated,
  moveOwnMessages,
  optOutsAlone,
  pointAliases,
  readFacts,
  renamePerson,
  renameTalk,
  saveFacts,
  takeOverMessages,
  talksBehind,
  textsBehind,
  type ConversationFacts,
  type Merge,
  type Talk,
} from '../storage/merges.ts'
import { reorder } from '../storage/message-queue.ts'
import { deleteOptOut, insertOptOut, optOutsOf, type ListedOptOut } from '../storage/opt-outs.ts'
import { SLICE_MS } from '../system/clock.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Service } from '../system/service.ts'
import { VERSION } from '../system/version.ts'
import { createPersonOn, type PersonOn } from './spellings.ts'

/** Both conversations before a merge, and the merged one right after it. */
type Before = {
  readonly from: ConversationFacts
  /** Null if the person had no conversation: then the merged one was renamed. */
  readonly to: ConversationFacts | null
  readonly merged: ConversationFacts
  readonly contacts: { readonly from: DailyContact; readonly to: DailyContact }
  readonly optOuts: readonly (ListedOptOut & { readonly isCopied: boolean })[]
  readonly aliases: readonly number[]
  readonly isPersonRenamed: boolean
}

/** Returns false if a message is being sent in the conversation, which must settle first. */
function mergeTalk({ ids, audit }: Core, tx: Tx, from: Talk, handle: Handle): boolean {
  const { id, lineId, handle: spelling } = from
  const to = findTalk(tx, lineId, handle)
  if (isSendingIn(tx, [from.seq, ...(to === null ? [] : [to.seq])])) return false
  const facts = readFacts(tx, from.seq)
  if (facts === null) return true
  const now = ids.now()
  const target = to ?? { ...from, handle }
  const factsOfTarget = to && readFacts(tx, to.seq)
  const merged = factsOfTarget === null ? facts : joinedFacts(factsOfTarget, facts)
  const aliases = aliasesOf(tx, from.seq)
  takeOverMessages(tx, from, target)
  if (to === null) renameTalk(tx, from, handle)
  else {
    saveFacts(tx, from, {
      messageCount: 0,
      lastSeq: 0,
      readSeq: 0,
      unreadCount: 0,
      isUnanswered: 0,
      isAutomationPaused: 0,
      service: facts.service,
      updatedAt: facts.updatedAt,
      movedTo: to.seq,
    })
    pointAliases(tx, aliases, to.seq)
  }
  saveFacts(tx, target, merged)
  const before: Before = {
    from: facts,
    to: factsOfTarget,
    merged,
    aliases,
    contacts: mergeContacts(tx, lineId, { spelling, handle }),
    optOuts: mergeOptOuts(tx, from, handle),
    isPersonRenamed: !isSpelledElsewhere(tx, from) && renamePerson(tx, spelling, handle),
  }
  const merge = { lineId, spelling, handle, conversationId: id, mergedAt: now }
  insertMerge(tx, { ...merge, before: JSON.stringify(before) })
  reorder(tx, target.id, now)
  audit.record(tx, RELAY_ITSELF, {
    action: 'conversation.merged',
    about: { kind: 'conversation', id },
    before: { handle: spelling, conversation_id: id },
    after: { handle, conversation_id: target.id },
  })
  return true
}

/** Paused if either was; service and unanswered state come from the side with the later last message. */
function joinedFacts(to: ConversationFacts, from: ConversationFacts): ConversationFacts {
  const { service, isUnanswered, lastSeq } = from.lastSeq > to.lastSeq ? from : to
  const reads = [to, from].flatMap(({ unreadCount, readSeq }) => (unreadCount > 0 ? readSeq : []))
  return {
    messageCount: to.messageCount + from.messageCount,
    lastSeq,
    readSeq: reads.length > 0 ? Math.min(...reads) : Math.max(to.readSeq, from.readSeq),
    unreadCount: to.unreadCount + from.unreadCount,
    isUnanswered,
    isAutomationPaused: to.isAutomationPaused || from.isAutomationPaused,
    service,
    movedTo: null,
    updatedAt: to.updatedAt > from.updatedAt ? to.updatedAt : from.updatedAt,
  }
}

type Names = { readonly spelling: Handle; readonly handle: Handle }

function mergeContacts(tx: Tx, lineId: LineId, { spelling, handle }: Names): Before['contacts'] {
  const contacts = { from: readContact(tx, lineId, spelling), to: readContact(tx, lineId, handle) }
  const { from, to } = contacts
  changeContact(tx, { lineId, handle: spelling }, from, NO_CONTACT)
  forgetContact(tx, lineId, spelling)
  changeContact(tx, { lineId, handle }, to, joinedContact(to, from))
  forgetContact(tx, lineId, handle)
  return contacts
}

/** The person has opted out if either handle had. Copies opt-outs that other lines still need. */
function mergeOptOuts(tx: Tx, from: Talk, handle: Handle): Before['optOuts'] {
  const isShared = isSpelledElsewhere(tx, from)
  const ofLine = optOutsOf(tx, from.handle).filter(
    ({ lineId }) => lineId === null || lineId === from.lineId,
  )
  return ofLine.map((row) => {
    const { seq: _seq, ...optOut } = row
    const isCopied = insertOptOut(tx, { ...optOut, handle })
    if (!isShared || row.lineId !== null) deleteOptOut(tx, row)
    return { ...row, isCopied }
  })
}

/** Undoes the merge of the conversation with this id, for good. */
export function separateTalk({ ids, audit }: Core, tx: Tx, id: string, origin: Origin): void {
  const merge = findMerge(tx, id)
  const found = merge && separated(tx, merge, ids)
  if (merge === null || found === null) {
    throw new RelayError('not_found', 'There is no merged conversation with this id.')
  }
  const { from, to } = found
  const now = ids.now()
  markSeparated(tx, merge, now)
  for (const { id } of [from, to]) reorder(tx, id, now)
  const { spelling, handle } = merge
  audit.record(tx, origin, {
    action: 'conversation.separated',
    about: { kind: 'conversation', id: from.id },
    before: { handle, conversation_id: to.id },
    after: { handle: spelling, conversation_id: from.id },
  })
}

/** Splits the two conversations; null if there is nothing left to separate. */
function separated(tx: Tx, merge: Merge, ids: LogicalClock) {
  const { lineId, spelling, handle, conversationId } = merge
  const person = findTalk(tx, lineId, handle)
  const from = findTalk(tx, lineId, spelling) ?? person
  const now = person && readFacts(tx, person.seq)
  if (person === null || now === null || from?.id !== conversationId) return null
  const before = JSON.parse(merge.before) as Before // `mergeTalk` wrote it.
  const to = from.seq === person.seq ? splitOff(tx, merge, from, ids) : person
  giveBackMessages(tx, spelling, { from: person.seq, to: from.seq })
  const ofPerson = partedFacts(tx, to.seq, { before: before.to, merged: before.merged, now })
  const ofSpelling = partedFacts(tx, from.seq, { before: before.from, merged: before.merged, now })
  if (to.seq !== from.seq) saveFacts(tx, to, ofPerson)
  saveFacts(tx, from, ofSpelling)
  pointAliases(tx, before.aliases, from.seq)
  const isAsBefore = to.seq === from.seq || ofPerson === before.to
  separateContacts(tx, merge, before, { from, isAsBefore })
  separateOptOuts(tx, handle, before, to.seq)
  if (before.isPersonRenamed) renamePerson(tx, handle, spelling)
  return { from, to }
}

/** An opt-out keyword since the merge still counts for the person. */
function separateOptOuts(tx: Tx, handle: Handle, before: Before, personSeq: number): void {
  const { optOuts, merged } = before
  const texts = textsBehind(tx, personSeq, merged.lastSeq)
  const hasStopped = texts.some((text) => keywordIn(text)?.meaning === 'out')
  for (const { isCopied, seq: _seq, ...optOut } of optOuts) {
    const copy = optOutsOf(tx, handle).find((other) =>
      Bun.deepEquals(other, { ...optOut, handle, seq: other.seq }),
    )
    if (copy !== undefined && isCopied && !hasStopped) deleteOptOut(tx, copy)
    insertOptOut(tx, optOut)
  }
}

/** Gives the conversation its spelling back. Messages under the person's own handle get a new conversation. */
function splitOff(tx: Tx, { spelling, handle, lineId }: Merge, from: Talk, ids: LogicalClock) {
  renameTalk(tx, from, spelling)
  if (!hasOwnMessages(tx, spelling, from.seq)) return from
  openConversation(tx, ids, { ...from, handle, now: ids.now() })
  const to = findTalk(tx, lineId, handle)
  if (to === null) return from
  moveOwnMessages(tx, spelling, { from: from.seq, to: to.seq })
  return to
}

/** `before` itself if nothing came or was read since the merge; otherwise recounted from its messages. */
function partedFacts(
  tx: Tx,
  seq: number,
  facts: {
    readonly before: ConversationFacts | null
    readonly merged: ConversationFacts
    readonly now: ConversationFacts
  },
): ConversationFacts {
  const { before, merged, now } = facts
  const isPausedSince = now.isAutomationPaused !== merged.isAutomationPaused
  const isRead = now.readSeq !== merged.readSeq
  const counted = countFacts(tx, seq, isRead ? now.readSeq : (before ?? now).readSeq)
  const { messageCount, lastSeq } = counted
  const isSame = messageCount === before?.messageCount && lastSeq === before.lastSeq
  if (isSame && !isRead && !isPausedSince) return before
  const isAutomationPaused = (isPausedSince ? now : (before ?? now)).isAutomationPaused
  const service = counted.service ?? now.service
  return { ...counted, service, isAutomationPaused, movedTo: null, updatedAt: now.updatedAt }
}

function separateContacts(
  tx: Tx,
  { lineId, spelling, handle }: Merge,
  { contacts }: Before,
  { from, isAsBefore }: { readonly from: Talk; readonly isAsBefore: boolean },
): void {
  const now = readContact(tx, lineId, handle)
  const reserved = countReserved(tx, from.seq)
  const passed = Math.max(0, now.passed - contacts.from.passed)
  const rest = { ...(isAsBefore ? contacts.to : now), passed }
  changeContact(tx, { lineId, handle }, now, {
    ...rest,
    queued: Math.max(0, now.queued - reserved),
  })
  forgetContact(tx, lineId, handle)
  const own = { ...contacts.from, queued: reserved }
  changeContact(tx, { lineId, handle: spelling }, NO_CONTACT, own)
  forgetContact(tx, lineId, spelling)
}

const ROWS_MAX = 500
const MERGES_MAX = 20
const PAUSE_MS = 100
const LOOK_MS = 20_000

/**
 * Finds and merges conversations whose handle is another spelling of a person's: all of them after an upgrade or when
 * a line's number changes, otherwise only new ones. It works in slices, next to the relay.
 */
export class PersonFollower implements Service {
  readonly name = 'people'
  readonly #core: Core
  readonly #disk: { readonly isLow: boolean }
  readonly #personOn: PersonOn

  constructor(core: Core, { disk }: { readonly disk: { readonly isLow: boolean } }) {
    this.#core = core
    this.#disk = disk
    this.#personOn = createPersonOn(core.db)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    while (!signal.aborted) {
      const isBehind = !this.#disk.isLow && (await this.#goOn())
      await clock.sleep(isBehind ? PAUSE_MS : LOOK_MS, signal)
    }
  }

  /** Returns false if there is nothing more to do for now. */
  async #goOn(): Promise<boolean> {
    const { db, writer } = this.#core
    const numbers = Object.fromEntries(listLines(db).map(({ id, number }) => [id, number]))
    const known = readPeopleProgress(db)
    const isCurrent =
      known?.version === VERSION &&
      Object.entries(numbers).every(([id, number]) => (known.numbers[id] ?? number) === number)
    const after = isCurrent ? known.seq : 0
    if (!isCurrent) await writer.write((tx) => this.#readOptOuts(tx, numbers))
    const { others, last } = this.#slice(after, numbers)
    for (const { talk, person } of others) {
      const isDone = await writer.write((tx) => {
        const isThere = findTalk(tx, talk.lineId, talk.handle)?.seq === talk.seq
        return !isThere || mergeTalk(this.#core, tx, talk, person)
      })
      if (!isDone) return false
    }
    if (isCurrent && last === after) return false
    await writer.write((tx) => savePeopleProgress(tx, { version: VERSION, seq: last, numbers }))
    return last > after
  }

  /** The next conversations to merge, as far as a slice gets. */
  #slice(after: number, numbers: PeopleProgress['numbers']) {
    const { db, clock } = this.#core
    const end = clock.monotonic() + SLICE_MS
    const others: { readonly talk: Talk; readonly person: Handle }[] = []
    let [last, rows] = [after, 0]
    for (const talk of talksBehind(db, after)) {
      const line = { id: talk.lineId, number: numbers[talk.lineId] ?? talk.phoneNumber }
      const person = this.#personOn(line, talk.handle)
      if (person !== talk.handle) others.push({ talk, person })
      last = talk.seq
      rows += 1
      const isFull = rows === ROWS_MAX || others.length === MERGES_MAX
      if (isFull || clock.monotonic() > end) break
    }
    return { others, last }
  }

  /** Stores opt-outs without a conversation under the person's handle too. */
  #readOptOuts(tx: Tx, numbers: PeopleProgress['numbers']): void {
    const common = commonHome(Object.values(numbers))
    for (const { seq: _seq, ...optOut } of optOutsAlone(tx)) {
      const number = optOut.lineId === null ? undefined : numbers[optOut.lineId]
      const home = number === undefined ? common : homeOfNumber(number)
      insertOptOut(tx, { ...optOut, handle: personOf(optOut.handle, home) })
    }
  }
}
