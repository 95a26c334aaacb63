import { withQuery, type Api, type List } from '../api.ts'
import type { FeedSource } from '../feed.ts'
import type { Answer } from '../request.ts'
import type { Delivery, SeenDelivery } from './webhooks-resources.ts'

/** Of one webhook, in the page; who looks for older ones filters. */
const DELIVERIES_MAX = 500

/**
 * The deliveries of a webhook, each with its attempts. The API lists them without: what is known of one
 * is kept, and read again only when it was tried again.
 */
export function deliverySource(
  api: Api,
  webhookId: string,
  status: string,
): FeedSource<SeenDelivery> {
  const known = new Map<string, SeenDelivery>()

  async function one(id: string, signal: AbortSignal): Promise<Answer<SeenDelivery>> {
    const answer = await api.get<SeenDelivery>(`webhook-deliveries/${id}`, signal)
    if (known.size > DELIVERIES_MAX) known.clear()
    if (answer.ok) known.set(id, answer.value)
    return answer
  }
  async function seen(delivery: Delivery, signal: AbortSignal): Promise<SeenDelivery> {
    const before = known.get(delivery.id) ?? { ...delivery, attempt_count: 0, attempts: [] }
    const { attempts } = before
    if (before.attempt_count === delivery.attempt_count) return { ...delivery, attempts }
    const answer = await one(delivery.id, signal)
    return answer.ok ? answer.value : { ...delivery, attempts }
  }
  return {
    async page(cursor, limit, signal) {
      const path = withQuery(`webhooks/${webhookId}/deliveries`, { status, cursor, limit })
      const list = await api.get<List<Delivery>>(path, signal)
      if (!list.ok) return list
      const data = await Promise.all(list.value.data.map((delivery) => seen(delivery, signal)))
      return { ok: true, value: { ...list.value, data } }
    },
    one,
    concerned: ({ what, id }) => (what === 'delivery' ? id : null),
    rises: () => false,
    countMax: DELIVERIES_MAX,
  }
}
