// The recipient of a new message, and the checks that reject a message.

import type { SendAttachment } from '../api/attachments.ts'
import type * as api from '../api/messages.ts'
import type { Days } from '../domain/days.ts'
import { RelayError, withSuggestion } from '../domain/errors.ts'
import {
  TEST_HANDLE,
  isSamePerson,
  parseRecipient,
  type Handle,
  type Recipient,
} from '../domain/handle.ts'
import {
  parseId,
  timestamp,
  type ConversationId,
  type LineId,
  type MemberId,
  type Timestamp,
} from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { MessageCallback, MessageExtras, WantedService } from '../domain/message-extras.ts'
import type { Message, MessageSource } from '../domain/message.ts'
import { OPTED_OUT } from '../domain/opt-out.ts'
import type { ConversationLimit, KeyCaller } from '../domain/permissions.ts'
import { ALL_LINES, type LineLimit, type LineLimits, type Need } from '../domain/routing.ts'
import { MINUTE_MS } from '../domain/time.ts'
import type { LineSnapshot } from '../lines/line-state.ts'
import { findConversation, getConversation, type Conversation } from '../storage/conversations.ts'
import { contactUsage, readContact, type History } from '../storage/daily-contacts.ts'
import type { Db, Tx } from '../storage/database.ts'
import { handleMeant } from '../storage/handles.ts'
import { isInConversations } from '../storage/line-limits.ts'
import { sendsInSince, sendsToSince } from '../storage/message-lists.ts'
import { optOutAgainst } from '../storage/opt-outs.ts'
import type { Settings } from '../storage/settings.ts'
import { isoTime } from '../system/iso-time.ts'
import type { AgentSend } from './agents.ts'

export type SendRequest = {
  /** A recipient, or the conversation to send in. */
  readonly to: string | { readonly conversationId: string }
  /** Empty if the message is only attachments. */
  readonly text: string
  readonly lineId: string | null
  readonly attachments?: readonly SendAttachment[] | undefined
  readonly service?: WantedService | undefined
  readonly replyTo?: api.SendRequest['reply_to']
  readonly idempotencyKey: string | null
  /** The caller's key; null for the owner. */
  readonly key: KeyCaller | null
  readonly limits: LineLimits
  readonly conversationIds: ConversationLimit
  /** Longest wait for the line before the answer, in milliseconds; null for the configured time. */
  readonly waitMs: number | null
  readonly source: MessageSource
  /** Set if an AI agent sends it. */
  readonly agent?: AgentSend | undefined
  /** The dashboard member who wrote it. */
  readonly memberId?: MemberId | undefined
  /** The earliest time to send it. */
  readonly sendAt?: Timestamp | undefined
  /** Sends it even in the line's quiet hours. */
  readonly isUrgent?: boolean | undefined
  /** True for an alert, which may go to a new contact although its line's limit is used up. */
  readonly isAlert?: boolean | undefined
  /** A person confirmed sending although the recipient has opted out. */
  readonly isConfirmed?: boolean | undefined
  /** The id of a failed message of the same conversation that a person sends again with it. */
  readonly resends?: string | undefined
  /** Called in the transaction that accepts the message: makes the webhook for its events. */
  readonly callback?: ((tx: Tx) => MessageCallback) | undefined
}

/** An alert is the owner's own message, so no rule of a key holds it, and quiet hours of its line don't either. */
export const ALERT_SEND = {
  lineId: null,
  key: null,
  conversationIds: null,
  waitMs: 0,
  source: 'cli',
  isUrgent: true,
  isAlert: true,
} as const

export type Target = {
  readonly recipient:
    | Recipient
    /** `handle` is the device's identifier of the group. */
    | { readonly kind: 'group'; readonly handle: Handle; readonly conversationId: ConversationId }
  readonly lineId: string | null
  readonly lines: LineLimit
  readonly extras: MessageExtras | null
}

/** Each device's answer: true if it knows the recipient. Lines that couldn't be asked are missing. */
export type Histories = ReadonlyMap<LineId, History>

/** More sends to one handle in a minute look like a loop of two programs. */
export const SENDS_PER_MINUTE_MAX = 30

