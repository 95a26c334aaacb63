// What a message may have beyond a plain text. Each field is left out if the message doesn't have it.

import type { Handle } from './handle.ts'
import type { KeyId, LineId, MemberId, MessageId, SiteId, Timestamp, WebhookId } from './ids.ts'
import type { QuietHours } from './quiet-hours.ts'

/** Reaction types, as the API spells them. */
export const REACTION_TYPES = [
  'love',
  'like',
  'dislike',
  'laugh',
  'emphasize',
  'question',
  'emoji',
  'sticker',
] as const
export type ReactionType = (typeof REACTION_TYPES)[number]

export type Reaction = {
  readonly type: ReactionType
  /** The character of `emoji`; null for the other types. */
  readonly emoji: string | null
  readonly handle: Handle
  readonly isFromMe: boolean
  /** The message part that it is about, from 0. */
  readonly part: number
  readonly createdAt: Timestamp
}

export type ReplyTarget = {
  /** Null if the relay doesn't have the message. */
  readonly messageId: MessageId | null
  /** The device's guid of the message that is replied to. */
  readonly guid: string
  readonly part: number
}

/** A text that a message had, and since when. */
export type Edit = { readonly text: string; readonly at: Timestamp }

/** Services that a caller may ask for. `auto` chooses by earlier messages, and may retry once as SMS. */
export const WANTED_SERVICES = ['iMessage', 'SMS', 'auto'] as const
export type WantedService = (typeof WANTED_SERVICES)[number]

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'canceled', 'expired'] as const

/** A person's decision on a message of a key that needs approval. */
export type Approval = {
  readonly state: (typeof APPROVAL_STATES)[number]
  readonly requestedBy: KeyId
  /** Null if no person decided: it was canceled or expired. */
  readonly resolvedBy: KeyId | 'cli' | 'dashboard' | null
  readonly resolvedAt: Timestamp | null
  /** The reason why it was denied. */
  readonly reason: string | null
  /** The text of the request, if it was approved with another text. */
  readonly originalText: string | null
  /** Quiet hours of the key that wrote the other text. */
  readonly quietHours?: QuietHours | undefined
}

export type MessageExtras = {
  /** True for history: never announced or unread, and the conversation's last message only by its date. */
  readonly isHistory?: true | undefined
  /** The number of attachments. */
  readonly attachmentCount?: number | undefined
  /** Lines allowed by the API key, if the request named none. */
  readonly lineIds?: readonly LineId[] | undefined
  /** The sites that its caller is limited to, if the request named no line. */
  readonly siteIds?: readonly SiteId[] | undefined
  /** The service that the caller asked for. */
  readonly wantedService?: WantedService | undefined
  /** The time when an `auto` message fell back to SMS. */
  readonly downgradedAt?: Timestamp | undefined
  /** The device's spelling of the person, if it differs from the handle. */
  readonly spelling?: Handle | undefined
  /** The sender of a group message; not set for the owner's own. */
  readonly sender?: Handle | undefined
  readonly replyTo?: ReplyTarget | undefined
  /** The current reactions, in the order in which they came. */
  readonly reactions?: readonly Reaction[] | undefined
  /** Earlier texts, oldest first. */
  readonly edits?: readonly Edit[] | undefined
  readonly unsentAt?: Timestamp | undefined
  /** The time for which it was scheduled. */
  readonly sendAt?: Timestamp | undefined
  /** True if it is sent even in the quiet hours of its line. */
  readonly isUrgent?: true | undefined
  /** True for an alert to the owner. */
  readonly isAlert?: true | undefined
  /** True if a person sends it although the recipient has opted out. */
  readonly isConfirmed?: true | undefined
  /** Quiet hours of the key that sent it. */
  readonly quietHours?: QuietHours | undefined
  readonly approval?: Approval | undefined
  /** True for a message of an AI agent, which isn't sent while a person answers. */
  readonly isOfAgent?: true | undefined
  /** The message that an agent answers with it. */
  readonly answers?: MessageId | undefined
  /** The member who wrote it in the dashboard. */
  readonly memberId?: MemberId | undefined
  readonly callback?: MessageCallback | undefined
  /** The new message by which a person sent this one again. */
  readonly sentAgain?: Resend | undefined
}

export type Resend = {
  readonly messageId: MessageId
  readonly at: Timestamp
  readonly wantedService?: WantedService | undefined
}

/** The webhook that gets the events of one message. */
export type MessageCallback = {
  readonly webhookId: WebhookId
  /** With its question mark; empty if there is none. Clients put their own id of the message there. */
  readonly query: string
}

/** `guid` identifies the device's row for the change, so that each change counts once. */
export type ChangeRow = {
  readonly guid: string
  readonly at: Timestamp
  /** True if the change is from before the relay was set up: it is recorded but never announced. */
  readonly isHistory: boolean
}

/** A change of one message, which is found by the device's guid. */
export type MessageChange = ChangeRow & { readonly targetGuid: string } & (
    | {
        readonly kind: 'reaction'
        readonly action: 'added' | 'removed'
        readonly type: ReactionType
        readonly emoji: string | null
        readonly part: number
        readonly handle: Handle
        readonly isFromMe: boolean
      }
    /** `guid` is made from the message's guid and the time of the edit. */
    | { readonly kind: 'edited'; readonly text: string; readonly edits: readonly Edit[] }
    | { readonly kind: 'unsent' }
  )

type ReactionChange = Extract<MessageChange, { readonly kind: 'reaction' }>

/**
 * The reactions after one more change. Each person has at most one for each part: a new one replaces it, and a
 * removal must match it exactly.
 */
export function reactionsAfter(
  known: readonly Reaction[],
  { action, type, emoji, handle, isFromMe, part, at: createdAt }: ReactionChange,
): readonly Reaction[] {
  const isOfSame = isReactionOf({ part, isFromMe, handle })
  if (action === 'removed') {
    const isIt = (other: Reaction) =>
      isOfSame(other) && other.type === type && other.emoji === emoji
    return known.filter((other) => !isIt(other))
  }
  const others = known.filter((other) => !isOfSame(other))
  return [...others, { type, emoji, handle, isFromMe, part, createdAt }]
}

/** True if a change is known already: iCloud writes the same row several times, with the same date. */
export function isRepeated(known: readonly Reaction[], change: ReactionChange): boolean {
  const own = known.filter(isReactionOf(change))
  if (change.action === 'removed') return own.length === 0
  const { type, emoji, at } = change
  return own.some((other) => other.type === type && other.emoji === emoji && other.createdAt === at)
}

function isReactionOf({ part, isFromMe, handle }: Pick<Reaction, 'part' | 'isFromMe' | 'handle'>) {
  return (other: Reaction) =>
    other.part === part && other.isFromMe === isFromMe && (isFromMe || other.handle === handle)
}
