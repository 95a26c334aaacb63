// How webhooks and their deliveries are told.

import type { IconName } from '../components/drawings.ts'
import type { Tone } from '../components/tone.ts'
import type { Failure } from '../request.ts'
import type { Webhook } from '../resources.ts'
import { relativeTime } from '../time-words.ts'
import type { Attempt, Delivery } from './webhooks-resources.ts'

export type StateWords = { readonly text: string; readonly tone: Tone; readonly icon: IconName }

/** Each event with the moment at which it comes. */
export const EVENTS: readonly (readonly [name: string, words: string])[] = [
  ['message.received', 'Somebody wrote to one of your lines.'],
  ['message.sent', 'A message left through the relay.'],
  ['message.delivered', "It reached the recipient's device."],
  ['message.read', 'The recipient read it.'],
  ['message.failed', 'It did not go out, or nobody can say whether it did.'],
]

const MENDED = 'Events are kept for 30 days: mend it, then switch the webhook on again.'

const DISABLED: Readonly<Record<string, string>> = {
  gone: `The receiver said twice that it is gone for good (410). ${MENDED}`,
  failing: `The receiver took nothing for five days. ${MENDED}`,
  secret_unreadable:
    'The file secret.key is not the one that sealed its signing secret, and nothing goes out ' +
    'unsigned: put the old file back and switch the webhook on, or make a new secret.',
}

export function webhookState(
  { is_active, disabled_reason }: Webhook,
  isFailing: boolean,
): StateWords {
  if (disabled_reason !== null) return { text: 'Stopped', tone: 'bad', icon: 'cross' }
  if (!is_active) return { text: 'Paused', tone: 'plain', icon: 'pause' }
  if (isFailing) return { text: 'Failing', tone: 'warn', icon: 'warning' }
  return { text: 'Active', tone: 'ok', icon: 'check' }
}

/** Why the relay stopped delivering, and what is to be done. */
export function disabledWords(reason: string): string {
  return DISABLED[reason] ?? `The relay stopped delivering (${reason}).`
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

export function isSuccess({ status_code }: Pick<Attempt, 'status_code'>): boolean {
  return status_code !== null && status_code >= 200 && status_code < 300
}

const TRIGGERS: Readonly<Record<string, string>> = {
  scheduled: 'by the schedule',
  probe: 'to see whether the receiver is back',
  manual: 'because you asked',
}

export function triggerWords({ trigger }: Attempt): string {
  return TRIGGERS[trigger] ?? trigger
}

/** "84 ms", "1.2 s". */
export function durationWords({ duration_ms }: Attempt): string {
  if (duration_ms < 1_000) return `${duration_ms} ms`
  return `${(duration_ms / 1_000).toFixed(1)} s`
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
