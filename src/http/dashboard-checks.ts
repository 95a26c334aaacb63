import { Elysia } from 'elysia'

import type { Check, LineChecks } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { checklist, macChecklist, summaryOf } from './dashboard-checklist.ts'
import { plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import type { HealthActions } from './service.ts'

type Tools = {
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly health: Pick<HealthActions, 'findings'>
}

/** For signed-in browsers. Answers once the devices have answered. */
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
  return isAllowed ? 'All permissions are granted.' : 'Fix the marked items, from the top down.'
}

function ofLine(line: PhoneLine, findings: readonly HealthFinding[]): LineChecks {
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
