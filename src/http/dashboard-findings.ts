// The health catalogue as one acts on it: a cause first, what follows from it beneath.

import type { FindingBranch } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import { type FindingTree, findingTrees } from '../health/causes.ts'

/** Causes in the order of the findings, each with all that follows from it. */
export function branchesOf(findings: readonly HealthFinding[]): readonly FindingBranch[] {
  return findingTrees(findings).map(({ finding, consequences }) => ({
    cause: finding,
    consequences: findingsIn(consequences),
    place: placeOf(finding),
  }))
}

function findingsIn(trees: readonly FindingTree[]): readonly HealthFinding[] {
  return trees.flatMap(({ finding, consequences }) => [finding, ...findingsIn(consequences)])
}

function placeOf({ code, line_id, about }: HealthFinding): FindingBranch['place'] {
  if (code === 'possible_loop' || code === 'messages_uncertain') {
    return { name: 'Conversations', href: '#/conversations' }
  }
  if (line_id !== null) return { name: 'the line', href: `#/lines/${line_id}` }
  if (about.kind === 'webhook') return { name: 'the webhook', href: `#/webhooks/${about.id}` }
  if (/^(storage|backup|heartbeat|update|upgrade|database|executable)_/.test(code)) {
    return { name: 'Settings', href: '#/settings' }
  }
  return { name: 'Lines', href: '#/lines' }
}
