import type { Handle } from './handle.ts'
import type { ConversationId, LineId, Timestamp } from './ids.ts'
import type { Message } from './message.ts'

/** Conversations with one person, with several, or both. */
export const CONVERSATION_TYPES = ['direct', 'group', 'all'] as const
export type ConversationType = (typeof CONVERSATION_TYPES)[number]

export const GROUP_STATES = ['active', 'left', 'unreachable'] as const

/** A conversation of several people. */
export type Group = {
  /** The device's guid of its chat, exactly as the device spells it now. */
  readonly chatGuid: string
  readonly name: string | null
  /** Without the owner. */
  readonly participants: readonly Handle[]
  /** `unreachable` where the device does not find it any more; `left` where the owner is no member. */
  readonly state: (typeof GROUP_STATES)[number]
}

export const GROUP_CHANGES = [
  'participant_added',
  'participant_removed',
  'renamed',
  'icon_changed',
  'left',
] as const
export type GroupChange = (typeof GROUP_CHANGES)[number]

/** All messages of one line with one handle. */
export type Conversation = {
  readonly id: ConversationId
  /** Set where its messages went to another line: all else is then of the conversation with this id. */
  readonly movedTo: ConversationId | null
  readonly lineId: LineId
  readonly phoneNumber: string
  /** The counterpart; for a group, the device's identifier of it. */
  readonly handle: Handle
  /** Null for a conversation with one person. */
  readonly group: Group | null
  readonly service: string
  readonly messageCount: number
  readonly lastMessage: Message | null
  /** True while a person answers it, and programs should not. */
  readonly isAutomationPaused: boolean
  /** Received messages that nobody has read in the dashboard or marked as read. */
  readonly unreadCount: number
  /** True where the last message was received. */
  readonly isUnanswered: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}
