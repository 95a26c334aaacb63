import type { ContactHold } from './contact-limit.ts'
import type { Handle } from './handle.ts'
import {
  timestamp,
  type AttachmentId,
  type ConversationId,
  type KeyId,
  type LineId,
  type MessageId,
  type Timestamp,
} from './ids.ts'
import type { MessageExtras } from './message-extras.ts'
import type { EventName } from './webhook.ts'

export const MESSAGE_STATUSES = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'expired',
  'uncertain',
  'received',
] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

/** `deferred` is a queued message that isn't in its conversation's order yet; the API shows it as `queued`. */
export const STORED_STATUSES = [...MESSAGE_STATUSES, 'deferred'] as const
export type StoredStatus = (typeof STORED_STATUSES)[number]

export const DIRECTIONS = ['inbound', 'outbound'] as const
export type Direction = (typeof DIRECTIONS)[number]

export const MESSAGE_SOURCES = ['api', 'cli', 'dashboard', 'device'] as const
export type MessageSource = (typeof MESSAGE_SOURCES)[number]

/** The reason why a message is deferred. */
export const DEFERRAL_REASONS = ['approval', 'scheduled', 'quiet_hours'] as const
export type DeferralReason = (typeof DEFERRAL_REASONS)[number]

/** The reason why a queued message hasn't been sent: stored with it, or, the last three, found from its line. */
export const QUEUED_REASONS = [
  ...DEFERRAL_REASONS,
  'earlier_message',
  'same_text_uncertain',
  'daily_contact_limit',
  'retry',
  'pacing',
  'clock_jumped',
  'line_offline',
  'line_disabled',
  'storage_full',
] as const
export type QueuedReason = (typeof QUEUED_REASONS)[number]

/** Answers to a send: sent in time, still going on, or permanently refused by the line. */
export const ANSWER_KINDS = ['sent', 'accepted', 'send_failed'] as const
export type AnswerKind = (typeof ANSWER_KINDS)[number]

export type MessageError = { readonly code: string; readonly message: string }

/** Text has 1 to 20,000 code points. */
export const TEXT_LENGTH_MAX = 20_000
/** A message that is queued for longer expires. */
export const QUEUED_MS_MAX = 24 * 3_600_000
/** The longest time ahead that a message can be scheduled. */
export const SCHEDULED_MS_MAX = 90 * 24 * 3_600_000
/** The time for which a device may hold a message without a report before it becomes uncertain. */
export const HELD_MS_MAX = 24 * 3_600_000
/** The time for which a message stays `uncertain` before `message.failed` is published. */
export const UNCERTAIN_ANNOUNCED_AFTER_MS = 600_000

/** Makes lone surrogates and NUL visible as U+FFFD: SQLite does that to the former, and ends the text at the latter. */
export function mendedText(text: string): string {
  const wellFormed = text.toWellFormed().replaceAll('\0', '\uFFFD')
  if (wellFormed.length <= TEXT_LENGTH_MAX) return wellFormed
  const points = Array.from(wellFormed)
  return points.length <= TEXT_LENGTH_MAX ? wellFormed : points.slice(0, TEXT_LENGTH_MAX).join('')
}

/** The most by which the clock of a device may be ahead. */
const AHEAD_MS_MAX = 60_000

/** The date that a device gives, unless it is in the future: then `now`. */
export function deviceTime(at: Timestamp, now: Timestamp): Timestamp {
  return timestamp(at <= now + AHEAD_MS_MAX ? Math.max(0, at) : now)
}

/** A message in either direction. `seq` is the order in which the relay recorded messages. */
export type Message = {
  readonly seq: number
  readonly id: MessageId
  readonly lineId: LineId
  readonly conversationId: ConversationId
  readonly phoneNumber: string
  readonly handle: Handle
  readonly direction: Direction
  readonly status: StoredStatus
  readonly service: string
  readonly text: string
  readonly guid: string
  readonly platformGuid: string | null
  /** True if it is in a group: `handle` is then the sender, or the group for the owner's own messages. */
  readonly isGroup: boolean
  /** Null for a plain text without any of these. */
  readonly extras: MessageExtras | null
  readonly source: MessageSource
  readonly queuedReason: QueuedReason | null
  readonly error: MessageError | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
  readonly sentAt: Timestamp | null
  readonly deliveredAt: Timestamp | null
  readonly readAt: Timestamp | null
}

