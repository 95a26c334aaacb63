import type { Handle } from '../../../../domain/handle.ts'
import type { MessageId, Timestamp } from '../../../../domain/ids.ts'
import type { Settlement } from '../../../driver.ts'
import type { UiService } from './ui-words.ts'

/** A bubble that the core does not know: inbound, or typed on the phone. */
export type BubbleMessage = {
  readonly guid: string
  readonly handle: Handle
  /** Empty for an attachment. */
  readonly text: string
  /** To the minute. */
  readonly at: Timestamp
  readonly isFromMe: boolean
  readonly service: UiService
}

export type UiReceipt = {
  readonly guid: string
  readonly kind: 'delivered' | 'read' | 'failed'
  readonly at: Timestamp
  readonly reason: string | null
}

/**
 * Hears what is read off the screen. Each resolves when it is durable together with what the memory holds
 * at that moment, and rejects where it could not be: then the same comes again.
 */
export type UiListener = {
  onMessage(message: BubbleMessage): Promise<void>
  onReceipt(receipt: UiReceipt): Promise<void>
  onSettled(messageId: MessageId, outcome: Settlement): Promise<void>
  /** Nothing to tell but the memory itself. */
  onMemory(): Promise<void>
}
