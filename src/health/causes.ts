import type { HealthFinding } from '../api/health.ts'
import { isCovered } from '../domain/finding.ts'

/** A finding, and the findings that it causes. */
export type FindingTree = {
  readonly finding: HealthFinding
  readonly consequences: readonly FindingTree[]
}

/** Each finding once, below its cause, in the given order, which is by urgency. */
export function findingTrees(findings: readonly HealthFinding[]): readonly FindingTree[] {
  const causes = new Map(findings.map((finding) => [finding, causeOf(finding, findings)]))
  const placed = new Set<HealthFinding>()
  const treeOf = (finding: HealthFinding): FindingTree => {
    placed.add(finding)
    const followers = findings.filter((other) => causes.get(other) === finding)
    return { finding, consequences: unplaced(followers).map(treeOf) }
  }
  const unplaced = (some: readonly HealthFinding[]) => some.filter((one) => !placed.has(one))
  const roots = findings.filter((finding) => causes.get(finding) === null).map(treeOf)
  // Findings that cause each other in a circle have no root.
  return [...roots, ...unplaced(findings).flatMap((one) => (placed.has(one) ? [] : [treeOf(one)]))]
}

/** All findings in a tree. The consequences of a snoozed finding are snoozed too, unless they are worse. */
export function findingsIn(
  { finding, consequences }: FindingTree,
  cause: HealthFinding = finding,
): readonly HealthFinding[] {
  const { snoozed_until: until } = cause
  const isAlong = until !== undefined && isCovered(finding.severity, cause.severity)
  const found = isAlong ? { ...finding, snoozed_until: finding.snoozed_until ?? until } : finding
  return [found, ...consequences.flatMap((tree) => findingsIn(tree, found))]
}

/** The cause of a line's finding is about the same line, or about no line on the same machine. */
function causeOf(finding: HealthFinding, findings: readonly HealthFinding[]): HealthFinding | null {
  const { code, depends_on, line_id } = finding
  if (depends_on === null || depends_on === code) return null
  const causes = findings.filter((cause) => cause.code === depends_on)
  const own = line_id === null ? undefined : causes.find((cause) => cause.line_id === line_id)
  const isOfMachine = (cause: HealthFinding) => cause.line_id === null && isAt(cause, finding.boxes)
  return own ?? causes.find(isOfMachine) ?? null
}

/** True if a finding is about one of the `wanted` boxes or about the relay; without boxes, about its machine. */
export function isAt(
  { boxes, about }: Pick<HealthFinding, 'boxes' | 'about'>,
  wanted: readonly string[] | undefined,
): boolean {
  if (boxes === undefined) return wanted === undefined || about.kind === 'relay'
  return wanted !== undefined && boxes.some((box) => wanted.includes(box))
}
