import { createRedelivery } from './deliveries.ts'
import { DeliveryLoop, type DeliveryTools } from './loop.ts'
import { createPublish, EventFeed, Subscribers } from './publish.ts'
import { createReplay } from './replay.ts'
import { createSubscriptions, type SubscriptionTools } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'
import { TestInbox, type InboxTools } from './test-inbox.ts'

type Tools = Omit<DeliveryTools, 'subscribers'> &
  Pick<SubscriptionTools, 'audit'> &
  InboxTools & { readonly rules: TargetRules }

export function createWebhooks(runtime: Tools) {
  const feed = new EventFeed()
  const tools = { ...runtime, subscribers: new Subscribers(runtime.db), feed }
  const loop = new DeliveryLoop(tools)
  return {
    feed,
    loop,
    publish: createPublish(tools),
    actions: {
      inbox: new TestInbox(tools),
      ...createSubscriptions(tools),
      ...createRedelivery(tools),
      ...createReplay({ ...tools, inFlight: (id) => loop.inFlight(id) }),
    },
  }
}
