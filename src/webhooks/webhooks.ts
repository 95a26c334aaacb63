import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { pendingDeliveries } from '../storage/delivery-queue.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import type { Clock } from '../system/clock.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Seal } from '../system/seal.ts'
import type { Signal } from '../system/signal.ts'
import { createAccounts } from './accounts.ts'
import { createAttempts } from './attempt.ts'
import { createCallbacks, createRegistrations } from './callbacks.ts'
import { createRedelivery } from './deliveries.ts'
import { EventLog } from './event-log.ts'
import { DeliveryLoop, WebhookQueues } from './loop.ts'
import type { DownloadUrl } from './payload.ts'
import type { Post } from './post.ts'
import { createPublish, DeliverySignals, Subscribers } from './publish.ts'
import { createReplay } from './replay.ts'
import { createReplies, type SendReply } from './replies.ts'
import { createSecrets } from './secrets.ts'
import { createSubscriptions } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'
import { TestInbox } from './test-inbox.ts'

export function createWebhooks(
  core: Core,
  given: {
    readonly post: Post
    readonly rules: TargetRules
    readonly seal: Seal
    readonly metrics: Metrics
    readonly disk: { readonly isLow: boolean }
    readonly signal: Signal
    readonly scheduleMs: readonly number[]
    readonly downloadUrl: DownloadUrl
    /** The relay's own address on this machine. */
    readonly origin: () => string
    /** The relay's address for its callers. */
    readonly serverUrl: () => string
    readonly sendReply: SendReply
    /** Set in `hookline fake`: the secret of every new webhook, and the clock of callers that wait for events. */
    readonly fake?: { readonly webhookSecret: Uint8Array; readonly callerClock: Clock } | undefined
  },
) {
  const { post, rules, seal, metrics, disk, scheduleMs, downloadUrl, origin, serverUrl } = given
  const { webhookSecret: secret, callerClock: clock } = given.fake ?? {}
  const signals = new DeliverySignals(core, given.signal)
  const subscribers = new Subscribers(core, signals)
  const queues = new WebhookQueues(core, { seal, signals, subscribers })
  const attempt = createAttempts(core, {
    post,
    metrics,
    scheduleMs,
    downloadUrl,
    serverUrl,
    accountOf: createAccounts(core, { seal }),
    sendReplies: createReplies(core, { send: given.sendReply }),
  })
  metrics.onCollect(() => observeBacklog(core, metrics))
  return {
    eventLog: new EventLog(core, { signals, clock }),
    loop: new DeliveryLoop(core, { queues, attempt, signals, disk }),
    queues,
    subscribers,
    publish: createPublish(core, { subscribers, signals }),
    actions: {
      inbox: new TestInbox(core, { seal, origin }),
      ...createSubscriptions(core, { seal, rules, subscribers, queues, secret }),
      ...createSecrets(core, { seal, subscribers }),
      ...createCallbacks(core, { seal, rules, subscribers }),
      ...createRegistrations(core, { seal, rules, subscribers }),
      ...createRedelivery(core, { signals, scheduleMs, downloadUrl, serverUrl }),
      ...createReplay(core, { signals, queues }),
    },
  }
}

function observeBacklog({ db, clock }: Core, metrics: Metrics): void {
  const backlogs = listWebhooks(db, WEBHOOKS_MAX, null).map(({ seq }) => pendingDeliveries(db, seq))
  const pending = backlogs.reduce((sum, { count }) => sum + count, 0)
  const oldest = Math.min(...backlogs.map(({ oldest }) => oldest ?? clock.now()), clock.now())
  metrics.set('hookline_webhook_deliveries_pending', 'Deliveries that wait to arrive.', pending)
  metrics.set(
    'hookline_webhook_oldest_pending_seconds',
    'How long the oldest pending delivery has waited.',
    (clock.now() - oldest) / 1_000,
  )
}
