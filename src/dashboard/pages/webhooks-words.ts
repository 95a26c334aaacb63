// How webhooks and their deliveries are told.

import { grouped } from '../../domain/number-words.ts'
import type { StateWords } from '../components/tone.ts'
import type { Failure } from '../request.ts'
import type { Webhook } from '../resources.ts'
import { relativeTime } from '../time-words.ts'
import type { Delivery } from './webhooks-resources.ts'

/** Each event with the moment at which it comes. */
export const EVENTS: readonly (readonly [name: string, words: string])[] = [
  ['message.received', 'Somebody wrote to one of your lines.'],
  ['message.sent', 'A message left through the relay.'],
  ['message.delivered', "It reached the recipient's device."],
  ['message.read', 'The recipient read it.'],
  ['message.failed', 'It did not go out, or nobody can say whether it did.'],
]

export function webhookState({ is_active, disabled_reason, is_failing }: Webhook): StateWords {
  if (disabled_reason !== null) return { text: 'Stopped', tone: 'bad', icon: 'cross' }
  if (!is_active) return { text: 'Paused', tone: 'plain', icon: 'pause' }
  if (is_failing === true) return { text: 'Failing', tone: 'warn', icon: 'warning' }
  return { text: 'Active', tone: 'ok', icon: 'check' }
}

export function deliveryState({ status, attempt_count }: Delivery): StateWords {
  if (status === 'succeeded') return { text: 'Delivered', tone: 'ok', icon: 'check' }
  if (status === 'exhausted') return { text: 'Given up', tone: 'bad', icon: 'cross' }
  if (attempt_count > 0) return { text: 'Trying again', tone: 'warn', icon: 'again' }
  return { text: 'Waiting', tone: 'wait', icon: 'clock' }
}

export function isTest({ event_id }: Delivery): boolean {
  return event_id.startsWith('evt_test_')
}

/** When it is tried next; null where it is not. `now` is in milliseconds since 1970. */
export function nextTryWords(
  { status, next_attempt_at }: Delivery,
  { is_active }: Webhook,
  now: number,
): string | null {
  if (status !== 'pending') return null
  if (!is_active) return 'held until the webhook is active'
  if (next_attempt_at === null) return null
  if (Date.parse(next_attempt_at) <= now) return 'waits its turn'
  const words = relativeTime(next_attempt_at, now)
  return words === 'now' ? 'next try within a minute' : `next try ${words}`
}

/** A refusal of test, redeliver or replay, for beside the button. */
export function refusalWords({ code, message }: Failure): string {
  if (code !== 'webhook_inactive') return message
  return 'The webhook is not active, and nothing is sent to it: switch it on in its settings first.'
}

/** What is told of it in one line: a path or query may be long, and carry what is secret. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

/** The host and the path, without the query, which may be secret: for a question about this very one. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return pathname === '/' ? host : host + pathname
}

/** From how many on a number is typed before so many are sent. */
const CONFIRMED_FROM = 1_000

/** What is to be typed before that many are sent; null where nothing is. */
export function confirmation(count: number): string | null {
  return count < CONFIRMED_FROM ? null : String(count)
}

export function isConfirmed(typed: string, count: number): boolean {
  const wanted = confirmation(count)
  return wanted === null || typed.replaceAll(/[\s,.]/g, '') === wanted
}

/** "1 event", "30,020 events". */
export function countWords(count: number, what: string): string {
  const plural = what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}s`
  return `${grouped(count)} ${count === 1 ? what : plural}`
}
