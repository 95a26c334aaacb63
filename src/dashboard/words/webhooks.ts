import type { Failure } from '../api.ts'
import type { StateWords } from '../components/drawings.ts'
import type { Delivery, EventName, Webhook } from '../resources.ts'
import { relativeTime } from '../time-words.ts'

type EventGroup = 'Messages' | 'Reactions and changes' | 'Attachments' | 'Groups'

/** Every event with its meaning, and its group in the form of a webhook. */
export const EVENTS: Readonly<Record<EventName, readonly [group: EventGroup, words: string]>> = {
  'message.received': ['Messages', 'Someone sent a message to one of your lines.'],
  'message.sent': ['Messages', 'A message was sent through the relay.'],
  'message.delivered': ['Messages', "The message reached the recipient's device."],
  'message.read': ['Messages', 'The recipient read the message.'],
  'message.failed': ['Messages', "The message wasn't sent, or we couldn't confirm that it was."],
  'message.reaction': ['Reactions and changes', 'Someone added or removed a reaction.'],
  'message.edited': ['Reactions and changes', 'The sender edited a message.'],
  'message.unsent': ['Reactions and changes', 'The sender unsent a message.'],
  'attachment.available': ['Attachments', 'A file that was pending has arrived.'],
  'attachment.failed': ['Attachments', "The device couldn't get a file."],
  'group_message.received': ['Groups', 'Someone sent a message to a group.'],
  'group_message.sent': ['Groups', 'A message to a group was sent.'],
  'group_message.failed': [
    'Groups',
    "A message to a group wasn't sent, or we couldn't confirm that it was.",
  ],
  'group.updated': ['Groups', 'A group was renamed, or someone joined or left.'],
}

/** The names of a record are those of its type. */
const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]

/** The events by their group, in the order of the form. */
export const EVENT_GROUPS: ReadonlyMap<EventGroup, readonly EventName[]> = Map.groupBy(
  EVENT_NAMES,
  (name) => EVENTS[name][0],
)

/** The events of a new webhook; the others are for receivers that know them. */
export const USUAL_EVENTS = EVENT_GROUPS.get('Messages') ?? []

export function webhookState({ is_active, disabled_reason, is_failing }: Webhook): StateWords {
  if (disabled_reason !== null) return { text: 'Stopped', tone: 'bad', icon: 'cross' }
  if (!is_active) return { text: 'Paused', tone: 'plain', icon: 'pause' }
  if (is_failing === true) return { text: 'Failing', tone: 'warn', icon: 'warning' }
  return { text: 'Active', tone: 'ok', icon: 'check' }
}

export function deliveryState({ status, attempt_count }: Delivery): StateWords {
  if (status === 'succeeded') return { text: 'Delivered', tone: 'ok', icon: 'check' }
  if (status === 'exhausted') return { text: 'Failed', tone: 'bad', icon: 'cross' }
  if (attempt_count > 0) return { text: 'Retrying', tone: 'warn', icon: 'again' }
  return { text: 'Pending', tone: 'wait', icon: 'clock' }
}

export function isTest({ event_id }: Delivery): boolean {
  return event_id.startsWith('evt_test_')
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
  return "This webhook isn't active. Turn it on in its settings first."
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
