// Findings as the relay sees them: on a Mac, permissions belong to the relay, and this shell may have
// others.

import { platform } from 'node:os'

import { findingWords } from '../domain/finding.ts'
import { countWords } from '../domain/number-words.ts'
import { systemClock } from '../system/clock.ts'
import { processRunner, type RunProcess } from '../system/process.ts'
import { rowsOf, textOf, type Row } from './answers.ts'
import { EXIT, UsageError, type Call, type Command, type ExitCode } from './command.ts'
import { phoneLines, writeScreens } from './doctor-phones.ts'
import { runningRelay } from './own-file.ts'
import { fields } from './table.ts'

type DoctorTools = { readonly platform: string; readonly run: RunProcess }

/** Doctor for a platform; `run` opens System Settings. */
export function doctorCommand(tools: DoctorTools): Command {
  return {
    name: 'doctor',
    args: [],
    options: [
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
    run: (call) => examine(call, tools),
  }
}

export const DOCTOR_COMMAND = doctorCommand({
  platform: platform(),
  run: processRunner(systemClock),
})

/** Addresses of panes since macOS 13. Apple documents none; many programs open them so. */
const SETTINGS_APP = 'x-apple.systempreferences:com.apple.'
const PANES: ReadonlyMap<string, string> = new Map([
  ['full_disk_access', `${SETTINGS_APP}preference.security?Privacy_AllFiles`],
  ['automation_denied', `${SETTINGS_APP}preference.security?Privacy_Automation`],
  ['webhook_out_of_reach', `${SETTINGS_APP}preference.security?Privacy_LocalNetwork`],
  ['auto_login_off', `${SETTINGS_APP}Users-Groups-Settings.extension`],
])

/** Finding with its position, below the finding that explains it. */
type Placed = {
  readonly finding: Row
  readonly number: number
  readonly depth: number
  /** The number of the finding that explains it, or null. */
  readonly cause: number | null
}

async function examine(call: Call, tools: DoctorTools): Promise<ExitCode> {
  const isMac = tools.platform === 'darwin'
  if (call.options.has('open') && !isMac) throw new UsageError('--open works only on a Mac.')
  const client = await runningRelay(call)
  const lines = rowsOf((await client.ask('GET', '/phone-lines?limit=200')).body)
  const findings = rowsOf((await client.ask('GET', '/health')).body)
  // A relay of an earlier version has no such list.
  const phones = rowsOf((await client.look('/api/v1/phones')).body)

  const placed = place(findings)
  const problems = findings.filter((finding) => textOf(finding, 'severity') !== 'info')
  if (lines.length === 0) call.out.note('No lines yet.')
  call.out.data({ checks_failed: problems.length > 0, lines, findings, phones }, [
    ...phoneLines(phones),
    ...placed.flatMap((one) => [...describe(one, lines, isMac), '']),
    findingWords(findings) ?? noIssues(lines),
  ])
  if (call.options.has('open')) await openFirstPane(call, placed, tools.run)
  const folder = call.options.get('screens')
  if (folder !== undefined) writeScreens(call, phones, folder)
  return problems.length > 0 ? EXIT.checksFailed : EXIT.ok
}

/** In the order of the relay, errors first, but each cause before and above what it explains. */
function place(findings: readonly Row[]): readonly Placed[] {
  const causes = new Map(findings.map((finding) => [finding, causeOf(finding, findings)]))
  const placed = new Map<Row, Placed>()
  const add = (finding: Row, cause: Placed | null) => {
    if (placed.has(finding)) return
    const depth = cause === null ? 0 : cause.depth + 1
    const one = { finding, number: placed.size + 1, depth, cause: cause?.number ?? null }
    placed.set(finding, one)
    for (const [other, itsCause] of causes) if (itsCause === finding) add(other, one)
  }
  for (const [finding, cause] of causes) if (cause === null) add(finding, null)
  // Findings that explain each other in a circle have no first one.
  for (const finding of findings) add(finding, null)
  return [...placed.values()]
}

/** The finding that explains `finding`: one of its own line before one of no line. */
function causeOf(finding: Row, findings: readonly Row[]): Row | null {
  const code = textOf(finding, 'depends_on')
  const line = textOf(finding, 'line_id')
  const named = findings.filter((other) => other !== finding && textOf(other, 'code') === code)
  const ofLine = named.find((other) => textOf(other, 'line_id') === line)
  return ofLine ?? named.find((other) => [line, textOf(other, 'line_id')].includes('')) ?? null
}

function describe(
  { finding, number, depth, cause }: Placed,
  lines: readonly Row[],
  isMac: boolean,
): readonly string[] {
  const because = cause === null ? '' : ` (caused by ${cause})`
  const head = `${textOf(finding, 'severity')}: ${textOf(finding, 'title')}${because}`
  const line = nameOf(textOf(finding, 'line_id'), lines)
  const pane = isMac ? paneOf(finding) : null
  const more: readonly (readonly [string, string])[] = [
    ...(line === null ? [] : [['line', line] as const]),
    ['why', textOf(finding, 'why')],
    ['fix', textOf(finding, 'fix')],
    ...(pane === null ? [] : [['open', openingOf(pane)] as const]),
  ]
  const rows = [...fields([[`${number}.`, head]]), ...fields(more).map((row) => `    ${row}`)]
  return rows.map((row) => '    '.repeat(depth) + row)
}

/** Number and label of a line; null where the finding has no line. */
function nameOf(id: string, lines: readonly Row[]): string | null {
  if (id === '') return null
  const line = lines.find((one) => textOf(one, 'id') === id)
  if (line === undefined) return id
  const label = textOf(line, 'label')
  return textOf(line, 'phone_number') + (label === '' ? '' : ` (${label})`)
}

function paneOf(finding: Row): string | null {
  return PANES.get(textOf(finding, 'code')) ?? null
}

function openingOf(pane: string): string {
  return `open "${pane}"`
}

function noIssues(lines: readonly Row[]): string {
  const online = lines.filter((line) => textOf(line, 'status') === 'online')
  return `No issues. ${countWords(online.length, 'line')} online.`
}

async function openFirstPane(
  call: Call,
  placed: readonly Placed[],
  run: RunProcess,
): Promise<void> {
  const pane = placed.map(({ finding }) => paneOf(finding)).find((one) => one !== null)
  if (pane === undefined) return call.out.note('Nothing to change in System Settings.')
  const never = new AbortController().signal
  const times = { timeoutMs: 10_000, killAfterMs: 13_000 }
  const end = await run({ path: '/usr/bin/open', args: [pane], ...times }, never)
  if (end.end === 'exited' && end.exitCode === 0) return
  call.out.problem(`System Settings did not open. Try: ${openingOf(pane)}`)
}
