import { Elysia } from 'elysia'

import type { Check, LineChecks } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { OFFLINE_REASONS } from '../domain/line.ts'
import type { LineKind } from '../lines/line-kind.ts'
import { checklist, machineChecklist, summaryOf, type LineNeeds } from './dashboard-checklist.ts'
import { plainCall } from './operation.ts'
import type { PhoneLineActions } from './phone-lines.ts'
import type { HealthActions } from './service.ts'

type Tools = {
  readonly kinds: readonly LineKind[]
  readonly lines: Pick<PhoneLineActions, 'list'>
  readonly health: Pick<HealthActions, 'findings'>
}

/** For signed-in browsers. Answers once the devices have answered. */
export function checkRoutes({ kinds, lines, health }: Tools) {
  return new Elysia().onBeforeHandle(plainCall).get('/dashboard/checks', async () => {
    const findings = await health.findings()
    const needsOf = ({ driver }: PhoneLine) => kinds.find(({ name }) => name === driver) ?? NO_NEEDS
    const ofLines = lines.list().map((line) => ofLine(needsOf(line), line, findings))
    return { data: [ofMachine(kinds, findings), ...ofLines] }
  })
}

/** Needs of a line whose kind this version does not know. */
const NO_NEEDS: LineNeeds = { checklist: [], reasons: { absent: OFFLINE_REASONS.device_absent } }

function ofMachine(kinds: readonly LineKind[], findings: readonly HealthFinding[]): LineChecks {
  const checks = machineChecklist(kinds, findings)
  return { line_id: null, offline_since: null, summary: machineSummary(checks), checks }
}

function machineSummary(checks: readonly Check[]): string {
  const isAllowed = checks.every(({ state }) => state === 'ok')
  return isAllowed ? 'All permissions are granted.' : 'Fix the marked items, from the top down.'
}

function ofLine(needs: LineNeeds, line: PhoneLine, findings: readonly HealthFinding[]): LineChecks {
  const checks = checklist(needs, line, findings)
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
