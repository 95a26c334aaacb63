// Additions to a text between two: each is left out where there is none, so that
// a direct text message looks as it always did.

import type { Handle } from './handle.ts'
import type { KeyId, LineId, MemberId, MessageId, Timestamp } from './ids.ts'
import type { QuietHours } from './quiet-hours.ts'

/** The types of reactions, as the API spells them. */
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
  /** Place of the part that it is about, from 0. */
  readonly part: number
  readonly createdAt: Timestamp
}

export type ReplyTarget = {
  /** Null where the relay does not have the message. */
  readonly messageId: MessageId | null
  /** The device's guid of the message that is replied to. */
  readonly guid: string
  readonly part: number
}

/** A text that a message had, and the time from which it had it. */
export type Edit = { readonly text: string; readonly at: Timestamp }

/** Services that a caller may ask for. `auto` goes by evidence, and takes one try as SMS. */
export const WANTED_SERVICES = ['iMessage', 'SMS', 'auto'] as const
export type WantedService = (typeof WANTED_SERVICES)[number]

export const APPROVAL_STATES = ['pending', 'approved', 'denied', 'canceled', 'expired'] as const

/** The decision of a person on a message of a key that may not send by itself. */
export type Approval = {
  readonly state: (typeof APPROVAL_STATES)[number]
  readonly requestedBy: KeyId
  /** Null where nobody decided: it was canceled, or has expired. */
  readonly resolvedBy: KeyId | 'cli' | 'dashboard' | null
  readonly resolvedAt: Timestamp | null
  /** Reason of a denial. */
  readonly reason: string | null
  /** Text of the request, where it was approved with another one. */
  readonly originalText: string | null
  /** Of the key that wrote the other text. */
  readonly quietHours?: QuietHours | undefined
}

export type MessageExtras = {
  /** It was listed and announced to nobody: nobody has to read it, and it is the last only by its date. */
  readonly isHistory?: true | undefined
  /** Number of attachments; their rows say the rest. */
  readonly attachmentCount?: number | undefined
  /** The only lines that may send it: those of the key that named none. */
  readonly lineIds?: readonly LineId[] | undefined
  /** The service that the caller asked for. */
  readonly wantedService?: WantedService | undefined
  /** The time at which `auto` turned to SMS. */
  readonly downgradedAt?: Timestamp | undefined
  /** How the device spells the person, if not as the relay does. */
  readonly spelling?: Handle | undefined
  /** The sender of a group's message; left out for the owner's own. */
  readonly sender?: Handle | undefined
  readonly replyTo?: ReplyTarget | undefined
  /** The current ones, in the order in which they came. */
  readonly reactions?: readonly Reaction[] | undefined
  /** Earlier texts, oldest first. */
  readonly edits?: readonly Edit[] | undefined
  readonly unsentAt?: Timestamp | undefined
  /** The time for which it was scheduled. */
  readonly sendAt?: Timestamp | undefined
  /** It goes in the quiet hours of its line, too. */
  readonly isUrgent?: true | undefined
  /** A person sends it although the recipient has opted out. */
  readonly isConfirmed?: true | undefined
  /** Quiet hours of the key that sent it. */
  readonly quietHours?: QuietHours | undefined
  readonly approval?: Approval | undefined
  /** The member who wrote it in the dashboard. */
  readonly memberId?: MemberId | undefined
}

/** `guid` is that of the device's own row, so that a change counts once. */
export type ChangeRow = {
  readonly guid: string
  readonly at: Timestamp
  /** A change from before the relay was: it is recorded and never announced. */
  readonly isHistory: boolean
}

/** A change of one message, found by the device's guid of it. */
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
    /** `guid` is made of the message's and the time of the edit. */
    | { readonly kind: 'edited'; readonly text: string; readonly edits: readonly Edit[] }
    | { readonly kind: 'unsent' }
  )

type ReactionChange = Extract<MessageChange, { readonly kind: 'reaction' }>

/**
 * The current reactions after one more change. Each person has one for each part: a new one takes the
 * place of the last, and only the very one that is there can be taken back.
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

/** True for a row that says again what is known: iCloud writes one several times, with the same date. */
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
