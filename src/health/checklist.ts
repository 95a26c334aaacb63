// The checklists of each line and of this machine: the steps of the kinds of line, and the findings about them.

import type { Check, LineChecks } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { OFFLINE_REASONS } from '../domain/line.ts'
import type { ChecklistStep, LineKind } from '../lines/line-kind.ts'
import { isAt } from './causes.ts'

export function checksOfMachine(
  kinds: readonly LineKind[],
  findings: readonly HealthFinding[],
): LineChecks {
  // The machine is checked whether or not it has a line yet.
  const steps = kinds.flatMap((kind) => kind.checklist).filter((step) => step.isOfMachine === true)
  const asked = { line: { status_reason: null, status_hint: null }, titles: new Map() }
  const own = findings.filter(({ boxes }) => boxes === undefined)
  const checks = known(steps.flatMap((step) => checksOf(step, asked, own)))
  const isAllowed = checks.every(({ state }) => state === 'ok')
  const summary = isAllowed
    ? 'All permissions are granted.'
    : 'Fix the marked items, from the top down.'
  return { line_id: null, offline_since: null, summary, checks }
}

export function checksOfLine(
  kinds: readonly LineKind[],
  line: PhoneLine,
  { findings, reset }: { readonly findings: readonly HealthFinding[]; readonly reset: string },
): LineChecks {
  // The line may have a kind that this version doesn't know.
  const kind = kinds.find(({ name }) => name === line.driver) ?? {
    checklist: [],
    reasons: { absent: OFFLINE_REASONS.device_absent },
  }
  const checks = checklist({ ...kind, reset }, line, findings)
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

type LineNeeds = Pick<LineKind, 'checklist' | 'reasons'> & {
  /** The time when new contacts are possible again, such as "midnight UTC". */
  readonly reset: string
}

const PAUSED: Check = {
  state: 'warn',
  title: 'The line is paused',
  why: 'It still receives. New messages through it are refused; those already queued wait up to 24 hours.',
  fix: 'Turn on "Send messages" in its settings.',
}

const NO_IMESSAGE: Check = {
  state: 'bad',
  title: 'iMessage is not active on this line',
  why: "It can't send messages.",
  fix: "Turn on iMessage in the device's settings.",
}

/** While a box has one of these findings, the state of its lines is unknown. */
const BOX_CODES: ReadonlySet<string> = new Set([
  OFFLINE_REASONS.box_unreachable.code,
  OFFLINE_REASONS.box_outdated.code,
])

/** The list has its own checks for these findings. */
const SHOWN_ELSEWHERE: readonly string[] = ['line_offline', 'limit_near', 'limit_reached']

export function checklist(
  { checklist: steps, reasons, reset }: LineNeeds,
  line: PhoneLine,
  findings: readonly HealthFinding[],
): readonly Check[] {
  const codes = new Set(steps.flatMap((step) => step.codes))
  const boxes = line.box && [line.box.id]
  const isOfDevice = (finding: HealthFinding) =>
    (finding.about.kind !== 'driver' || finding.about.id === line.driver) && isAt(finding, boxes)
  const own = findings.filter((finding) =>
    finding.line_id === null
      ? codes.has(finding.code) && isOfDevice(finding)
      : finding.line_id === line.id,
  )
  const ofBox = findings.filter((one) => BOX_CODES.has(one.code) && isAt(one, boxes))
  const others = own.filter(({ code }) => !SHOWN_ELSEWHERE.includes(code) && !codes.has(code))
  const allReasons = [...Object.values(OFFLINE_REASONS), ...Object.values(reasons)]
  const titles = new Map(allReasons.map(({ code, title }) => [code, title]))
  const checksOfStep = (step: ChecklistStep) => checksOf(step, { line, titles }, own)
  return [
    ...known([
      ...ofBox.map(foundCheck),
      ...steps.filter(({ isOptional }) => isOptional !== true).flatMap(checksOfStep),
    ]),
    ...steps.filter(({ isOptional }) => isOptional === true).flatMap(checksOfStep),
    ...(codes.has(line.status_reason ?? '') ? [] : unexplained(own)),
    ...(isSilentlyOff(line, own) ? [NO_IMESSAGE] : []),
    ...(line.is_enabled ? [] : [PAUSED]),
    roomForContacts(line, reset),
    ...others.map(foundCheck),
  ]
}

/** True if iMessage is off without a finding that says why. */
function isSilentlyOff(line: PhoneLine, own: readonly HealthFinding[]): boolean {
  const explanations: readonly string[] = ['imessage_off', 'imessage_not_connected']
  const isExplained = own.some(({ code }) => explanations.includes(code))
  return line.status === 'online' && !line.imessage_active && !isExplained
}

function summaryOf(checks: readonly Check[], isOffline: boolean): string {
  const has = (wanted: Check['state']) => checks.some(({ state }) => state === wanted)
  if (has('bad')) return 'Fix the failed checks, from the top down. The list updates automatically.'
  if (isOffline) return 'The line is offline.'
  if (has('warn')) return 'Working, with warnings.'
  return 'All checks passed. This line can send and receive.'
}

function checksOf(
  step: ChecklistStep,
  given: {
    readonly line: Pick<PhoneLine, 'status_reason' | 'status_hint'>
    /** The titles of the reasons for being offline. */
    readonly titles: ReadonlyMap<string, string>
  },
  findings: readonly HealthFinding[],
): readonly Check[] {
  const { line, titles } = given
  const found = findings.filter(({ code }) => step.codes.includes(code))
  if (found.length > 0) return found.map(foundCheck)
  const reason = line.status_reason ?? ''
  if (!step.codes.includes(reason)) {
    return [{ state: 'ok', title: step.title, why: null, fix: null }]
  }
  const title = titles.get(reason) ?? 'The line is offline'
  return [{ state: 'bad', title, why: null, fix: line.status_hint }]
}

/** Says that the line is offline if no other finding says why. */
function unexplained(findings: readonly HealthFinding[]): readonly Check[] {
  return findings
    .filter(({ code, depends_on }) => code === 'line_offline' && depends_on === null)
    .map(foundCheck)
}

const STATES: Readonly<Record<string, Check['state']>> = { info: 'info', error: 'bad' }

function foundCheck({ severity, title, why, fix }: HealthFinding): Check {
  return { state: STATES[severity] ?? 'warn', title, why, fix }
}

/** After a failed check, the state of the others is unknown. */
function known(checks: readonly Check[]): readonly Check[] {
  const failed = checks.findIndex(({ state }) => state === 'bad')
  return checks.map((check, place) =>
    failed >= 0 && place > failed && check.state === 'ok' ? { ...check, state: 'unknown' } : check,
  )
}

function roomForContacts(
  { new_contacts_today, daily_contact_limit }: PhoneLine,
  reset: string,
): Check {
  const title = 'New contacts left for today'
  if (new_contacts_today < daily_contact_limit) return { state: 'ok', title, why: null, fix: null }
  if (daily_contact_limit === 0) {
    const why = 'Its daily new-contact limit is 0. Existing contacts still work.'
    return { state: 'info', title: "This line doesn't message new contacts", why, fix: null }
  }
  return {
    state: 'warn',
    title: 'No new contacts left for today',
    why: `No new contacts until ${reset}. Existing contacts still work.`,
    fix: 'Wait, use another line, or raise the limit in its settings. Apple blocks lines that message many strangers.',
  }
}
