import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import { createRedelivery } from './deliveries.ts'
import { EventLog } from './event-log.ts'
import { DeliveryLoop, type DeliveryTools } from './loop.ts'
import { createPublish, Subscribers } from './publish.ts'
import { createReplay } from './replay.ts'
import { createSubscriptions, type SubscriptionTools } from './subscriptions.ts'
import type { TargetRules } from './targets.ts'
import { TestInbox, type InboxTools } from './test-inbox.ts'

type Tools = Omit<DeliveryTools, 'subscribers'> &
  Pick<SubscriptionTools, 'audit'> &
  InboxTools & { readonly rules: TargetRules; readonly clock: ConfirmedClock }

export function createWebhooks(runtime: Tools) {
  const tools = { ...runtime, subscribers: new Subscribers(runtime.db) }
  const loop = new DeliveryLoop(tools)
  return {
    eventLog: new EventLog(runtime),
    loop,
    publish: createPublish(tools),
    actions: {
      inbox: new TestInbox(tools),
      ...createSubscriptions({ ...tools, isUnreachable: (id) => loop.isUnreachable(id) }),
      ...createRedelivery(tools),
      ...createReplay({ ...tools, inFlight: (id) => loop.inFlight(id) }),
    },
  }
}
