// "Is it working?" in one word and one sentence.

import type { Tone } from './components/tone.ts'
import type { DayCount } from './day-count.ts'
import type { HealthFinding, PhoneLine, Webhook } from './resources.ts'

export type RelayState = {
  readonly tone: Extract<Tone, 'ok' | 'warn' | 'bad'>
  readonly title: string
  readonly sentence: string
}

type Known = {
  readonly lines: readonly PhoneLine[]
  readonly findings: readonly HealthFinding[]
  readonly webhooks: readonly Webhook[]
  /** Null while it is being counted. */
  readonly today: DayCount | null
}

export function relayState(known: Known): RelayState {
  const { lines, findings, webhooks, today } = known
  const ready = lines.filter(isReady)
  const parts = [lineWords(ready.length, lines.length), webhookWords(webhooks, findings)]
  if (today !== null) parts.splice(1, 0, messageWords(today))
  const sentence = `${parts.join(', ')}.`
  if (lines.length === 0) return { tone: 'warn', title: 'No phone line yet', sentence }
  if (ready.length === 0) return { tone: 'bad', title: 'Nothing can be sent', sentence }
  const errors = findings.filter(({ severity }) => severity === 'error').length
  if (errors > 0) return { tone: 'bad', title: needWords(errors), sentence }
  const warnings = findings.filter(({ severity }) => severity === 'warning').length
  if (warnings > 0) return { tone: 'warn', title: needWords(warnings), sentence }
  return { tone: 'ok', title: 'Everything works', sentence }
}

/** Whether a message that names no line could take it. */
export function isReady(line: PhoneLine): boolean {
  return line.is_enabled && line.status === 'online' && line.imessage_active
}

function needWords(count: number): string {
  return count === 1 ? 'One thing needs you' : `${count} things need you`
}

function lineWords(ready: number, all: number): string {
  if (all === 0) return 'No lines'
  if (all === 1) return ready === 1 ? 'The line is ready' : 'The line is not ready'
  return ready === all ? `All ${all} lines are ready` : `${ready} of ${all} lines ready`
}

function messageWords({ count, isMore }: DayCount): string {
  if (count === 0) return 'no messages today'
  const words = `${count.toLocaleString('en')} ${count === 1 ? 'message' : 'messages'} today`
  return isMore ? `more than ${words}` : words
}

function webhookWords(webhooks: readonly Webhook[], findings: readonly HealthFinding[]): string {
  if (webhooks.length === 0) return 'no webhooks'
  const stopped = webhooks.filter((webhook) => webhook.disabled_reason !== null).length
  if (stopped > 0) return stopped === 1 ? 'one webhook stopped' : `${stopped} webhooks stopped`
  const isFailing = findings.some(({ code }) => code.startsWith('webhook_'))
  return isFailing ? 'a webhook fails' : 'webhooks fine'
}
