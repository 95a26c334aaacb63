// Sentences of deliveries, of the test inbox, and of sending again, and the words for a delivery's state.

import type { SeenDelivery } from '../../api/dashboard.ts'
import type { Delivery, Webhook } from '../../api/webhooks.ts'
import type { Failure } from '../api.ts'
import type { StateWords } from '../components/drawings.ts'
import { numberWords } from '../numbers.ts'
import { relativeTime } from '../time-words.ts'
import { countWords, grouped } from './common.ts'

export const INBOX = {
  lead: 'The newest 100 requests of the last 24 hours. They are kept in memory: a restart of the relay deletes them.',
  empty: 'Nothing has arrived yet',
  emptyHint: 'Send a test event, or a message through one of your lines.',
  list: 'Requests',
  verified: 'Signature verified',
  unverified: 'Signature not valid',
  noEvent: 'No event',
  bytes: (size: number) => `${grouped(size)} bytes`,
  headers: 'Headers',
  body: 'Body',
} as const

export const DELIVERIES = {
  title: 'Deliveries',
  filter: 'Filter deliveries',
  status: 'Status',
  statuses: { '': 'All', pending: 'Pending', succeeded: 'Delivered', exhausted: 'Failed' },
  event: 'Event',
  allEvents: 'All events',
  person: 'Number or email',
  message: 'Message ID',
  from: 'From',
  to: 'To',
  more: 'More filters',
  clear: 'Clear filters',
  none: 'No deliveries yet',
  sendTest: 'Send test event',
  noneHint: 'Events appear here as they are sent.',
  noMatch: 'No matching deliveries',
  noMatchHint: 'No delivery of the last 30 days fits these filters.',
  one: 'Delivery',
  elsewhere: 'This delivery belongs to another webhook.',
  test: 'Test',
  group: 'Group',
  noAnswer: 'No attempt yet',
  attempt: (made: number, of: number) => `Attempt ${grouped(made)} of ${grouped(of)}`,
  attempts: (count: number) => countWords(count, 'attempt'),
  retryNow: 'Retry now',
  sendingAgain: 'Sending again.',
  redeliver: 'Redeliver',
  created: 'Created',
  delivered: 'Delivered',
  failed: 'Failed',
  retry: 'Retry',
  eventId: 'Event ID (webhook-id header)',
  noAttempts: 'No attempts yet.',
  attemptList: 'Attempts',
  accepted: (status: number | null) => `Accepted (${status})`,
  response: 'Response',
  request: 'Request',
  headers: 'Headers',
  body: 'Body',
  sampleBody: (event: string) => `Test event: the body is a sample of ${event}.`,
  notKept: 'This event is no longer kept.',
  formatted: 'The body is formatted here, and sent on one line.',
  openConversation: 'Open conversation',
} as const

export const REPLAY = {
  retry: 'Retry failed deliveries',
  retryHint: 'Each failed delivery is retried, with its full schedule of attempts.',
  failedDelivery: 'failed delivery',
  past: 'Send past events',
  pastHint:
    "Sends events that this webhook missed or that failed. Delivered events aren't sent again.",
  askMissed: (url: string) =>
    `Send them to ${url} now? Events are kept for 30 days, so you can also choose "Send past events…" later.`,
  dontSend: "Don't send",
  open: (act: string) => `${act}…`,
  event: 'event',
  since: 'Since',
  sinceHint: 'In your local time. Events are kept for 30 days.',
  earlier: 'Include events from before this webhook was created',
  line: 'Line',
  allLines: 'All lines',
  continue: 'Continue',
  send: 'Send',
  sendCount: (words: string) => `Send ${words}`,
  sending: (words: string) => `Sending ${words}.`,
  nothing: 'Nothing to send.',
  willSend: (words: string, url: string) => `This will send ${words} to ${url}.`,
  typeToConfirm: (number: string) => `Type ${number} to confirm`,
  pending: (count: number) => `${countWords(count, 'past event')} pending`,
  sendingTo: (url: string) => `Sending to ${url}.`,
  progress: 'Past events sent',
  stop: 'Stop…',
  stopTitle: 'Stop sending these?',
  stopNow: 'Stop',
  stopHint: "Pending events won't be sent. Events already sent aren't affected.",
  stopped: (count: number) => `Stopped ${countWords(count, 'event')}.`,
} as const

export function deliveryState({ status, attempt_count }: Delivery): StateWords {
  if (status === 'succeeded') return { text: 'Delivered', tone: 'ok', icon: 'check' }
  if (status === 'exhausted') return { text: 'Failed', tone: 'bad', icon: 'cross' }
  if (attempt_count > 0) return { text: 'Retrying', tone: 'warn', icon: 'again' }
  return { text: 'Pending', tone: 'wait', icon: 'clock' }
}

export function isTest({ event_id }: Pick<Delivery, 'event_id'>): boolean {
  return event_id.startsWith('evt_test_')
}

/** The person, by the owner's name where there is one; a test has none. */
export function personWords({ person, event_id }: SeenDelivery): string {
  if (isTest({ event_id })) return DELIVERIES.test
  const number = person?.handle ? numberWords(person.handle) : null
  const known = person?.name ?? (person?.is_group === true ? DELIVERIES.group : number)
  return known ?? DELIVERIES.notKept
}

/** The time of the next attempt; null where there is none. `now` is in milliseconds since 1970. */
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

/** The reason why a test, redelivery or replay was refused, beside its button. */
export function refusalWords({ code, message }: Failure): string {
  if (code !== 'webhook_inactive') return message
  return "This webhook isn't active. Resume it first."
}

/** Host and path, without the query, which may contain a secret. */
export function hostAndPathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return pathname === '/' ? host : host + pathname
}

/** Sending this many events needs the number to be typed. */
const CONFIRMED_FROM = 1_000

/** The number to type before that many events are sent; null where none is. */
export function confirmation(count: number): string | null {
  return count < CONFIRMED_FROM ? null : String(count)
}

export function isConfirmed(typed: string, count: number): boolean {
  const wanted = confirmation(count)
  return wanted === null || typed.replaceAll(/[\s,.]/g, '') === wanted
}
