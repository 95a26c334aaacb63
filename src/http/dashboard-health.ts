// The state of the relay with its findings, and the checks of each line.

import type { FindingBranch } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import { findingRow } from '../domain/finding-codes.ts'
import type { LineId } from '../domain/ids.ts'
import { includesLine } from '../domain/routing.ts'
import { findingsIn, findingTrees } from '../health/causes.ts'
import { checksOfLine, checksOfMachine } from '../health/checklist.ts'
import { relayState } from '../health/relay-state.ts'
import { bind } from './bind.ts'
import { ALL_WEBHOOKS } from './dashboard-webhooks.ts'
import type { Relay } from './relay.ts'
import { linesOf } from './request-context.ts'

/** Both operations wait for the devices to answer. */
export function dashboardHealthBindings(
  relay: Pick<Relay, 'days' | 'health' | 'kinds' | 'lines' | 'webhooks'>,
) {
  const { kinds } = relay.kinds
  return [
    bind(DASHBOARD.getRelayState, async ({ request, query }) => {
      const seen = linesOf(request, query)
      const all = await relay.health.list()
      const findings = all.filter(({ line_id: id }) => id === null || includesLine(seen, id))
      const lines = relay.lines.list().filter(({ id }) => includesLine(seen, id))
      const { data: webhooks } = relay.webhooks.list(ALL_WEBHOOKS)
      const branches = branchesOf(findings)
      return relayState({ lines, webhooks, findings, branches })
    }),
    bind(DASHBOARD.listChecks, async () => {
      const findings = await relay.health.list()
      const ofLines = relay.lines.list().map((line) => {
        // The id comes from the relay's own list of lines.
        const reset = relay.days.midnight(line.id as LineId)
        return checksOfLine(kinds, line, { findings, reset })
      })
      return { data: [checksOfMachine(kinds, findings), ...ofLines] }
    }),
  ]
}

/** The causes in the order of the findings, each with the findings that follow from it. */
export function branchesOf(findings: readonly HealthFinding[]): readonly FindingBranch[] {
  return findingTrees(findings).map((tree) => {
    const { guide } = findingRow(tree.finding.code)
    return {
      cause: tree.finding,
      consequences: findingsIn(tree).slice(1),
      place: placeOf(tree.finding),
      guide: guide === null ? null : `/guide/${guide}`,
    }
  })
}

function placeOf({ code, line_id, about }: HealthFinding): FindingBranch['place'] {
  const { page } = findingRow(code)
  const messages = (status: string) => {
    return { name: 'messages', href: `#/messages?status=${status}&line=${line_id}` }
  }
  if (page === 'conversations') return { name: 'Conversations', href: '#/conversations' }
  if (page === 'uncertain_messages') return messages('uncertain')
  if (page === 'failed_messages') return messages('failed')
  if (line_id !== null) return { name: 'line', href: `#/lines/${line_id}` }
  if (about.kind === 'webhook') return { name: 'webhook', href: `#/webhooks/${about.id}` }
  if (about.kind === 'box') return { name: 'Boxes', href: '#/boxes' }
  if (page === 'settings') return { name: 'Settings', href: '#/settings' }
  return { name: 'Lines', href: '#/lines' }
}
