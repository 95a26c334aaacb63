// Rules for sends of AI agents: a person's takeover stops them, a message that an agent repeats isn't sent twice, and
// two programs that answer each other are stopped.

import { RelayError } from '../domain/errors.ts'
import type { Handle } from '../domain/handle.ts'
import type { ConversationId, KeyId, LineId, MessageId, Timestamp } from '../domain/ids.ts'
import type { MessageSource, Outbound, StoredStatus } from '../domain/message.ts'
import type { ConversationLimit } from '../domain/permissions.ts'
import type { LineLimit } from '../domain/routing.ts'
import { MINUTE_MS } from '../domain/time.ts'
import { conversationsWith, loopFrom, stopLoop } from '../storage/conversations.ts'
import { lineageOf, linesWithin } from '../storage/credentials.ts'
import type { Tx } from '../storage/database.ts'
import { lastReceived, sentAfter, timesIn } from '../storage/message-lists.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import type { Settings } from '../storage/settings.ts'
import { isoTime } from '../system/iso-time.ts'

/** Fields that an agent adds to its send. */
export type AgentSend = {
  readonly answers: MessageId | null
  /** True to send it even if it seems to be a repeat. */
  readonly isAgain: boolean
}

/**
 * Keeps programs out of a conversation that a person answers: agents and keys of conversations always, others if the
 * setting says so.
 */
export function requireUnpaused(
  settings: Settings,
  tx: Tx,
  send: {
    readonly source: MessageSource
    readonly isAgent: boolean
    readonly conversationIds: ConversationLimit
    /** The lines whose conversations with the handle count: see `linesThatCount`. */
    readonly lineIds: LineLimit
    readonly handle: Handle
  },
): void {
  const isProgram = send.source === 'api'
  const isKept = isProgram && settings.get('enforce_automation_pause')
  const isAlwaysKept = isKept || send.isAgent || send.conversationIds !== null
  if (!isProgram && !isAlwaysKept) return
  const paused = findPaused(tx, send)
  if (paused === undefined || !(isAlwaysKept || paused.loopedAt !== null)) return
  throw new RelayError(
    'automation_paused',
    paused.loopedAt === null
      ? 'A person answers this conversation: send when its automation_paused is false again.'
      : 'Two programs seem to answer each other here: send when a person has let it go on.',
    { details: { conversation_id: paused.id } },
  )
}

/**
 * True if the message must not be sent because its conversation is closed to its sender: to agents while a person
 * answers, to every key after a loop.
 */
export function isTakenOver(tx: Tx, message: Outbound): boolean {
  const { extras, source, lineId, handle, isPinned } = message
  const isAgent = extras?.isOfAgent === true
  if (!isAgent && source !== 'api') return false
  const { lineIds: named = null, siteIds = null } = extras ?? {}
  const limit = linesWithin(tx, { lineIds: named, siteIds })
  const lineIds = linesThatCount({ isAgent, isPinned, lineId, limit })
  const paused = findPaused(tx, { lineIds, handle })
  return paused !== undefined && (isAgent || paused.loopedAt !== null)
}

/**
 * The lines whose conversations with the recipient are checked for takeovers and repeats: the message's own line, or,
 * if an agent names none, all that it may use. Otherwise it could send by one line while a person answers on another.
 */
export function linesThatCount(message: {
  readonly isAgent: boolean
  readonly isPinned: boolean
  readonly lineId: LineId
  /** The lines that its sender may use. */
  readonly limit: LineLimit
}): LineLimit {
  return message.isAgent && !message.isPinned ? message.limit : [message.lineId]
}

function findPaused(tx: Tx, of: Parameters<typeof conversationsWith>[1]) {
  return conversationsWith(tx, of).find(({ isPaused }) => isPaused === 1)
}

/** A conversation is a loop if this many answers in a row each come within this time after a program's message. */
const LOOPS = [
  { answers: 20, withinMs: 10_000 },
  { answers: 60, withinMs: MINUTE_MS },
]
const ANSWERS_MAX = Math.max(...LOOPS.map(({ answers }) => answers))

/** Marks the conversation of a received message as a loop, which stops programs there, if its answers look like one. */
export function stopIfLoop(tx: Tx, { conversationId }: Outbound, now: Timestamp): void {
  const from = loopFrom(tx, conversationId)
  if (from === null) return
  const gaps = answerGaps(tx, conversationId, from)
  const isLoop = LOOPS.some(
    ({ answers, withinMs }) =>
      gaps.length >= answers && gaps.slice(0, answers).every((gap) => gap <= withinMs),
  )
  if (isLoop) stopLoop(tx, conversationId, now)
}

/** Milliseconds from a program's message to each answer, newest first, back to the first that a person could write. */
function answerGaps(tx: Tx, id: ConversationId, from: number): readonly number[] {
  const gaps: number[] = []
  const answers: number[] = []
  for (const { isInbound, isOfProgram, at } of timesIn(tx, { conversationId: id, from })) {
    if (isInbound) answers.push(at)
    else if (isOfProgram === 0) return gaps
    else gaps.push(...answers.splice(0).map((answered) => answered - at))
    if ((gaps.at(-1) ?? 0) > MINUTE_MS || gaps.length + answers.length > 2 * ANSWERS_MAX) break
    if (gaps.length >= ANSWERS_MAX) break
  }
  return gaps
}

/** Statuses of messages that certainly weren't sent, so that they may be sent again. */
const NOT_SENT: readonly StoredStatus[] = ['failed', 'expired']

type Sent = {
  readonly agent: AgentSend
  readonly hasKey: boolean
  /** The lineage of the key; null for the owner. */
  readonly lineage: KeyId | null
  /** The conversations that are searched for repeats; none if this message opens the first one. */
  readonly conversationIds: readonly ConversationId[]
  readonly text: string
}

/**
 * Throws `already_sent` for an agent's repeat: a second answer to one message, or, without an idempotency key, the
 * same text with nothing received in between.
 */
export function requireFirst(tx: Tx, send: Sent): void {
  const { agent, conversationIds, hasKey, text } = send
  const { answers, isAgain } = agent
  const answered = answers === null ? null : requireMessage(tx, answers)
  if (answered !== null && !conversationIds.includes(answered.conversationId)) throw noMessage()
  if (isAgain || (answers === null && hasKey)) return
  const after = answered?.seq ?? Math.max(0, ...conversationIds.map((id) => lastReceived(tx, id)))
  for (const conversationId of conversationIds) {
    const first = sentAfter(tx, { conversationId, after, text, answers }).find((message) =>
      isSentBy(tx, message, send),
    )
    if (first !== undefined) throw alreadySent(first, answers)
  }
}

/** True if the message was sent, or may have been, by the same caller. */
function isSentBy(tx: Tx, { status, source, keyId }: Outbound, { lineage }: Sent): boolean {
  if (NOT_SENT.includes(status)) return false
  if (lineage === null) return keyId === null && source === 'cli'
  return keyId !== null && lineageOf(tx, keyId) === lineage
}

function alreadySent(message: Outbound, answers: MessageId | null): RelayError {
  const at: Timestamp = message.sentAt ?? message.createdAt
  const what = answers === null ? 'The same text was sent' : `The message ${answers} was answered`
  return new RelayError(
    'already_sent',
    `${what} at ${isoTime(at)}; pass again: true to send it again.`,
    { details: { message_id: message.id, status: message.status, at: isoTime(at) } },
  )
}
