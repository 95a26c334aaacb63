// What several pages read: `useLive(linesSource(api))`.

import { withQuery, type Api, type List } from './api.ts'
import type { Conversation, HealthFinding, PhoneLine, Webhook } from './resources.ts'
import type { Source } from './store.ts'

/** A relay has a handful of lines and webhooks: all of them are in the longest page. */
const ALL = '?limit=200'

export function linesSource(api: Api): Source<List<PhoneLine>> {
  return {
    key: 'phone-lines',
    load: (signal) => api.get(`phone-lines${ALL}`, signal),
    on: ['line'],
  }
}

export function webhooksSource(api: Api): Source<List<Webhook>> {
  return {
    key: 'webhooks',
    load: (signal) => api.get(`webhooks${ALL}`, signal),
    on: ['webhook'],
  }
}

export function healthSource(api: Api): Source<{ readonly data: readonly HealthFinding[] }> {
  return {
    key: 'health',
    load: (signal) => api.get('health', signal),
    on: ['health', 'line', 'webhook'],
  }
}

/** One for each line that knows the handle; none where it is empty. */
export function conversationsWith(api: Api, handle: string): Source<List<Conversation>> {
  return {
    key: `conversations with ${handle}`,
    load: async (signal) =>
      handle === '' ? NOBODY : api.get(withQuery('conversations', { handle, limit: 200 }), signal),
    on: ['conversation'],
  }
}

const NOBODY = { ok: true, value: { data: [], has_more: false, next_cursor: null } } as const
