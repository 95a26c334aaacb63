// Sentences of the views of webhooks and their deliveries, and the words for their states.

import { countWords, grouped } from '../../domain/number-words.ts'
import type { Failure } from '../api.ts'
import type { StateWords } from '../components/drawings.ts'
import { durationWords, shareWords } from '../figure-words.ts'
import { numberWords } from '../numbers.ts'
import type {
  Delivery,
  EventName,
  SeenDelivery,
  Webhook,
  WebhookDay,
  WebhookStrip,
} from '../resources.ts'
import { relativeTime } from '../time-words.ts'

export const WEBHOOKS = {
  title: 'Webhooks',
  lead: 'The relay sends events to these URLs.',
  noun: 'Webhook',
  whyMissing: 'It was deleted.',
  add: 'Add webhook',
  none: 'No webhooks yet',
  noneHint: 'Enter the URL that should receive events.',
  continue: 'Continue',
  added: 'Webhook added.',
  waiting: (count: number) => `${grouped(count)} pending`,
  allAttempts: 'Attempts of all webhooks, last 24 hours',
  attemptsOf: (name: string) => `Attempts of ${name}, last 24 hours`,
  delivered: (share: string) => `${share} delivered`,
  latency: (delivered: string, p50: string, p95: string) => `${delivered}, p50 ${p50}, p95 ${p95}`,
  within: (duration: string) => `≤ ${duration}`,
  over: '> 5 s',
  lastDay: 'Last 24 hours',
  attempts: 'Attempts',
  failures: 'Failures, 24 hours',
  failures7: 'Failures, 7 days',
  noFailures: 'None',
  causes: {
    http_4xx: '4xx answers',
    http_5xx: '5xx answers',
    http_other: 'Other answers',
    timeout: 'Timeouts',
    refused: 'Connection refused',
    reset: 'Connection closed',
    unreachable: 'Host unreachable',
    tls: 'TLS errors',
    dns: 'Name not found',
    other: 'Other errors',
  },
  cause: (words: string, count: number) => `${words}: ${grouped(count)}`,
  sections: 'Webhook sections',
  tabs: { deliveries: 'Deliveries', inbox: 'Test inbox', settings: 'Settings', test: 'Test' },
  openSettings: 'Open settings',
  isPaused: 'This webhook is paused',
  isPausedHint: "New events aren't queued for it, and pending ones are on hold.",
  isStopped: 'The relay stopped delivering events',
  viewDelivery: 'View delivery',
  queued: 'New events are queued meanwhile.',
  probe: (waiting: number, when: string) =>
    `While the endpoint fails, one delivery at a time checks if it is back (next: ${when}). Once it succeeds, ${waiting === 1 ? 'the pending delivery goes' : `all ${grouped(waiting)} pending deliveries go`} out.`,
  anyMoment: 'any moment now',
} as const

/** The form of a webhook, and its secret. */
export const WEBHOOK_FORM = {
  url: 'URL',
  urlExample: 'https://shop.example.com/hooks/messages',
  sentTo: (url: string) => `Events will be sent to ${url}`,
  overHttp:
    'Receives POST requests. With http, others can read events in transit: fine on this computer and your own network, otherwise use https.',
  overHttps: 'Receives POST requests. URLs on this computer and your own network work, too.',
  events: 'Events',
  chooseEvents: 'Choose at least one.',
  attachments: 'Attachments',
  links: 'Include download links',
  linksHint: 'Events have a link for each file that works for 7 days without an API key.',
  description: 'Description',
  descriptionExample: 'Booking system',
  settings: 'Events and URL',
  save: 'Save',
  saved: 'Saved.',
  status: 'Status',
  deliver: 'Deliver events',
  deliverHint: "When off, new events aren't queued, and pending ones are on hold.",
  resumed: 'Webhook resumed.',
  paused: 'Webhook paused.',
  secretTitle: 'Signing secret',
  secretHint: "Signs every event. If it's lost or someone else may know it, create a new one.",
  newSecret: 'New secret…',
  newSecretTitle: 'Create a new secret?',
  createSecret: 'Create secret',
  bothValid:
    'Both secrets are valid for 24 hours, so you can update your endpoint without losing events.',
  oldValid: 'The old secret stays valid for 24 hours.',
  saveSecret: 'Save your signing secret',
  onlyOnce: "You won't see the secret again.",
  secret: 'Secret',
  secretUse:
    'Your app uses it to verify that events come from this relay, following Standard Webhooks.',
  readGuide: 'Read the guide',
  deleteNoun: 'webhook',
  deleteConsequence: "Its pending events and its secret will be deleted. This can't be undone.",
  addedAt: 'Added',
  deleteHint: 'To stop events for a while, turn it off instead.',
} as const

/** Ways to see events without an endpoint. */
export const WEBHOOK_TEST = {
  title: 'Send a test event',
  sample: (event: string) =>
    `Sends a sample ${event} event immediately, even after failures. It is from +12025550100, and its ID starts with evt_test_.`,
  send: 'Send test event',
  noEndpoint: 'No endpoint yet?',
  useInbox: 'Use the test inbox',
  inboxHint: 'Part of this relay. Shows every event that arrives.',
  tools:
    'Tools such as n8n, Make and Zapier give you a webhook URL. To see events without one, use the test inbox, or print them in a terminal:',
  openTerminal:
    'Open a terminal on the computer that runs Hookline. On a Mac, that is the Terminal app.',
  paste:
    'Copy this, paste it there, and press Enter. If Python is missing, a Mac offers to install it.',
  receiver: 'Receiver',
  keepOpen: 'Keep that window open. The URL is',
  useUrl: 'Use this URL',
} as const

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
  noneHint: 'Events appear here as they are sent.',
  noMatch: 'No matching deliveries',
  noMatchHint: 'No delivery of the last 30 days fits these filters.',
  one: 'Delivery',
  elsewhere: 'This delivery belongs to another webhook.',
  test: 'Test',
  group: 'Group',
  noAnswer: 'No attempt yet',
  attempt: (made: number, of: number) => `Attempt ${made} of ${of}`,
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
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]

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

/** The share that was delivered, with the response times; empty without any attempt. */
export function figureWords({ cells, p50_ms, p95_ms }: WebhookStrip): string {
  const sum = (name: 'ok' | 'failed') => cells.reduce((all, cell) => all + cell[name], 0)
  const [ok, failed] = [sum('ok'), sum('failed')]
  if (ok + failed === 0) return ''
  const delivered = WEBHOOKS.delivered(shareWords(ok / (ok + failed)))
  const within = (ms: number | null) =>
    ms === null ? WEBHOOKS.over : WEBHOOKS.within(durationWords(ms))
  return ok === 0 ? delivered : WEBHOOKS.latency(delivered, within(p50_ms), within(p95_ms))
}

export function causesWords(causes: WebhookStrip['causes']): string {
  const words = causes.map(({ cause, count }) => WEBHOOKS.cause(WEBHOOKS.causes[cause], count))
  return words.join(', ') || WEBHOOKS.noFailures
}

/** The explanation of probes, where only they go out. */
export function probeWords({ waiting, next_probe_at }: WebhookDay, now: number): string {
  const isPast = next_probe_at === null || Date.parse(next_probe_at) <= now
  return WEBHOOKS.probe(waiting, isPast ? WEBHOOKS.anyMoment : relativeTime(next_probe_at, now))
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
