import type { DeliveryParts } from './delivery-loop.ts'
import { DeliveryLoop } from './delivery-loop.ts'
import { EventFeed } from './event-feed.ts'
import { createPublish } from './publish.ts'
import { createRedelivery } from './redelivery.ts'
import { createReplay } from './replay.ts'
import { Subscribers } from './subscribers.ts'
import { createSubscriptions, type SubscriptionParts } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'

type Parts = Omit<DeliveryParts, 'subscribers'> &
  Pick<SubscriptionParts, 'audit'> & { readonly rules: TargetRules }

/** The whole room: what the way out calls, what callers do with webhooks, and the loop. */
export function createWebhooks(parts: Parts) {
  const subscribers = new Subscribers(parts.db)
  const feed = new EventFeed()
  const room = { ...parts, subscribers, feed }
  const loop = new DeliveryLoop(room)
  return {
    feed,
    loop,
    publish: createPublish(room),
    actions: {
      ...createSubscriptions(room),
      ...createRedelivery(room),
      ...createReplay({ ...room, inFlight: (id) => loop.inFlight(id) }),
    },
  }
}
