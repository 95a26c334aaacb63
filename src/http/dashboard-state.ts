// "Is it working?" in one word and one sentence.

import { Elysia } from 'elysia'

import { branchesOf, type FindingBranch, type HealthFinding } from './dashboard-findings.ts'
import type { HealthActions } from './health.ts'
import { plainCall } from './operation.ts'
import type { PhoneLineActions, PhoneLineResource } from './phone-lines.ts'
import type { WebhookActions } from './webhooks.ts'

type WebhookResource = ReturnType<WebhookActions['get']>

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly webhooks: Pick<WebhookActions, 'list'>
  readonly health: Pick<HealthActions, 'findings'>
}

export type RelayState = {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  /** The beginning of a sentence, and its end; between them the page says how busy the day is. */
  readonly lines: string
  readonly webhooks: string
  readonly findings: readonly FindingBranch[]
}

type Known = {
  readonly lines: readonly PhoneLineResource[]
  readonly webhooks: readonly WebhookResource[]
  readonly findings: readonly HealthFinding[]
}

/** A relay has a handful of webhooks. */
const WEBHOOKS_MAX = 200

/** Behind the door of the dashboard. It answers when the devices have. */
export function stateRoutes({ lines, webhooks, health }: Tools) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/state', async () => {
    const findings = await health.findings()
    const { data } = webhooks.list({ limit: WEBHOOKS_MAX, cursor: null })
    return relayState({ lines: lines.list(), webhooks: data, findings })
  })
}

export function relayState({ lines, webhooks, findings }: Known): RelayState {
  const ready = lines.filter(isReady).length
  return {
    ...verdict(lines.length, ready, findings),
    lines: lineWords(ready, lines.length),
    webhooks: webhookWords(webhooks, findings),
    findings: branchesOf(findings),
  }
}

function verdict(
  all: number,
  ready: number,
  findings: readonly HealthFinding[],
): Pick<RelayState, 'tone' | 'title'> {
  if (all === 0) return { tone: 'warn', title: 'No phone line yet' }
  if (ready === 0) return { tone: 'bad', title: 'Nothing can be sent' }
  const count = (wanted: string) => findings.filter(({ severity }) => severity === wanted).length
  const errors = count('error')
  if (errors > 0) return { tone: 'bad', title: needWords(errors) }
  const warnings = count('warning')
  if (warnings > 0) return { tone: 'warn', title: needWords(warnings) }
  return { tone: 'ok', title: 'Everything works' }
}

/** Whether a message that names no line could take it. */
function isReady(line: PhoneLineResource): boolean {
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

function webhookWords(
  webhooks: readonly WebhookResource[],
  findings: readonly HealthFinding[],
): string {
  if (webhooks.length === 0) return 'no webhooks'
  const stopped = webhooks.filter((webhook) => webhook.disabled_reason !== null).length
  if (stopped > 0) return stopped === 1 ? 'one webhook stopped' : `${stopped} webhooks stopped`
  const isFailing = findings.some(({ code }) => code.startsWith('webhook_'))
  return isFailing ? 'a webhook fails' : 'webhooks fine'
}
