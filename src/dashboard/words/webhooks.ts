// Words that webhook views share.

import type { WebhookDay } from '../../api/dashboard.ts'
import type { WebhookStrip } from '../../api/stats.ts'
import type { Webhook } from '../../api/webhooks.ts'
import { type WebhookState, webhookStateOf } from '../../domain/webhook-state.ts'
import type { StateWords } from '../components/drawings.ts'
import { durationWords, shareWords } from '../figure-words.ts'
import { relativeTime } from '../time-words.ts'
import { grouped } from './common.ts'

export const WEBHOOKS = {
  noun: 'Webhook',
  noEndpoint: 'No endpoint yet?',
  add: 'Add webhook',
  url: 'URL',
  urlExample: 'https://shop.example.com/hooks/messages',
  attemptsOf: (name: string) => `Attempts of ${name}, last 24 hours`,
} as const

const STATES: Readonly<Record<WebhookState, StateWords>> = {
  stopped: { text: 'Stopped', tone: 'bad', icon: 'cross' },
  paused: { text: 'Paused', tone: 'plain', icon: 'pause' },
  failing: { text: 'Failing', tone: 'warn', icon: 'warning' },
  active: { text: 'Active', tone: 'ok', icon: 'check' },
}

export const webhookState = (webhook: Webhook) => STATES[webhookStateOf(webhook)]

/** The share of delivered attempts, with response times; empty without any attempt. */
export function figureWords({ cells, p50_ms, p95_ms }: WebhookStrip): string {
  const sum = (name: 'ok' | 'failed') => cells.reduce((all, cell) => all + cell[name], 0)
  const [ok, failed] = [sum('ok'), sum('failed')]
  if (ok + failed === 0) return ''
  const delivered = `${shareWords(ok / (ok + failed))} delivered`
  const within = (ms: number | null) => (ms === null ? '> 5 s' : `≤ ${durationWords(ms)}`)
  return ok === 0 ? delivered : `${delivered}, p50 ${within(p50_ms)}, p95 ${within(p95_ms)}`
}

/** Explains probes, for a webhook that gets nothing else. */
export function probeWords({ waiting, next_probe_at }: WebhookDay, now: number): string {
  const isPast = next_probe_at === null || Date.parse(next_probe_at) <= now
  return `While the endpoint fails, one delivery at a time checks if it is back (next: ${isPast ? 'any moment now' : relativeTime(next_probe_at, now)}). Once it succeeds, ${waiting === 1 ? 'the pending delivery goes' : `all ${grouped(waiting)} pending deliveries go`} out.`
}
