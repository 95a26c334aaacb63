// "Is it working?" in one word and one sentence, with the findings below their causes; and the needs of
// each line, from its kind, with the findings that deny them.

import type { Check, FindingBranch, LineChecks, RelayState } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import { DASHBOARD } from '../api/operations/dashboard.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import type { Webhook } from '../api/webhooks.ts'
import { OFFLINE_REASONS, isReady } from '../domain/line.ts'
import { countWords } from '../domain/number-words.ts'
import { webhookStateOf } from '../domain/webhook-state.ts'
import { guideOf } from '../guides/finding-guides.ts'
import { findingsIn, findingTrees, isAt } from '../health/causes.ts'
import type { ChecklistStep, LineKind } from '../lines/line-kind.ts'
import { bind } from './bind.ts'
import type { Relay } from './relay.ts'

type Known = {
  readonly lines: readonly PhoneLine[]
  readonly webhooks: readonly Webhook[]
  readonly findings: readonly HealthFinding[]
}

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
      return relayState({ lines: lines.list(), webhooks: data, findings })
    }),
    bind(DASHBOARD.listChecks, async () => {
      const findings = await health.list()
      const needsOf = ({ driver }: PhoneLine) =>
        kinds.find(({ name }) => name === driver) ?? NO_NEEDS
      const reset = days.midnight()
      const ofLines = lines
        .list()
        .map((line) => ofLine({ ...needsOf(line), reset }, line, findings))
      return { data: [ofMachine(kinds, findings), ...ofLines] }
    }),
  ]
}

export function relayState({ lines, webhooks, findings }: Known): RelayState {
  const ready = lines.filter(isReady).length
  const { shown = [], snoozed = [] } = Object.groupBy(branchesOf(findings), (branch) =>
    isSnoozed(branch) ? 'snoozed' : 'shown',
  )
  return {
    ...result(
      lines.length,
      ready,
      findings.filter((finding) => finding.snoozed_until === undefined),
    ),
    lines: lineWords(ready, lines.length),
    webhooks: webhookWords(webhooks),
    findings: shown,
    snoozed,
  }
}

/** True if the cause and all that follows from it is snoozed. */
function isSnoozed({ cause, consequences }: FindingBranch): boolean {
  return [cause, ...consequences].every(({ snoozed_until: until }) => until !== undefined)
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

/** "7 of 20 webhooks are failing". One that is stopped or paused does not count as failing. */
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

/** Needs of a line whose kind this version does not know. */
const NO_NEEDS: Omit<LineNeeds, 'reset'> = {
  checklist: [],
  reasons: { absent: OFFLINE_REASONS.device_absent },
}

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

export type LineNeeds = Pick<LineKind, 'checklist' | 'reasons'> & {
  /** When new contacts are possible again, as "midnight UTC". */
  readonly reset: string
}

const PAUSED: Check = {
  state: 'warn',
  title: 'The line is paused',
  why: 'It still receives. New messages through it are refused; those already queued wait up to 24 hours.',
  fix: 'Turn on "Send messages" in its settings.',
}

const WITHOUT_IMESSAGE = ['imessage_off', 'imessage_not_connected']
const NO_IMESSAGE: Check = {
  state: 'bad',
  title: 'iMessage is not active on this line',
  why: "It can't send messages.",
  fix: "Turn on iMessage in the device's settings.",
}

/** Findings about a box, which deny all that is known of its lines. */
const BOX_CODES: ReadonlySet<string> = new Set([
  OFFLINE_REASONS.box_unreachable.code,
  OFFLINE_REASONS.box_outdated.code,
])

/** Findings in whose place the list has a check of its own. */
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
  const titles = new Map(
    [...Object.values(OFFLINE_REASONS), ...Object.values(reasons)].map(({ code, title }) => [
      code,
      title,
    ]),
  )
  const checksOfStep = (step: ChecklistStep) => checksOf(step, { line, titles }, own)
  return [
    ...known([
      ...ofBox.map(foundCheck),
      ...steps.filter(({ isOptional: isBeside }) => isBeside !== true).flatMap(checksOfStep),
    ]),
    ...steps.filter(({ isOptional: isBeside }) => isBeside === true).flatMap(checksOfStep),
    ...(codes.has(line.status_reason ?? '') ? [] : unexplained(own)),
    ...(isSilentlyOff(line, own) ? [NO_IMESSAGE] : []),
    ...(line.is_enabled ? [] : [PAUSED]),
    roomForContacts(line, reset),
    ...others.map(foundCheck),
  ]
}

/** True if iMessage is off and no finding says so with its reason. */
function isSilentlyOff(line: PhoneLine, own: readonly HealthFinding[]): boolean {
  const isExplained = own.some(({ code }) => WITHOUT_IMESSAGE.includes(code))
  return line.status === 'online' && !line.imessage_active && !isExplained
}

function summaryOf(checks: readonly Check[], isOffline: boolean): string {
  const has = (wanted: Check['state']) => checks.some(({ state }) => state === wanted)
  if (has('bad')) return 'Fix the failed checks, from the top down. The list updates automatically.'
  if (isOffline) return 'The line is offline.'
  if (has('warn')) return 'Working, with warnings.'
  return 'All checks passed. This line can send and receive.'
}

/** Needs of this machine for lines of its own, whether or not it has one yet. */
function machineChecklist(
  kinds: readonly Pick<LineKind, 'checklist'>[],
  findings: readonly HealthFinding[],
): readonly Check[] {
  const steps = kinds.flatMap((kind) => kind.checklist).filter((step) => step.isOfMachine === true)
  const asked = { line: { status_reason: null, status_hint: null }, titles: new Map() }
  const own = findings.filter(({ boxes }) => boxes === undefined)
  return known(steps.flatMap((step) => checksOf(step, asked, own)))
}

type CheckedLine = {
  readonly line: Pick<PhoneLine, 'status_reason' | 'status_hint'>
  /** Titles of reasons for being offline. */
  readonly titles: ReadonlyMap<string, string>
}

function checksOf(
  step: ChecklistStep,
  { line, titles }: CheckedLine,
  findings: readonly HealthFinding[],
): readonly Check[] {
  const found = findings.filter(({ code }) => step.codes.includes(code))
  if (found.length > 0) return found.map(foundCheck)
  const reason = line.status_reason ?? ''
  if (!step.codes.includes(reason)) {
    return [{ state: 'ok', title: step.title, why: null, fix: null }]
  }
  const title = titles.get(reason) ?? 'The line is offline'
  return [{ state: 'bad', title, why: null, fix: line.status_hint }]
}

/** That the line is offline, where no other finding says why. */
function unexplained(findings: readonly HealthFinding[]): readonly Check[] {
  return findings
    .filter(({ code, depends_on }) => code === 'line_offline' && depends_on === null)
    .map(foundCheck)
}

const STATES: Readonly<Record<string, Check['state']>> = { info: 'info', error: 'bad' }

function foundCheck({ severity, title, why, fix }: HealthFinding): Check {
  return { state: STATES[severity] ?? 'warn', title, why, fix }
}

/** Behind a step that fails nothing is known. */
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
