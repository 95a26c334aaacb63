import { Elysia } from 'elysia'

import { checklist, macChecklist, summaryOf, type Check } from './dashboard-checklist.ts'
import type { HealthFinding } from './dashboard-findings.ts'
import type { HealthActions } from './health.ts'
import { plainCall } from './operation.ts'
import type { PhoneLineActions, PhoneLineResource } from './phone-lines.ts'

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly health: Pick<HealthActions, 'findings'>
}

/** What is asked of a line, and how it stands as a whole. */
type LineChecks = {
  /** Null for the Mac on which the relay runs, whether or not it has a line yet. */
  readonly line_id: string | null
  /** Since when the line is offline; null while it is not. */
  readonly offline_since: string | null
  readonly summary: string
  readonly checks: readonly Check[]
}

/** Behind the door of the dashboard. It answers when the devices have. */
export function checkRoutes({ lines, health }: Tools) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/checks', async () => {
    const findings = await health.findings()
    return { data: [ofMac(findings), ...lines.list().map((line) => ofLine(line, findings))] }
  })
}

function ofMac(findings: readonly HealthFinding[]): LineChecks {
  const checks = macChecklist(findings)
  return { line_id: null, offline_since: null, summary: macSummary(checks), checks }
}

function macSummary(checks: readonly Check[]): string {
  const isAllowed = checks.every(({ state }) => state === 'ok')
  return isAllowed ? 'All of it is so.' : 'Mend what is marked, from the top down.'
}

function ofLine(line: PhoneLineResource, findings: readonly HealthFinding[]): LineChecks {
  const checks = checklist(line, findings)
  const offline = findings.find(
    ({ code, line_id }) => code === 'line_offline' && line_id === line.id,
  )
  return {
    line_id: line.id,
    offline_since: offline?.since ?? null,
    summary: summaryOf(checks, line.status === 'offline'),
    checks,
  }
}
