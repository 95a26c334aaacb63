// The health catalogue as one acts on it: a cause first, what follows from it beneath.

import type { FindingBranch } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'

/** In the order in which they come, which is by urgency. */
export function branchesOf(findings: readonly HealthFinding[]): readonly FindingBranch[] {
  const causes = findings.filter((finding) => causeOf(finding, findings) === null)
  return causes.map((cause) => ({
    cause,
    consequences: findings.filter(
      (finding) => rootOf(finding, findings) === cause && finding !== cause,
    ),
    place: placeOf(cause),
  }))
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

/** A line's finding may follow from one of its own or of the relay, never from another line's. */
function causeOf(
  { code, depends_on, line_id }: HealthFinding,
  findings: readonly HealthFinding[],
): HealthFinding | null {
  if (depends_on === null || depends_on === code) return null
  const causes = findings.filter((finding) => finding.code === depends_on)
  const own = causes.find((cause) => cause.line_id === line_id)
  return own ?? causes.find((cause) => cause.line_id === null) ?? null
}

/** The first cause; findings that explain each other in a circle end at the one after so many. */
function rootOf(finding: HealthFinding, findings: readonly HealthFinding[]): HealthFinding {
  let root = finding
  for (const _ of findings) root = causeOf(root, findings) ?? root
  return root
}
