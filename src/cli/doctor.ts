// `hookline doctor`. The relay reports its own findings: on a Mac, permissions belong to the relay, and this
// shell may have others.

import { mkdirSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'

import type { HealthFinding } from '../api/health.ts'
import type { Phone } from '../api/owner.ts'
import type { PhoneLine } from '../api/phone-lines.ts'
import { findingRow } from '../domain/finding-codes.ts'
import { findingWords } from '../domain/finding.ts'
import { groupedNumber } from '../domain/handle.ts'
import { countWords } from '../domain/number-words.ts'
import { type FindingTree, findingTrees } from '../health/causes.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import { isOfBox } from '../system/data-directory.ts'
import { writeFileAtomically } from '../system/files.ts'
import { type RunProcess, processRunner } from '../system/process.ts'
import { boxDoctor } from './box.ts'
import { type Call, type Command, EXIT, type ExitCode, UsageError } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { clientOf, runningRelay } from './own-file.ts'
import { repair, repairLines, type Repaired } from './repairs.ts'
import { openServiceCall, thisPlace, type FindPlace } from './service.ts'
import { fields, stateCell, table, type Line } from './table.ts'

/** This machine; `run` opens System Settings. */
type DoctorHost = {
  readonly platform: string
  readonly run: RunProcess
  readonly findPlace: FindPlace
}

export function doctorCommand(host: DoctorHost): Command {
  return {
    name: 'doctor',
    options: [
      {
        name: 'fix',
        value: null,
        sentence: 'First repair permissions, leftovers of a crash and the service. Asks before.',
      },
      { name: 'yes', value: null, sentence: 'With --fix: do not ask.' },
      {
        name: 'open',
        value: null,
        sentence: 'Mac: open the first System Settings pane that needs a change.',
      },
      {
        name: 'screens',
        value: 'FOLDER',
        sentence: 'Save unrecognized iPhone screens to a folder, to report them.',
      },
    ],
    sentence: 'Find problems, and show how to fix them.',
    run: (call) => examine(call, host),
  }
}

export const DOCTOR_COMMAND = doctorCommand({
  platform: platform(),
  run: processRunner(systemClock),
  findPlace: thisPlace,
})

/** URLs of panes since macOS 13. Apple documents none of them; many programs use them. */
const SETTINGS_APP = 'x-apple.systempreferences:com.apple.'
const PANES: ReadonlyMap<string, string> = new Map([
  ['full_disk_access', `${SETTINGS_APP}preference.security?Privacy_AllFiles`],
  ['automation_denied', `${SETTINGS_APP}preference.security?Privacy_Automation`],
  ['webhook_out_of_reach', `${SETTINGS_APP}preference.security?Privacy_LocalNetwork`],
  ['auto_login_off', `${SETTINGS_APP}Users-Groups-Settings.extension`],
])

/** A finding with its number in the report; `cause` is the number of its cause. */
type Listed = {
  readonly finding: HealthFinding
  readonly number: number
  readonly depth: number
  readonly cause: number | null
}

async function examine(call: Call, host: DoctorHost): Promise<ExitCode> {
  const service = openServiceCall(call, host.findPlace)
  if (isOfBox(service.directory)) {
    if (call.options.has('fix')) call.out.data({}, repairLines(await repair(service)))
    return boxDoctor(service)
  }
  const isMac = host.platform === 'darwin'
  if (call.options.has('open') && !isMac) throw new UsageError('--open works only on a Mac.')
  const fixed = await repairFirst(call, host)
  const client = await runningRelay(call)
  const { data: lines } = await client.ask('listPhoneLines', { query: { limit: '200' } })
  const { data: findings } = await client.ask('listHealthFindings')
  // A relay of an earlier version has no list of phones.
  const phones = (await client.find('listPhones'))?.data ?? []

  const first = await firstContacts(client, lines)

  const listed = listedIn(findingTrees(findings))
  const more = await webhookFacts(client, findings)
  const online = lines.filter((line) => line.status === 'online')
  const problems = findings.filter(
    ({ severity, snoozed_until }) => severity !== 'info' && snoozed_until === undefined,
  )
  if (lines.length === 0) call.out.note('No lines yet.')
  const facts = { lines, findings, phones, first_contacts: first.data }
  call.out.data({ checks_failed: problems.length > 0, ...fixed, ...facts }, [
    ...repairLines(fixed.repairs),
    ...phoneLines(phones),
    ...first.shown,
    ...listed.flatMap((one) => [...describe(one, { lines, isMac, more }), '']),
    findingWords(findings) ?? `No issues. ${countWords(online.length, 'line')} online.`,
  ])
  if (call.options.has('open')) await openFirstPane(call, listed, host.run)
  const folder = call.options.get('screens')
  if (folder !== undefined) writeScreens(call, phones, folder)
  return problems.length > 0 ? EXIT.checksFailed : EXIT.ok
}

/** The number of people to whom each line wrote first, and how many answered. Only figures, no finding. */
async function firstContacts(client: ControlClient, lines: readonly PhoneLine[]) {
  const settings = (await client.find('listSettings'))?.data ?? []
  const time_zone = settings.find(({ name }) => name === 'time_zone')?.value
  const stats = await client.find('getStats', { query: { days: '1', time_zone } })
  const data = stats?.first_contacts ?? []
  const used = data.filter(({ days_28 }) => days_28.people + days_28.failed > 0)
  const rows = used.flatMap(({ phone_line_id, ...times }) =>
    [times.days_7, times.days_28].map(({ people, answered, failed }, n) => {
      return [
        nameOf(phone_line_id, lines),
        n === 0 ? '7 days' : '28 days',
        people,
        answered,
        failed,
      ]
    }),
  )
  const head = ['LINE', 'IN', 'WROTE TO FIRST', 'ANSWERED', 'FAILED']
  return { data, shown: rows.length === 0 ? [] : [table(head, rows), ''] }
}

/** Repairs if `--fix` is given, and prints the repairs if no relay runs that could be examined. */
async function repairFirst(
  call: Call,
  { findPlace }: DoctorHost,
): Promise<{ readonly repairs?: readonly Repaired[] }> {
  if (!call.options.has('fix')) return {}
  const repairs = await repair(openServiceCall(call, findPlace))
  if (!(await clientOf(call).isThere())) call.out.data({ repairs }, repairLines(repairs))
  return { repairs }
}

/** Numbers findings from the top down, each cause before its consequences. */
function listedIn(
  trees: readonly FindingTree[],
  depth = 0,
  cause: number | null = null,
  first = 1,
): readonly Listed[] {
  const listed: Listed[] = []
  for (const { finding, consequences } of trees) {
    const number = first + listed.length
    listed.push({ finding, number, depth, cause })
    listed.push(...listedIn(consequences, depth + 1, number, number + 1))
  }
  return listed
}

function describe(
  { finding, number, depth, cause }: Listed,
  known: {
    readonly lines: readonly PhoneLine[]
    readonly isMac: boolean
    readonly more: Awaited<ReturnType<typeof webhookFacts>>
  },
): readonly Line[] {
  const { lines, isMac } = known
  const because = cause === null ? '' : ` (caused by ${cause})`
  const { snoozed_until } = finding
  const snoozed = snoozed_until === undefined ? '' : ` (snoozed until ${snoozed_until})`
  const head = `${finding.severity}: ${finding.title}${because}${snoozed}`
  const line = nameOf(finding.line_id, lines)
  const pane = isMac ? PANES.get(finding.code) : undefined
  const { guide } = findingRow(finding.code)
  const more: readonly (readonly [string, string])[] = [
    ...(line === null ? [] : [['line', line] as const]),
    ['why', finding.why],
    ...(known.more.get(finding.about.id ?? '') ?? []),
    ['fix', finding.fix],
    ...(guide === null ? [] : [['see', `hookline guide ${guide.split('#')[0]}`] as const]),
    ...(pane === undefined ? [] : [['open', `open "${pane}"`] as const]),
  ]
  const indent = '    '.repeat(depth)
  return [fields([[`${number}.`, stateCell(head)]], indent), fields(more, `    ${indent}`)]
}

/** The latest error of each webhook with a finding, and the command that shows more, by its id. */
async function webhookFacts(
  client: ControlClient,
  findings: readonly HealthFinding[],
): Promise<ReadonlyMap<string, readonly (readonly [string, string])[]>> {
  const facts = new Map<string, readonly (readonly [string, string])[]>()
  for (const { about } of findings) {
    const { kind, id } = about
    if (kind !== 'webhook' || id === null) continue
    const call = { params: { id }, query: { limit: '20' } }
    const deliveries = (await client.find('listWebhookDeliveries', call))?.data ?? []
    const error = deliveries.find(({ last_error }) => last_error !== null)?.last_error
    const cause = error ? [['error', error] as const] : []
    facts.set(id, [...cause, ['run', `hookline webhooks show ${id}`]])
  }
  return facts
}

function nameOf(id: string | null, lines: readonly PhoneLine[]): string | null {
  const line = lines.find((one) => one.id === id)
  if (line === undefined) return id
  const { label } = line
  const number = groupedNumber(line.phone_number)
  return label === null || label === '' ? number : `${number} (${label})`
}

async function openFirstPane(call: Call, listed: readonly Listed[], run: RunProcess) {
  const pane = listed.map(({ finding }) => PANES.get(finding.code)).find(Boolean)
  if (pane === undefined) return call.out.note('Nothing to change in System Settings.')
  const times = { timeoutMs: 10_000, killAfterMs: 13_000 }
  const end = await run({ path: '/usr/bin/open', args: [pane], ...times }, NEVER)
  if (end.end === 'exited' && end.exitCode === 0) return
  call.out.problem(`System Settings did not open. Try: open "${pane}"`)
}

function phoneLines(phones: readonly Phone[]): readonly Line[] {
  return phones.flatMap((phone) => {
    const states = statesOf(phone)
    return [`${headOf(phone)}${states.length === 0 ? ': online' : ''}`, ...states, '']
  })
}

/** Writes a file for each phone that shows an unknown screen. */
function writeScreens(call: Call, phones: readonly Phone[], folder: string): void {
  const unknown = phones.filter(({ unknown_screen }) => unknown_screen !== null)
  if (unknown.length === 0)
    call.out.note('No iPhone has shown a screen that Hookline does not know.')
  for (const phone of unknown) {
    const path = join(folder, `screen-${endOf(phone.key)}.txt`)
    mkdirSync(folder, { recursive: true })
    writeFileAtomically(path, `${headOf(phone)}\n${phone.unknown_screen}\n`)
    call.out.note(`The screen of the iPhone is in ${path}: no text, name or number is in it.`)
  }
}

/** Has neither the name nor the whole id, because it heads a file that is sent to others. */
function headOf({ key, ios_version, battery_percent }: Phone): string {
  const facts = [
    `iPhone …${endOf(key)}`,
    ...(ios_version === null ? [] : [`iOS ${ios_version}`]),
    ...(battery_percent === null ? [] : [`battery ${battery_percent} %`]),
  ]
  return facts.join(', ')
}

function endOf(key: string): string {
  return key.slice(-6)
}

/** A row for each stage up to the first one that isn't reached, with its reason. Empty if all are reached. */
function statesOf({ states, stop }: Phone): readonly Line[] {
  const reached = states.filter(({ is_reached }) => is_reached)
  const next = states[reached.length]
  if (next === undefined) return []
  const rows = [
    // Every listed phone has reached the first stage.
    ...reached.slice(1).map(({ state }) => [inWords(state), 'yes'] as const),
    [inWords(next.state), stop === null ? 'not yet' : `no: ${stop.title}`] as const,
  ]
  return [fields(rows, '    ')]
}

function inWords(state: string): string {
  return state.replaceAll('_', ' ')
}
