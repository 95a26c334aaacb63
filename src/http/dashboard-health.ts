// The state of the relay, with the findings below their causes, and the checks of each line.

import type { FindingBranch } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { guideOf } from '../guides/finding-guides.ts'
import { findingsIn, findingTrees } from '../health/causes.ts'
import { checksOfLine, checksOfMachine } from '../health/checklist.ts'
import { relayState } from '../health/relay-state.ts'
import { bind } from './bind.ts'
import type { Relay } from './relay.ts'

/** A relay has a handful of webhooks. */
const WEBHOOKS_MAX = 200

/** For signed-in browsers. Both answer once the devices have answered. */
export function dashboardHealthBindings({
  kinds: { kinds },
  lines,
  webhooks,
  health,
  days,
}: Pick<Relay, 'days' | 'health' | 'kinds' | 'lines' | 'webhooks'>) {
  return [
    bind(DASHBOARD.getRelayState, async () => {
      const findings = await health.list()
      const { data } = webhooks.list({ limit: WEBHOOKS_MAX, cursor: null })
      const branches = branchesOf(findings)
      return relayState({ lines: lines.list(), webhooks: data, findings, branches })
    }),
    bind(DASHBOARD.listChecks, async () => {
      const findings = await health.list()
      const known = { findings, reset: days.midnight() }
      const ofLines = lines.list().map((line) => checksOfLine(kinds, line, known))
      return { data: [checksOfMachine(kinds, findings), ...ofLines] }
    }),
  ]
}

/** Causes in the order of the findings, each with all that follows from it. */
export function branchesOf(findings: readonly HealthFinding[]): readonly FindingBranch[] {
  return findingTrees(findings).map((tree) => ({
    cause: tree.finding,
    consequences: findingsIn(tree).slice(1),
    place: placeOf(tree.finding),
    guide: guidePathOf(tree.finding),
  }))
}

function guidePathOf({ code }: HealthFinding): string | null {
  const guide = guideOf(code)
  return guide === null ? null : `/guide/${guide}`
}

/** Findings about messages, by the status of those messages. */
const LISTED: Readonly<Record<string, string>> = {
  messages_uncertain: 'uncertain',
  messages_failing: 'failed',
}

function placeOf({ code, line_id, about }: HealthFinding): FindingBranch['place'] {
  if (code === 'possible_loop') return { name: 'Conversations', href: '#/conversations' }
  const status = LISTED[code]
  if (status !== undefined) {
    return { name: 'messages', href: `#/messages?status=${status}&line=${line_id}` }
  }
  if (line_id !== null) return { name: 'line', href: `#/lines/${line_id}` }
  if (about.kind === 'webhook') return { name: 'webhook', href: `#/webhooks/${about.id}` }
  if (about.kind === 'box') return { name: 'Boxes', href: '#/boxes' }
  if (/^(storage|backup|heartbeat|update|upgrade|database|executable)_/.test(code)) {
    return { name: 'Settings', href: '#/settings' }
  }
  return { name: 'Lines', href: '#/lines' }
}
