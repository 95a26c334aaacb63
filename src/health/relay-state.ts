// "Is it working?" in one word and one sentence.

import type { FindingBranch, RelayState } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import type { Webhook } from '../api/webhooks.ts'
import { isReady } from '../domain/line.ts'
import { countWords } from '../domain/number-words.ts'
import { webhookStateOf } from '../domain/webhook-state.ts'

type Known = {
  readonly lines: readonly PhoneLine[]
  readonly webhooks: readonly Webhook[]
  readonly findings: readonly HealthFinding[]
  /** The same findings, grouped by cause. */
  readonly branches: readonly FindingBranch[]
}

export function relayState({ lines, webhooks, findings, branches }: Known): RelayState {
  const ready = lines.filter(isReady).length
  const { shown = [], snoozed = [] } = Object.groupBy(branches, ({ cause, consequences }) =>
    [cause, ...consequences].every(isSnoozed) ? 'snoozed' : 'shown',
  )
  return {
    ...result(
      lines.length,
      ready,
      findings.filter((finding) => !isSnoozed(finding)),
    ),
    lines: lineWords(ready, lines.length),
    webhooks: webhookWords(webhooks),
    findings: shown,
    snoozed,
  }
}

function isSnoozed({ snoozed_until: until }: HealthFinding): boolean {
  return until !== undefined
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
  if (ready < all) return `${ready} of ${all} lines ready`
  return all === 2 ? 'Both lines are ready' : `All ${all} lines are ready`
}

/** Such as "7 of 20 webhooks are failing". A stopped or paused webhook doesn't count as failing. */
function webhookWords(webhooks: readonly Webhook[]): string {
  if (webhooks.length === 0) return 'no webhooks'
  const parts = ['stopped', 'paused', 'failing'].flatMap((state) => {
    const count = webhooks.filter((webhook) => webhookStateOf(webhook) === state).length
    return count === 0 ? [] : [shareWords(count, webhooks.length, state)]
  })
  return parts.join(', ') || 'all webhooks working'
}

function shareWords(count: number, all: number, what: string): string {
  const verb = count === 1 ? 'is' : 'are'
  return all === 1 ? `the webhook is ${what}` : `${count} of ${all} webhooks ${verb} ${what}`
}