export type OutgoingMessage = {
  readonly id: MessageId
  readonly to: Handle
  readonly text: string
  readonly createdAt: Timestamp
  /** The guid that the device gave it, if it has one already. */
  readonly platformGuid: string | null
  /** Files, sent before the text in this order; undefined if there are none. */
  readonly attachments?: readonly OutgoingAttachment[] | undefined
  /** The only service to use; undefined if the device chooses. */
  readonly service?: 'iMessage' | 'SMS' | undefined
  /** The device's guid of the group to send to, exactly; undefined for one person. */
  readonly chatGuid?: string | undefined
}

/** A file to send. `path` is readable until the message is settled; the driver must not change the file. */
export type OutgoingAttachment = {
  readonly id: AttachmentId
  readonly path: string
  readonly filename: string
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  readonly sha256: string
}

export type Unsettled = { readonly message: OutgoingMessage; readonly note: string | null }

/** What a device reports of a message that it was handed, a failure too. */
export const RECEIPT_KINDS = ['sent', 'delivered', 'read', 'failed'] as const
export type ReceiptKind = (typeof RECEIPT_KINDS)[number]

/** The service that carries a message, as the device spells it: `iMessage`, `SMS`, `RCS`. */
export type Carried = {
  /** If the device doesn't report it, the message keeps its service, at first `iMessage`. */
  readonly service?: string | undefined
}

/**
 * A report of a device about a sent message. Any receipt, even of a step that was announced already, may come
 * with another service: Messages may fall back to SMS seconds after it has called a message sent.
 */
export type Receipt = Carried & {
  readonly guid: string
  readonly kind: ReceiptKind
  readonly at: Timestamp
  /** The reason why it failed, for `failed`; null otherwise. */
  readonly reason: string | null
}

/** A message after a report of its device. */
export type Progress = {
  readonly status: MessageStatus
  readonly sentAt: Timestamp | null
  readonly deliveredAt: Timestamp | null
  readonly readAt: Timestamp | null
  readonly error: MessageError | null
  /** Events to publish, in order: skipped steps first. */
  readonly events: readonly EventName[]
}

/** True if the message may still be sent. */
export function isOnTheWay({ status }: Pick<Message, 'status'>): boolean {
  return status === 'queued' || status === 'sending' || status === 'deferred'
}

type Dated = Pick<Message, 'status' | 'sentAt' | 'deliveredAt' | 'readAt'>

const STEPS = ['sent', 'delivered', 'read'] as const
const STEP_RANK: Readonly<Record<string, number>> = { sent: 1, delivered: 2, read: 3 }

/**
 * An outbound message after a receipt, or null if nothing changes. A status only rises. Skipped steps get the
 * same time, and their events come first. No step is dated before the previous one, because some devices
 * report only the minute. `failed` and `uncertain` give way to proof; `failed` never follows `delivered`;
 * nothing follows `expired`.
 */
export function progressBy(
  message: Dated,
  receipt: { readonly kind: ReceiptKind; readonly at: Timestamp; readonly reason: string | null },
  sentenceOf: SentenceOf,
): Progress | null {
  if (message.status === 'expired' || message.status === 'received') return null
  if (receipt.kind === 'failed') return failBy(message, receipt.reason, sentenceOf)

  const rank = STEP_RANK[message.status] ?? 0
  const reached = STEP_RANK[receipt.kind] ?? 0
  if (reached <= rank) return null
  const steps = STEPS.slice(rank, reached)
  const { sentAt, deliveredAt } = message
  const at = timestamp(Math.max(receipt.at, sentAt ?? 0, deliveredAt ?? 0))
  const dateOf = (step: (typeof STEPS)[number], known: Timestamp | null) =>
    steps.includes(step) ? at : known
  return {
    status: receipt.kind,
    // A message that was sent and then failed keeps its time.
    sentAt: message.sentAt ?? receipt.at,
    deliveredAt: dateOf('delivered', message.deliveredAt),
    readAt: dateOf('read', message.readAt),
    error: null,
    events: steps.map((step): EventName => `message.${step}`),
  }
}