export function extrasOf(request: SendRequest): MessageExtras | null {
  const { to, lineId, limits, attachments, service, sendAt } = request
  const { isUrgent, isAlert, isConfirmed, memberId } = request
  const { lineIds, siteIds } = lineId === null && typeof to === 'string' ? limits : ALL_LINES
  const extras: MessageExtras = {
    lineIds: lineIds ?? undefined,
    siteIds: siteIds ?? undefined,
    attachmentCount: attachments?.length,
    wantedService: service,
    sendAt,
    isUrgent: isUrgent || undefined,
    isAlert: isAlert || undefined,
    isConfirmed: isConfirmed || undefined,
    quietHours: request.key?.permissions.rules.quietHours ?? undefined,
    memberId,
    ...agentExtras(request),
  }
  return Object.values(extras).every((value) => value === undefined) ? null : extras
}

function agentExtras({ agent, conversationIds }: SendRequest): MessageExtras {
  if (agent === undefined && conversationIds === null) return {}
  return { isOfAgent: true, answers: agent?.answers ?? undefined }
}

/** `lines` are the lines that the caller may use. */
export function checkedRecipient(db: Db, to: string, lines: LineLimit): Recipient {
  const recipient = parseRecipient(to)
  if (recipient !== null) return recipient
  throw invalidRecipient(
    'to must be a phone number in international format, such as +12025550123, or an email ' +
      'address with which the line has a conversation.',
    handleMeant(db, to, lines),
  )
}

/** A person as the recipient. A caller limited to conversations sends by the line of its own conversation with them. */
export function personTarget(
  db: Db,
  to: string,
  limits: {
    readonly lineId: string | null
    readonly lines: LineLimit
    readonly within: ConversationLimit
  },
): Pick<Target, 'recipient' | 'lineId' | 'lines'> {
  const { lineId, lines, within } = limits
  const recipient = checkedRecipient(db, to, lines)
  const [own] = (within ?? []).flatMap((id) => {
    const found = getConversation(db, id)
    const isIt = found?.group === null && found.handle === recipient.handle
    return isIt && (lineId ?? found.lineId) === found.lineId ? found : []
  })
  return { recipient, lineId: own?.lineId ?? lineId, lines }
}

/** Throws if the message would be in a conversation that its caller isn't limited to. */
export function requireInLimit(
  db: Db,
  { recipient, lineId }: Target,
  conversationIds: ConversationLimit,
): void {
  if (conversationIds === null) return
  const line = parseId('line', lineId ?? '')
  const id =
    recipient.kind === 'group'
      ? recipient.conversationId
      : line && findConversation(db, { lineId: line, handle: recipient.handle })
  const viewer = { conversationIds, caller: 'owner' } as const
  if (id !== null && isInConversations(db, viewer, id)) return
  const message = 'This key writes only in its conversations.'
  const details = { conversation_ids: conversationIds }
  throw new RelayError('recipient_not_allowed', message, { details })
}

/** The recipient and line of an existing conversation. Throws if there is none. */
export function conversationTarget(db: Db, id: string): Pick<Target, 'recipient' | 'lineId'> {
  const found = requireConversation(db, id)
  const { handle, lineId, group } = found
  if (group === null) return { recipient: checkedRecipient(db, handle, null), lineId }
  if (group.state === 'left') {
    throw notSupported('groups', 'The line is no member of this group any more.')
  }
  return { recipient: { kind: 'group', handle, conversationId: found.movedTo ?? found.id }, lineId }
}

export function requireConversation(db: Db, id: string): Conversation {
  const found = parseId('conv', id) === null ? null : getConversation(db, id)
  if (found !== null) return found
  throw new RelayError('not_found', 'There is no conversation with this id.')
}

/** The recipient's opt-out if it is enforced; not in groups, nor for a person who was warned. */
export function optOutOf(
  settings: Settings,
  db: Db,
  message: Pick<Message, 'handle' | 'lineId' | 'isGroup' | 'extras'>,
): ReturnType<typeof optOutAgainst> {
  const { handle, lineId, isGroup, extras } = message
  if (isGroup || extras?.isConfirmed === true || settings.get('opt_out') !== 'enforce') return null
  return optOutAgainst(db, handle, lineId)
}

/**
 * Throws `recipient_opted_out` if the recipient opted out and that is enforced. Acceptance calls it for the chosen
 * line; the point of no return checks again with `optOutOf`.
 */
