import type { MessageId } from '../../../domain/ids.ts'
import type { LineEvent } from '../../driver.ts'
import type { MessageRow } from './chat-db-rows.ts'
import type { Claim } from './own-messages.ts'
import type { StatusTracker } from './status-tracker.ts'

/** What the row of a message of ours tells; null where its sender tells it, or nothing is new. */
export function claimEvent(
  tracker: StatusTracker,
  claim: Claim,
  row: MessageRow,
  now: number,
): LineEvent | null {
  switch (claim.claim) {
    case 'found':
      if (claim.insteadOf !== null) tracker.forget(claim.insteadOf)
      return { type: 'settled', messageId: claim.messageId, outcome: tracker.settle(row, now) }
    case 'misrouted':
      return failed(claim.messageId, 'misrouted')
    case 'ill':
    case 'in_flight':
    case 'more':
      return null
  }
}

/** The end of a message whose own row says that it did not go. */
export function failed(messageId: MessageId, reason: string): LineEvent {
  return { type: 'settled', messageId, outcome: { outcome: 'not_sent', reason, blame: 'message' } }
}