/** A message after it failed, or null if nothing changes. */
export function failBy(
  message: Dated,
  reason: string | null,
  sentenceOf: SentenceOf,
): Progress | null {
  const isFinal = message.status === 'failed' || message.status === 'expired'
  if (isFinal || message.deliveredAt !== null || message.status === 'received') return null
  return {
    status: 'failed',
    sentAt: message.sentAt,
    deliveredAt: null,
    readAt: null,
    error: { code: reason ?? 'send_failed', message: sentenceOf(reason ?? 'send_failed') },
    events: ['message.failed'],
  }
}

/** Failures that don't depend on the kind of line. */
export const FAILURES = {
  send_failed: 'The device could not send the message.',
  line_refused: 'Every line that could take the message kept refusing it.',
  outcome_unknown: 'The message was handed to the device, but could not be confirmed as sent.',
  restored: 'The message comes from a backup and may have been sent since.',
  expired: 'The message waited for more than 24 hours and was not sent.',
  canceled: 'The message was canceled before it was sent.',
  denied: 'The message was not approved.',
  recipient_opted_out: 'The recipient wants no more messages.',
  automation_paused: 'A person answers this conversation.',
  not_on_imessage: 'The recipient is not on iMessage.',
  line_removed: 'The phone line of the message was deleted.',
  session_ended: 'The line went away while sending the message and never reported the result.',
  driver_error: 'The line failed while sending the message.',
  withdrawn:
    'The message was not sent. That was known only after it was announced as uncertain, so it is not resent automatically.',
  resolved_by_hand: 'The message was marked as failed by hand.',
  partly_sent: 'A part of the message was sent, and the rest was refused: see its attachments.',
  not_supported: 'The line cannot send this kind of message.',
  group_not_reachable: 'The device does not have this group any more.',
  attachment_missing: 'A file of the message is not in the data directory any more.',
} as const

/** Codes of messages that a caller canceled, denied or marked as failed: they need nobody's attention. */
export const ENDED_ON_PURPOSE = ['canceled', 'denied', 'resolved_by_hand'] as const

/** Returns the sentence for an error code, for `error.message`. */
export type SentenceOf = (code: string) => string

/** The sentences of the relay itself and of all kinds of line. */
export function sentencesOf(ofKinds: readonly Readonly<Record<string, string>>[]): SentenceOf {
  const sentences = new Map([FAILURES, ...ofKinds].flatMap((each) => Object.entries(each)))
  return (code) =>
    sentences.get(code) ?? `The device refused the message: ${code.replaceAll('_', ' ')}.`
}

export function hasAttachments({ extras }: Pick<Message, 'extras'>): boolean {
  return (extras?.attachmentCount ?? 0) > 0
}

/** An outbound message, with the fields that sending needs. */
export type Outbound = Message & {
  /** The API key that sent it, if any. */
  readonly keyId: KeyId | null
  /** True if the caller named the line. */
  readonly isPinned: boolean
  /** Earliest send time; the 24-hour expiry starts here. The time of its acceptance, `send_at` or approval. */
  readonly waitsFrom: Timestamp
  /** The next try of a queued message, the next decision on a deferred one, or the event of an uncertain one. */
  readonly dueAt: Timestamp | null
  /** The number of times that all lines have refused it, and the lines that refused it in this round. */
  readonly round: number
  readonly refusedBy: readonly LineId[]
  readonly contactHold: ContactHold
  /** The driver's opaque note at the point of no return, and the time of that point. */
  readonly note: string | null
  readonly passedAt: Timestamp | null
  /** Grows with every step of any message: the order of `updated_since`, and the proof that this is no old copy. */
  readonly revision: number
}