export function requireWanted(
  settings: Settings,
  db: Db,
  { recipient: { handle, kind }, extras }: Target,
  lineId: LineId,
): void {
  const optOut = optOutOf(settings, db, { handle, lineId, isGroup: kind === 'group', extras })
  if (optOut === null) return
  const details = { phone_line_id: optOut.lineId, opted_out_at: isoTime(optOut.createdAt) }
  const message = 'The recipient has opted out: nothing is sent to them until they text START.'
  throw new RelayError(OPTED_OUT, message, { details })
}

export function limitReached(
  days: Days,
  db: Db,
  line: Line,
  { now, at = now }: { readonly now: Timestamp; readonly at?: Timestamp },
): RelayError {
  const { reserved, spent } = contactUsage(db, line.id, days.of(at, line.id))
  const resetsAt = timestamp(days.endOf(at, line.id))
  const day = days.of(at, line.id) === days.of(now, line.id) ? 'today' : 'that day'
  return new RelayError(
    'rate_limit_exceeded',
    `The line has reached its limit of ${line.dailyContactLimit} new contacts for ${day}.`,
    {
      details: {
        limit: 'daily_contacts',
        phone_line_id: line.id,
        daily_limit: line.dailyContactLimit,
        used: reserved + spent,
        resets_at: isoTime(resetsAt),
      },
      retryAfterSeconds: Math.ceil((resetsAt - now) / 1_000),
    },
  )
}

/** Apple silently drops files that are the first message from an unknown sender. */
export function requireText(
  db: Db,
  { line, isReal }: LineSnapshot,
  { text, extras }: Pick<Message, 'text' | 'extras'>,
  party: { readonly handle: Handle; readonly history: History },
): void {
  if (!isReal || text !== '' || extras === null) return
  const { knownAt, spentDay, queued } = readContact(db, line.id, party.handle)
  const isNew = party.history === false && knownAt === null && spentDay === null && queued === 0
  if (!isNew) return
  throw new RelayError(
    'attachment_needs_text',
    'The first message to a new contact needs a text beside its attachments.',
    { details: { issues: [{ path: 'text', message: 'is required for a new contact' }] } },
  )
}

/** Stops two programs on a real line that would answer each other forever. */
export function requireNoLoop(
  tx: Tx,
  { line, isReal }: LineSnapshot,
  party: {
    readonly recipient: Target['recipient']
    readonly now: Timestamp
    readonly practiceKinds: readonly string[]
  },
): void {
  const { recipient, now, practiceKinds } = party
  if (!isReal) return
  const since = timestamp(now - MINUTE_MS + 1)
  const { count, oldest } =
    recipient.kind === 'group'
      ? sendsInSince(tx, recipient.conversationId, since)
      : sendsToSince(tx, recipient.handle, { since, practiceKinds })
  if (count < SENDS_PER_MINUTE_MAX) return
  throw new LoopError(line, Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1_000)))
}

export class LoopError extends RelayError {
  readonly line: Line

  constructor(line: Line, retryAfterSeconds: number) {
    super(
      'rate_limit_exceeded',
      `More than ${SENDS_PER_MINUTE_MAX} messages to this recipient within a minute look like a loop.`,
      { details: { limit: 'per_contact_minute', phone_line_id: line.id }, retryAfterSeconds },
    )
    this.line = line
  }
}

export function notSupported(capability: Need, message: string): RelayError {
  return new RelayError('not_supported', message, { details: { capability } })
}

/** A real line never sends to the relay's own lines or to the sender of test events. */
export function requireForeign(lines: readonly LineSnapshot[], handle: Handle): void {
  if (handle === TEST_HANDLE) {
    throw invalidRecipient('to is the number that test events come from: nobody has it.')
  }
  const isOurs = lines.some(({ line }) => isSamePerson(line.number, handle, null))
  if (isOurs) throw invalidRecipient("to is one of the relay's own phone lines.")
}

export function invalidRecipient(message: string, suggestion?: Handle): RelayError {
  const said = suggestion === undefined ? message : withSuggestion(message, suggestion)
  const details = { issues: [{ path: 'to', message, suggestion }], suggestion }
  return new RelayError('invalid_recipient', said, { details })
}
