// Sentences of the views of webhooks, and the words for their states.

import type { WebhookDay } from '../../api/dashboard.ts'
import type { WebhookStrip } from '../../api/stats.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { type WebhookState, webhookStateOf } from '../../domain/webhook-state.ts'
import type { StateWords } from '../components/drawings.ts'
import { durationWords, shareWords } from '../figure-words.ts'
import { relativeTime } from '../time-words.ts'
import { grouped } from './common.ts'

export const WEBHOOKS = {
  title: 'Webhooks',
  lead: 'The relay sends events to these URLs.',
  noun: 'Webhook',
  whyMissing: 'It was deleted.',
  add: 'Add webhook',
  none: 'No webhooks yet',
  noneHint: 'Enter the URL that should receive events.',
  url: 'URL',
  urlExample: 'https://shop.example.com/hooks/messages',
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
  isPaused: 'This webhook is paused',
  isPausedHint:
    'Nothing is delivered to it. When you resume it, you are asked whether to send the events that came meanwhile.',
  pause: 'Pause',
  resume: 'Resume',
  paused: 'Webhook paused. Nothing is delivered until you resume it.',
  resumed: 'Webhook resumed.',
  isStopped: 'The relay stopped delivering events',
  viewDelivery: 'View delivery',
  queued: 'New events are queued meanwhile.',
  probe: (waiting: number, when: string) =>
    `While the endpoint fails, one delivery at a time checks if it is back (next: ${when}). Once it succeeds, ${waiting === 1 ? 'the pending delivery goes' : `all ${grouped(waiting)} pending deliveries go`} out.`,
  anyMoment: 'any moment now',
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

const STATES: Readonly<Record<WebhookState, StateWords>> = {
  stopped: { text: 'Stopped', tone: 'bad', icon: 'cross' },
  paused: { text: 'Paused', tone: 'plain', icon: 'pause' },
  failing: { text: 'Failing', tone: 'warn', icon: 'warning' },
  active: { text: 'Active', tone: 'ok', icon: 'check' },
}

export const webhookState = (webhook: Webhook) => STATES[webhookStateOf(webhook)]

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
