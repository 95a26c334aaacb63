// "Is it working?" in one word and one sentence, with the findings below their causes.

import { Elysia } from 'elysia'

import type { FindingBranch, RelayState } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import type { Webhook } from '../api/webhooks.ts'
import { isReady } from '../domain/line.ts'
import { countWords } from '../domain/number-words.ts'
import { guideOf } from '../guides/finding-guides.ts'
import { type FindingTree, findingTrees } from '../health/causes.ts'
import { plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import type { HealthActions } from './service.ts'
import type { WebhookActions } from './webhooks.ts'

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly webhooks: Pick<WebhookActions, 'list'>
  readonly health: Pick<HealthActions, 'findings'>
}

type Known = {
  readonly lines: readonly PhoneLine[]
  readonly webhooks: readonly Webhook[]
  readonly findings: readonly HealthFinding[]
}

/** A relay has a handful of webhooks. */
const WEBHOOKS_MAX = 200

/** For signed-in browsers. Answers once the devices have answered. */
export function stateRoutes({ lines, webhooks, health }: Tools) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/state', async () => {
    const findings = await health.findings()
    const { data } = webhooks.list({ limit: WEBHOOKS_MAX, cursor: null })
    return relayState({ lines: lines.list(), webhooks: data, findings })
  })
}

export function relayState({ lines, webhooks, findings }: Known): RelayState {
  const ready = lines.filter((line) =>
    isReady({
      isEnabled: line.is_enabled,
      isOnline: line.status === 'online',
      imessageActive: line.imessage_active,
    }),
  ).length
  return {
    ...result(lines.length, ready, findings),
    lines: lineWords(ready, lines.length),
    webhooks: webhookWords(webhooks),
    findings: branchesOf(findings),
  }
}

function result(
  all: number,
  ready: number,
  findings: readonly HealthFinding[],
): Pick<RelayState, 'tone' | 'title'> {
  if (all === 0) return { tone: 'warn', title: 'No phone line yet' }
  if (ready === 0) return { tone: 'bad', title: 'No line can send' }
  const count = findings.filter(({ severity }) => severity !== 'info').length
  if (count === 0) return { tone: 'ok', title: 'Everything works' }
  const title = `${countWords(count, 'issue')} ${count === 1 ? 'needs' : 'need'} attention`
  const hasProblem = findings.some(({ severity }) => severity === 'error')
  return { tone: hasProblem ? 'bad' : 'warn', title }
}

function lineWords(ready: number, all: number): string {
  if (all === 0) return 'No lines'
  if (all === 1) return ready === 1 ? 'The line is ready' : 'The line is not ready'
  return ready === all ? `All ${all} lines are ready` : `${ready} of ${all} lines ready`
}

/** "7 of 20 webhooks are failing". A stopped webhook does not count as failing. */
function webhookWords(webhooks: readonly Webhook[]): string {
  if (webhooks.length === 0) return 'no webhooks'
  const stopped = webhooks.filter((webhook) => webhook.disabled_reason !== null).length
  const failing = webhooks.filter((webhook) => webhook.is_failing === true).length
  const parts = [shareWords(stopped, webhooks.length, 'stopped')].filter(() => stopped > 0)
  if (failing > 0) parts.push(shareWords(failing, webhooks.length, 'failing'))
  return parts.join(', ') || 'all webhooks working'
}

function shareWords(count: number, all: number, what: string): string {
  const verb = count === 1 ? 'is' : 'are'
  return all === 1 ? `the webhook is ${what}` : `${count} of ${all} webhooks ${verb} ${what}`
}

/** Causes in the order of the findings, each with all that follows from it. */
export function branchesOf(findings: readonly HealthFinding[]): readonly FindingBranch[] {
  return findingTrees(findings).map(({ finding, consequences }) => ({
    cause: finding,
    consequences: findingsIn(consequences),
    place: placeOf(finding),
    guide: guidePathOf(finding),
  }))
}

function guidePathOf({ code }: HealthFinding): string | null {
  const guide = guideOf(code)
  return guide === null ? null : `/guide/${guide}`
}

function findingsIn(trees: readonly FindingTree[]): readonly HealthFinding[] {
  return trees.flatMap(({ finding, consequences }) => [finding, ...findingsIn(consequences)])
}

function placeOf({ code, line_id, about }: HealthFinding): FindingBranch['place'] {
  if (code === 'possible_loop' || code === 'messages_uncertain') {
    return { name: 'Conversations', href: '#/conversations' }
  }
  if (line_id !== null) return { name: 'line', href: `#/lines/${line_id}` }
  if (about.kind === 'webhook') return { name: 'webhook', href: `#/webhooks/${about.id}` }
  if (/^(storage|backup|heartbeat|update|upgrade|database|executable)_/.test(code)) {
    return { name: 'Settings', href: '#/settings' }
  }
  return { name: 'Lines', href: '#/lines' }
}
