// How it went lately, out of the newest deliveries of a webhook.

import type { Api, List } from '../api.ts'
import type { Answer } from '../request.ts'
import type { Source } from '../store.ts'
import type { Delivery, SeenDelivery } from './webhooks-resources.ts'

export type Recent = {
  readonly deliveries: List<Delivery>
  /** The newest one that was tried, where that failed so far. */
  readonly failing: SeenDelivery | null
}

const LOOKED_AT = 50
/** While a receiver fails the newest ones wait untried, behind those that it fails at. */
const LOOKED_AT_FOR_TRIED = 200
const DAY_MS = 86_400_000

export function recentSource(api: Api, webhookId: string): Source<Recent> {
  return {
    key: `recent deliveries of ${webhookId}`,
    load: (signal) => loadRecent(api, webhookId, signal),
    on: ['delivery'],
  }
}

async function loadRecent(
  api: Api,
  webhookId: string,
  signal: AbortSignal,
): Promise<Answer<Recent>> {
  const read = (limit: number) =>
    api.get<List<Delivery>>(`webhooks/${webhookId}/deliveries?limit=${limit}`, signal)
  const list = await read(LOOKED_AT)
  if (!list.ok) return list
  const deliveries = list.value
  const isDeeper = deliveries.has_more && newestTried(deliveries) === undefined
  const deep = isDeeper ? await read(LOOKED_AT_FOR_TRIED) : list
  const tried = deep.ok ? newestTried(deep.value) : undefined
  if (tried === undefined || tried.status === 'succeeded') {
    return { ok: true, value: { deliveries, failing: null } }
  }
  const seen = await api.get<SeenDelivery>(`webhook-deliveries/${tried.id}`, signal)
  return { ok: true, value: { deliveries, failing: seen.ok ? seen.value : null } }
}

function newestTried({ data }: List<Delivery>): Delivery | undefined {
  return data.find(({ attempt_count }) => attempt_count > 0)
}

export type DaySummary = {
  /** "41 of 43 delivered": of the last 24 hours, or of the newest 50 where those are less. */
  readonly words: string
  readonly waiting: number
}

export function daySummary({ data, has_more }: List<Delivery>, now: number): DaySummary {
  const ofDay = data.filter(({ created_at }) => Date.parse(created_at) >= now - DAY_MS)
  if (data.length === 0) return { words: 'Nothing was sent yet', waiting: 0 }
  if (ofDay.length === 0) return { words: 'Nothing in 24 hours', waiting: 0 }
  const count = (status: string) => ofDay.filter((one) => one.status === status).length
  const isCut = has_more && ofDay.length === data.length
  const all = isCut ? `the last ${ofDay.length}` : String(ofDay.length)
  return { words: `${count('succeeded')} of ${all} delivered`, waiting: count('pending') }
}
