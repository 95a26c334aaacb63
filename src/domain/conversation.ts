import type { Handle } from './handle.ts'
import type { ConversationId, LineId, Timestamp } from './ids.ts'
import type { Message } from './message.ts'

/** All messages of one line with one handle. */
export type Conversation = {
  readonly id: ConversationId
  /** Set where its messages went to another line: all else is then of the conversation with this id. */
  readonly movedTo: ConversationId | null
  readonly lineId: LineId
  readonly phoneNumber: string
  readonly handle: Handle
  readonly service: string
  readonly messageCount: number
  readonly lastMessage: Message | null
  /** True while a person answers it, and programs should not. */
  readonly isAutomationPaused: boolean
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}
