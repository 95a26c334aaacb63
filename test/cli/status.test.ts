import { expect, test } from 'bun:test'

import { HostingRig, PAUSED, READY } from './hosting-rig.ts'

test('status gives a program everything', async () => {
  using rig = new HostingRig()
  rig.startRelay()

  const { exitCode, json } = await rig.run('status')

  expect(exitCode).toBe(0)
  expect(json).toEqual([
    {
      running: true,
      phase: 'running',
      reason: null,
      version: '1.2.3',
      address: 'http://127.0.0.1:4665',
      pid: process.pid,
      since: '2026-11-21T10:00:00.000Z',
      data_directory: rig.dataDir,
      service: {
        kind: 'systemd user service',
        is_installed: false,
        activity: 'running',
        pid: process.pid,
      },
      lines: [READY, PAUSED],
      findings: [],
    },
  ])
})

test('if nothing runs, status ends with 3 and says how to start', async () => {
  using rig = new HostingRig()

  const { exitCode, json, lines, notes } = await rig.run('status')

  expect([exitCode, notes]).toEqual([3, ['Start it: hookline up, or hookline serve']])
  expect(lines).toEqual([
    'relay    not running',
    `data     ${rig.dataDir}`,
    'service  not installed',
  ])
  expect(json).toEqual([
    {
      running: false,
      phase: null,
      reason: null,
      version: null,
      address: null,
      pid: null,
      since: null,
      data_directory: rig.dataDir,
      service: {
        kind: 'systemd user service',
        is_installed: false,
        activity: 'stopped',
        pid: null,
      },
      lines: [],
      findings: [],
    },
  ])
})

const PHASES = [
  [{}, { '/readyz': 503, '/api/v1/phone-lines': 503 }, 'starting'],
  [
    { '/readyz': { error: { code: 'stopping' } } },
    { '/readyz': 503, '/api/v1/phone-lines': 503 },
    'stopping',
  ],
  [{}, { '/api/v1/phone-lines': 503 }, 'checking its database'],
] as const

for (const [answers, statuses, phase] of PHASES) {
  test(`status knows a relay that is ${phase}`, async () => {
    using rig = new HostingRig()
    rig.startRelay(answers, statuses)

    const { exitCode, lines } = await rig.run('status')

    expect([exitCode, lines[0], lines.at(-1)]).toEqual([0, `relay    ${phase}`, 'issues   -'])
  })
}

test('status says why a relay is in safe mode, and that a person is needed', async () => {
  using rig = new HostingRig()
  const healthz = { status: 'safe_mode', reason: 'It is damaged.', next_step: 'Restore it.' }
  rig.startRelay({ '/healthz': healthz }, { '/api/v1/phone-lines': 503 })

  const { exitCode, lines, problems } = await rig.run('status')

  expect([exitCode, lines[0], problems]).toEqual([
    78,
    'relay    safe mode',
    ['It is damaged. Restore it.'],
  ])
})
