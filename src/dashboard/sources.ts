// What several parts of the page read.

import type { RelayState } from '../api/dashboard.ts'
import { withQuery } from './address.ts'
import type { List } from './api.ts'
import { useDashboard, useLive, useRead } from './dashboard.ts'
import type { Conversation, DayStats, Key, PhoneLine, Webhook } from './resources.ts'
import type { Read } from './store.ts'

/** A relay has a handful of lines, webhooks and keys: all of them are in the longest page. */
const ALL = '?limit=200'

export function useLines(): Read<List<PhoneLine>> {
  return useRead(`phone-lines${ALL}`, 'line')
}

export function useWebhooks(): Read<List<Webhook>> {
  return useRead(`webhooks${ALL}`, 'webhook')
}

export function useKeys(): Read<List<Key>> {
  return useRead(`keys${ALL}`, 'key')
}

export function useRelayState(): Read<RelayState> {
  return useRead('/dashboard/state', 'health', 'line', 'webhook')
}

/** The figures of the last UTC days, today's last. */
export function useStats(days: number): Read<Pick<List<DayStats>, 'data'>> {
  return useRead(`stats?days=${days}`, 'message')
}

/** One for each line that knows the handle; none where it is empty. */
export function useConversationsWith(handle: string): Read<List<Conversation>> {
  const { api } = useDashboard()
  return useLive({
    key: `conversations with ${handle}`,
    load: async (signal) =>
      handle === '' ? NOBODY : api.get(withQuery('conversations', { handle, limit: 200 }), signal),
    on: ['conversation'],
  })
}

const NOBODY = { ok: true, value: { data: [], has_more: false, next_cursor: null } } as const
