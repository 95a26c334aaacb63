// How `hookline doctor` lays out what a relay reports, and what it does on a Mac: in this process, beside a
// stand-in for the relay, because the name of the system is an argument there.

import { expect, test } from 'bun:test'

import { Options, type Call } from '../../src/cli/command.ts'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { thisPlace } from '../../src/cli/service.ts'
import { laidOut } from '../../src/cli/table.ts'
import { loadConfig } from '../../src/config.ts'
import type { ProcessEnd, ProcessOrder } from '../../src/system/process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'
import { IN_PIPE, recordedOutput } from './recorded-output.ts'

type Row = Readonly<Record<string, unknown>>

/** Runs the command on a Mac, in this process, beside a stand-in with these lines and findings. */
async function askOnMac(
  told: {
    readonly lines?: readonly Row[]
    readonly findings: readonly Row[]
    readonly first_contacts?: readonly Row[]
  },
  args: { readonly isOpening?: boolean; readonly opened?: ProcessEnd } = {},
) {
  using folder = new ScratchFolder()
  using relay = new FakeRelay(folder.path, ({ path }) => {
    if (path.includes('/deliveries')) {
      const data = [{ last_error: null }, { last_error: 'Connection refused' }]
      return Response.json({ data })
    }
    const { first_contacts } = told
    if (path.includes('/stats')) return Response.json({ data: [], first_contacts })
    if (path.endsWith('/phones')) return Response.json({ error: {} }, { status: 404 })
    return Response.json({ data: path.endsWith('/health') ? told.findings : (told.lines ?? []) })
  })
  const orders: ProcessOrder[] = []
  const printed: string[] = []
  const command = doctorCommand({
    platform: 'darwin',
    findPlace: thisPlace,
    run: async (order) => {
      orders.push(order)
      return args.opened ?? { end: 'exited', exitCode: 0, stdout: '', stderr: '' }
    },
  })
  const exitCode = await command.run(callOf(folder, printed, args.isOpening ?? false))
  return { exitCode, printed, orders, asked: relay.asked.map(({ path }) => path) }
}

function callOf(folder: ScratchFolder, printed: string[], isOpening: boolean): Call {
  const given = { flags: {}, environment: {}, defaultDataDir: folder.path, folder: '/' }
  return {
    args: [],
    options: new Options(isOpening ? [['open', 'true']] : []),
    out: {
      ...recordedOutput().out,
      data: (_json, lines) => void printed.push(...laidOut(lines, IN_PIPE)),
      note: (line) => void printed.push(`note: ${laidOut([line], IN_PIPE).join()}`),
      problem: (message) => void printed.push(`problem: ${message}`),
    },
    surroundings: { args: [], environment: {}, folder: '/', isTerminal: false, columns: null },
    groups: [],
    loadConfig: () => loadConfig({ ...given, readText: () => null }),
  }
}

/** A finding as the API reports it. */
function told(code: string, more: Row = {}): Row {
  return {
    code,
    severity: 'error',
    title: `Title of ${code}`,
    why: `Why ${code}.`,
    fix: `Mend ${code}.`,
    line_id: null,
    about: { kind: 'relay', id: null },
    since: '2026-11-21T10:00:00.000Z',
    depends_on: null,
    ...more,
  }
}

test('all lines are asked for, not only the first page, and those that are online are counted as such', async () => {
  const lines = ['online', 'offline', 'online'].map((status) => ({ status }))

  const { asked, printed, exitCode } = await askOnMac({ lines, findings: [] })

  expect(asked).toEqual([
    '/api/v1/phone-lines?limit=200',
    '/api/v1/health',
    '/api/v1/phones',
    '/api/v1/settings',
    '/api/v1/stats?days=1',
  ])
  expect([printed, exitCode]).toEqual([['No issues. 2 lines online.'], 0])
})

test('a cause on another line explains nothing, one of the whole driver does', async () => {
  const lines = [
    { id: 'line_a', phone_number: '+12025550147', label: 'Front desk' },
    { id: 'line_b', phone_number: '+12025550148', label: null },
  ]
  const findings = [
    told('locked', { line_id: 'line_a' }),
    told('line_offline', { line_id: 'line_a', depends_on: 'locked' }),
    told('line_offline', { line_id: 'line_b', depends_on: 'locked' }),
    told('driver_failed', { depends_on: 'gone' }),
    told('line_offline', { line_id: 'line_c', depends_on: 'driver_failed' }),
  ]

  const { printed } = await askOnMac({ lines, findings })

  expect(printed.filter((line) => /^ *([0-9]\.|line )/.test(line))).toEqual([
    '1.  error: Title of locked',
    '    line  +1 202 555 0147 (Front desk)',
    '    2.  error: Title of line_offline (caused by 1)',
    '        line  +1 202 555 0147 (Front desk)',
    '3.  error: Title of line_offline',
    '    line  +1 202 555 0148',
    '4.  error: Title of driver_failed',
    '    5.  error: Title of line_offline (caused by 4)',
    '        line  line_c',
  ])
})

