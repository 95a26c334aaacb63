import { expect, test } from 'bun:test'

import type { HealthFinding } from '../../src/api/health.ts'
import type { PhoneLine } from '../../src/api/phone-lines.ts'
import { checklist as checklistOf } from '../../src/health/checklist.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { phoneLine } from '../dashboard/samples.ts'
import { finding } from '../http/dashboard-samples.ts'

function checklist(line: PhoneLine, findings: readonly HealthFinding[]) {
  const kind = LINE_KINDS.find(({ name }) => name === line.driver)
  return kind === undefined ? [] : checklistOf({ ...kind, reset: 'midnight UTC' }, line, findings)
}

test('a line of which nobody says anything bad passes every check', () => {
  const checks = checklist(phoneLine({ driver: 'mac' }), [])

  expect(checks.map(({ state }) => state)).toEqual(Array.from({ length: 10 }, () => 'ok'))
})

test('what fails is reported with why and fix, and nothing behind it counts as known', () => {
  const line = phoneLine({
    driver: 'mac',
    status: 'offline',
    status_reason: 'messages_not_running',
  })
  const findings = [
    finding({ code: 'messages_not_running', severity: 'error', line_id: line.id }),
    finding({ code: 'line_offline', line_id: line.id, depends_on: 'messages_not_running' }),
  ]

  const checks = checklist(line, findings)

  expect(checks.map(({ state, title }) => `${state}: ${title}`)).toEqual([
    "ok: This line's Mac is here",
    'ok: Hookline can read messages',
    'ok: A user is logged in on the Mac',
    'bad: About messages_not_running',
    'unknown: Hookline can control Messages',
    'unknown: Messages is signed in to iMessage',
    "unknown: Messages sends from this line's number",
    'ok: Hookline can put files where Messages reads them',
    'ok: The Mac stays awake and restarts after a power cut',
    'ok: New contacts left for today',
  ])
  expect(checks[3]).toEqual({
    state: 'bad',
    title: 'About messages_not_running',
    why: 'Why.',
    fix: 'Fix.',
  })
})

test('an iPhone is asked what it climbs by, and of iMessage that is off it is said once', () => {
  const line = phoneLine({ driver: 'iphone', imessage_active: false })
  const findings = [finding({ code: 'imessage_off', severity: 'error', line_id: line.id })]

  const checks = checklist(line, findings)

  expect(checks.map(({ state, title }) => `${state}: ${title}`)).toEqual([
    'ok: The iPhone is plugged in',
    'ok: It trusts this computer',
    'ok: iOS version, settings and battery are fine',
    "ok: The agent's launcher is ready",
    'ok: The agent is running and responding',
    'ok: Messages is visible on its screen',
    'bad: About imessage_off',
    "unknown: It has this line's number",
    'ok: New contacts left for today',
  ])
})

const LINE_ID = phoneLine().id
const OFFLINE = { driver: 'mac', status: 'offline' } as const

const FAULTS: readonly (readonly [
  what: string,
  line: Partial<PhoneLine>,
  findings: readonly HealthFinding[],
  faults: readonly string[],
])[] = [
  [
    'the machine of a Mac line is part of its checks, each fault on its own',
    { driver: 'mac' },
    [finding({ code: 'sleep_enabled' }), finding({ code: 'autorestart_off' })],
    ['warn: About sleep_enabled', 'warn: About autorestart_off'],
  ],
  [
    'another line, and what is not about lines at all, is not told',
    {},
    [
      finding({ code: 'several_numbers', line_id: 'line_other' }),
      finding({ code: 'storage_full', severity: 'error' }),
      finding({ code: 'sleep_enabled' }),
    ],
    [],
  ],
  [
    'a finding that no check asks for is told after them',
    { is_enabled: false },
    [finding({ code: 'possible_loop', line_id: LINE_ID })],
    ['warn: The line is paused', 'warn: About possible_loop'],
  ],
  [
    'a line at its limit is told once, by the check that asks for room',
    { new_contacts_today: 50 },
    [finding({ code: 'limit_reached', line_id: LINE_ID })],
    ['warn: No new contacts left for today'],
  ],
  [
    'a reason for being offline that has no finding of its own is told',
    { ...OFFLINE, status_reason: 'device_absent', status_hint: 'Plug it in.' },
    [finding({ code: 'line_offline', line_id: LINE_ID })],
    ['bad: The device is not connected'],
  ],
  [
    'a line that is offline for a reason that no check knows says so',
    { status: 'offline', status_reason: 'simulated_outage' },
    [finding({ code: 'line_offline', line_id: LINE_ID })],
    ['warn: About line_offline'],
  ],
  [
    'a full day is a fault',
    { new_contacts_today: 50 },
    [],
    ['warn: No new contacts left for today'],
  ],
  [
    'missing iMessage is a fault',
    { imessage_active: false },
    [],
    ['bad: iMessage is not active on this line'],
  ],
  [
    'a limit of 0 is a choice',
    { daily_contact_limit: 0 },
    [],
    ["info: This line doesn't message new contacts"],
  ],
]

test.each(FAULTS)('%s', (_what, line, findings, faults) => {
  const checks = checklist(phoneLine(line), findings)

  const found = checks.filter(({ state }) => state !== 'ok' && state !== 'unknown')
  expect(found.map(({ state, title }) => `${state}: ${title}`)).toEqual([...faults])
})

test('a line by Shortcuts is asked for its bridge and for a shortcut that runs', () => {
  const line = phoneLine({ driver: 'shortcuts', status: 'offline', status_hint: 'Start it.' })

  const silent = checklist({ ...line, status_reason: 'shortcut_silent' }, [])
  const removed = checklist({ ...line, status_reason: 'device_absent' }, [])

  expect(silent.map(({ state, title }) => `${state}: ${title}`)).toEqual([
    "ok: This line's bridge exists",
    'bad: No shortcut has checked for messages recently',
    'ok: New contacts left for today',
  ])
  expect(silent[1]?.fix).toBe('Start it.')
  expect(removed.map(({ state }) => state)).toEqual(['bad', 'unknown', 'ok'])
})
