// Words for deliveries, their states, and sending them again.

import type { SeenDelivery } from '../../api/dashboard.ts'
import type { Delivery, Webhook } from '../../api/webhooks.ts'
import type { Failure } from '../api.ts'
import type { StateWords } from '../components/drawings.ts'
import { numberWords } from '../numbers.ts'
import { relativeTime } from '../time-words.ts'

export const DELIVERIES = {
  event: 'Event',
  sendingAgain: 'Sending again.',
  accepted: (status: number | null) => `Accepted (${status})`,
  notKept: 'This event is no longer kept.',
} as const

export const REPLAY = { retry: 'Retry failed deliveries', past: 'Send past events' } as const

export function deliveryState({ status, attempt_count }: Delivery): StateWords {
  if (status === 'succeeded') return { text: 'Delivered', tone: 'ok', icon: 'check' }
  if (status === 'exhausted') return { text: 'Failed', tone: 'bad', icon: 'cross' }
  if (attempt_count > 0) return { text: 'Retrying', tone: 'warn', icon: 'again' }
  return { text: 'Pending', tone: 'wait', icon: 'clock' }
}

export function isTest({ event_id }: Pick<Delivery, 'event_id'>): boolean {
  return event_id.startsWith('evt_test_')
}

/** The person's name in the contacts, or the number; a word for a group, a test, or an event that is gone. */
export function personWords({ person, event_id }: SeenDelivery): string {
  if (isTest({ event_id })) return 'Test'
  const number = person?.handle ? numberWords(person.handle) : null
  const known = person?.name ?? (person?.is_group === true ? 'Group' : number)
  return known ?? DELIVERIES.notKept
}

/** The next attempt; null if there is none. `now` is in milliseconds since 1970. */
export function nextTryWords(
  { status, next_attempt_at }: Delivery,
  { is_active }: Webhook,
  now: number,
): string | null {
  if (status !== 'pending') return null
  if (!is_active) return 'On hold until the webhook is active'
  if (next_attempt_at === null) return null
  if (Date.parse(next_attempt_at) <= now) return 'Queued: waiting for the endpoint to recover'
  const words = relativeTime(next_attempt_at, now)
  return words === 'now' ? 'Next attempt within a minute' : `Next attempt ${words}`
}

/** The reason why a test, redelivery or replay was refused. */
export function refusalWords({ code, message }: Failure): string {
  if (code !== 'webhook_inactive') return message
  return "This webhook isn't active. Resume it first."
}

/** Leaves out the query, which may contain a secret. */
export function hostAndPathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return pathname === '/' ? host : host + pathname
}

/** The number to type before sending `count` events; null if none is needed. */
export function confirmation(count: number): string | null {
  return count < 1_000 ? null : String(count)
}

export function isConfirmed(typed: string, count: number): boolean {
  const wanted = confirmation(count)
  return wanted === null || typed.replaceAll(/[\s,.]/g, '') === wanted
}
