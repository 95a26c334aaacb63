// `hookline doctor`, asked as a person asks it, of a relay whose devices have what a test gives them.

import { expect, test } from 'bun:test'

import type { FindingCode } from '../../src/domain/finding-codes.ts'
import type { Finding } from '../../src/domain/finding.ts'
import type { LineDriver } from '../../src/lines/driver.ts'
import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { systemRandom } from '../../src/system/random.ts'
import { on } from '../support/command-line.ts'
import type { CommandResult } from '../support/executable.ts'
import { testNeeding } from '../support/needs.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type TestRelay } from '../support/test-relay.ts'
import { FakeRelay } from './fake-relay.ts'

const OWNER = { address: null, isControl: true, liftTimeout: () => {} }

/** Devices of a Mac of which a test says what is wrong. */
class AilingDriver extends ScriptedDriver {
  ailments: readonly Finding[] = []

  override async checkup(): Promise<readonly Finding[]> {
    return this.ailments
  }
}

function ailment(code: FindingCode, more: Partial<Finding> = {}): Finding {
  return {
    code,
    severity: 'error',
    title: `Title of ${code}`,
    why: `Why ${code}.`,
    fix: `Mend ${code}.`,
    key: null,
    depends_on: null,
    ...more,
  }
}

/** Runs the command beside a relay with these drivers. */
async function askRelay(
  drivers: readonly LineDriver[],
  options = '',
  clock = new TestClock(),
): Promise<CommandResult & { readonly lines: Awaited<ReturnType<TestRelay['lines']>> }> {
  using folder = new ScratchFolder()
  await using relay = await startRelay({ drivers, clock })
  const server = Bun.serve({
    unix: dataDirectoryAt(folder.path).controlSocket,
    fetch: (request) => relay.app.http.fetch(request, OWNER),
  })
  const finished = await on(folder, `doctor ${options}`)
  await server.stop(true)
  return { ...finished, lines: await relay.lines() }
}

test('findings are numbered, errors first, each below the one that explains it', async () => {
  const driver = new AilingDriver()
  driver.add('+12025550147')
  driver.add('+12025550148', false)
  driver.ailments = [
    ailment('staging_denied', { severity: 'info' }),
    ailment('sleep_enabled', { severity: 'warning' }),
    ailment('full_disk_access'),
    ailment('automation_denied', { key: 'device-1', depends_on: 'full_disk_access' }),
  ]

  const { exitCode, stdout, stderr } = await askRelay([driver])

  expect(stderr).toBe('')
  expect(stdout.split('\n')).toEqual([
    '1.  error: Title of full_disk_access',
    '    why  Why full_disk_access.',
    '    fix  Mend full_disk_access.',
    '    see  hookline guide mac',
    '',
    '    2.  error: Title of automation_denied (caused by 1)',
    '        line  +1 202 555 0147',
    '        why   Why automation_denied.',
    '        fix   Mend automation_denied.',
    '        see   hookline guide mac',
    '',
    '    3.  warning: The line +12025550148 is offline (caused by 1)',
    '        line  +1 202 555 0148',
    '        why   Outgoing messages wait until it is back, for up to 24 hours.',
    '        fix   Plug it in.',
    '',
    '4.  warning: Title of sleep_enabled',
    '    why  Why sleep_enabled.',
    '    fix  Mend sleep_enabled.',
    '    see  hookline guide operations',
    '',
    '5.  info: Title of staging_denied',
    '    why  Why staging_denied.',
    '    fix  Mend staging_denied.',
    '',
    '2 problems, 2 warnings',
    '',
  ])
  expect(exitCode).toBe(5)
})

test('where lines are online and nothing is wrong, all is well', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const simulatedLedgerPath = folder.file('simulated.db')
  const options = { lineCount: 2, delayMs: 0, ledgerPath: simulatedLedgerPath }
  const drivers = [createSimulatedDriver({ relayClock: clock, random: systemRandom }, options)]

  const { exitCode, stdout, stderr } = await askRelay(drivers, '', clock)

  expect([exitCode, stdout, stderr]).toEqual([0, 'No issues. 2 lines online.\n', ''])
})

test.each([
  ['info', 0, 'No issues. 1 line online.'],
  ['warning', 5, '1 warning'],
] as const)('a finding that is %s alone ends with %d: "%s"', async (severity, exits, last) => {
  const driver = new AilingDriver()
  driver.add('+12025550147')
  driver.ailments = [ailment('staging_denied', { severity })]

  const { exitCode, stdout } = await askRelay([driver])

  expect(stdout).toStartWith(`1.  ${severity}: Title of staging_denied\n`)
  expect([exitCode, stdout.split('\n').at(-2)]).toEqual([exits, last])
})

test('--json gives lines and findings as the API has them, and fails all the same', async () => {
  const driver = new AilingDriver()
  driver.add('+12025550147')
  driver.ailments = [ailment('full_disk_access', { key: 'device-1' })]

  const { exitCode, stdout, lines } = await askRelay([driver], '--json')

  expect(JSON.parse(stdout)).toEqual({
    checks_failed: true,
    lines,
    findings: [
      {
        code: 'full_disk_access',
        severity: 'error',
        title: 'Title of full_disk_access',
        why: 'Why full_disk_access.',
        fix: 'Mend full_disk_access.',
        about: { kind: 'line', id: lines[0].id },
        line_id: lines[0].id,
        since: '2026-11-21T10:00:00.000Z',
        depends_on: null,
      },
    ],
    phones: [],
    first_contacts: [
      {
        phone_line_id: lines[0].id,
        days_7: { people: 0, answered: 0, failed: 0 },
        days_28: { people: 0, answered: 0, failed: 0 },
      },
    ],
  })
  expect(exitCode).toBe(5)
})

test('a relay without a line gets a notice, and no check failed', async () => {
  const shown = await askRelay([])
  const { exitCode, stdout } = await askRelay([], '--json')

  expect(shown.stdout).toBe('No lines yet.\nNo issues. 0 lines online.\n')
  expect([exitCode, JSON.parse(stdout)]).toEqual([
    0,
    { checks_failed: false, lines: [], findings: [], phones: [], first_contacts: [] },
  ])
})

test('a relay that answers with an error is no healthy one', async () => {
  using folder = new ScratchFolder()
  const error = { error: { code: 'starting', message: 'The relay is starting.' } }
  using _relay = new FakeRelay(folder.path, () => Response.json(error, { status: 503 }))

  const run = await on(folder, 'doctor')

  expect(run).toEqual({ exitCode: 1, stdout: '', stderr: 'hookline: The relay is starting.\n' })
})

testNeeding('another system than macOS', process.platform !== 'darwin')(
  '--open is refused if there is no such pane',
  async () => {
    using folder = new ScratchFolder()

    const run = await on(folder, 'doctor --open')

    expect([run.exitCode, run.stderr]).toEqual([2, 'hookline: --open works only on a Mac.\n'])
  },
)
