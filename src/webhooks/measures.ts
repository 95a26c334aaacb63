import type { Db } from '../storage/database.ts'
import { pendingDeliveries } from '../storage/delivery-queue.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import type { Metrics } from '../system/metrics.ts'
import { isSuccess, type Tried } from './attempt.ts'
import { WEBHOOKS_MAX } from './subscribers.ts'

export function observeAttempt(metrics: Metrics, tried: Tried): void {
  const outcome = isSuccess(tried.result) ? 'succeeded' : 'failed'
  countAttempt(metrics, outcome)
  metrics.observe(
    'hookline_webhook_attempt_seconds',
    'How long attempts to deliver to webhooks took.',
    tried.durationMs / 1_000,
  )
}

/** `unreachable`: the box itself was cut off, which is no attempt of the delivery. */
export function countAttempt(
  metrics: Metrics,
  outcome: 'succeeded' | 'failed' | 'unreachable',
): void {
  metrics.count('hookline_webhook_attempts_total', 'Attempts to deliver to webhooks.', { outcome })
}

/** Sets how much is pending, and how old the oldest of it is. */
export function observeBacklog({
  db,
  clock,
  metrics,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly metrics: Metrics
}): void {
  const backlogs = listWebhooks(db, WEBHOOKS_MAX, null).map(({ id }) => pendingDeliveries(db, id))
  const pending = backlogs.reduce((sum, { count }) => sum + count, 0)
  const oldest = Math.min(...backlogs.map(({ oldest }) => oldest ?? clock.now()), clock.now())
  metrics.set('hookline_webhook_deliveries_pending', 'Deliveries that wait to arrive.', pending)
  metrics.set(
    'hookline_webhook_oldest_pending_seconds',
    'How long the oldest pending delivery has waited.',
    (clock.now() - oldest) / 1_000,
  )
}