test('a finding about a webhook has its latest error, and the command that shows more', async () => {
  const about = { kind: 'webhook', id: 'wh_1' }

  const { printed } = await askOnMac({ findings: [told('webhook_failing', { about })] })

  expect(printed.slice(1, 7)).toEqual([
    '1.  error: Title of webhook_failing',
    '    why    Why webhook_failing.',
    '    error  Connection refused',
    '    run    hookline webhooks show wh_1',
    '    fix    Mend webhook_failing.',
    '    see    hookline guide webhooks',
  ])
})

test('findings that explain each other in a circle are each reported once', async () => {
  const findings = [
    told('a', { depends_on: 'b' }),
    told('b', { depends_on: 'a' }),
    told('c', { depends_on: 'c' }),
  ]

  const { printed, exitCode } = await askOnMac({ findings })

  expect(printed.filter((line) => /^ *[0-9]\./.test(line))).toEqual([
    '1.  error: Title of c',
    '2.  error: Title of a',
    '    3.  error: Title of b (caused by 2)',
  ])
  expect([printed.at(-1), exitCode]).toEqual(['3 problems', 5])
})

test('on a Mac the report shows the command that opens the pane with the fix', async () => {
  const codes = [
    'full_disk_access',
    'automation_denied',
    'webhook_out_of_reach',
    'auto_login_off',
    'other',
  ]

  const { printed } = await askOnMac({ findings: codes.map((code) => told(code)) })

  const pane = 'x-apple.systempreferences:com.apple.'
  expect(printed.filter((line) => line.startsWith('    open'))).toEqual([
    `    open  open "${pane}preference.security?Privacy_AllFiles"`,
    `    open  open "${pane}preference.security?Privacy_Automation"`,
    `    open  open "${pane}preference.security?Privacy_LocalNetwork"`,
    `    open  open "${pane}Users-Groups-Settings.extension"`,
  ])
})

test('--open opens the first pane that is shown, by its address alone', async () => {
  const findings = [
    told('other'),
    told('automation_denied', { depends_on: 'full_disk_access' }),
    told('full_disk_access'),
  ]

  const { orders, exitCode } = await askOnMac({ findings }, { isOpening: true })

  expect(orders).toEqual([
    {
      path: '/usr/bin/open',
      args: ['x-apple.systempreferences:com.apple.preference.security?Privacy_AllFiles'],
      timeoutMs: 10_000,
      killAfterMs: 13_000,
    },
  ])
  expect(exitCode).toBe(5)
})

test('nothing is opened unless asked for, nor where no pane would help', async () => {
  const unasked = await askOnMac({ findings: [told('full_disk_access')] })
  const useless = await askOnMac({ findings: [told('other')] }, { isOpening: true })

  expect([unasked.orders, useless.orders]).toEqual([[], []])
  expect(useless.printed.at(-1)).toBe('note: Nothing to change in System Settings.')
})

test.each<ProcessEnd>([
  { end: 'exited', exitCode: 1, stdout: '', stderr: 'no' },
  { end: 'killed', why: 'timeout', stdout: '', stderr: '' },
  { end: 'not_started', why: 'ENOENT' },
])('a pane that does not open (%j) is reported after the findings', async (opened) => {
  const findings = [told('full_disk_access')]

  const { printed, exitCode } = await askOnMac({ findings }, { isOpening: true, opened })

  expect([exitCode, ...printed.slice(-2)]).toEqual([
    5,
    '1 problem',
    'problem: System Settings did not open. Try: open "x-apple.systempreferences:com.apple.preference.security?Privacy_AllFiles"',
  ])
})

test('a snoozed finding is listed with its time, and fails no check', async () => {
  const snoozed_until = '2026-11-28T10:00:00.000Z'

  const { exitCode, printed } = await askOnMac({
    findings: [told('sleep_enabled', { snoozed_until })],
  })

  expect(exitCode).toBe(0)
  expect(printed).toContain(`1.  error: Title of sleep_enabled (snoozed until ${snoozed_until})`)
})

test('the people whom a line wrote to first are numbers above the findings, for lines that did', async () => {
  const figures = (people: number) => ({ people, answered: 1, failed: 2 })
  const none = { people: 0, answered: 0, failed: 0 }
  const first_contacts = [
    { phone_line_id: 'line_a', days_7: figures(3), days_28: figures(40) },
    { phone_line_id: 'line_b', days_7: none, days_28: none },
  ]
  const lines = [{ id: 'line_a', phone_number: '+12025550101', label: null, status: 'online' }]
  const { printed } = await askOnMac({ lines, findings: [], first_contacts })

  expect(printed.join('\n')).toContain(
    [
      'LINE             IN       WROTE TO FIRST  ANSWERED  FAILED',
      '+1 202 555 0101  7 days   3               1         2',
      '+1 202 555 0101  28 days  40              1         2',
    ].join('\n'),
  )
  expect(printed.join('\n')).not.toContain('line_b')
})
