import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'

import { NoRelayError } from '../../src/cli/command.ts'
import { HostingRig } from './hosting-rig.ts'

const INSTALLING = ['enable-linger', 'daemon-reload', 'enable']

test('up installs, starts, waits until the relay answers, and says how it is', async () => {
  using rig = new HostingRig()
  rig.onStart = () => rig.startRelay()

  const { exitCode, lines, notes } = await rig.run('up')

  expect(rig.verbs()).toEqual([...INSTALLING, 'start'])
  expect([exitCode, notes]).toEqual([0, []])
  expect(lines).toEqual([
    'relay    running',
    'version  1.2.3',
    'address  http://127.0.0.1:4665',
    'since    2026-11-21T10:00:00.000Z',
    `data     ${rig.dataDir}`,
    `service  systemd user service, running (process ${process.pid})`,
    'lines    1 of 2 ready',
    'issues   none',
  ])
})

test('up reports what is missing, and the next step', async () => {
  using rig = new HostingRig()
  const finding = { severity: 'error', title: 'No permission', fix: 'Give it.', code: 'x' }
  const answers = {
    '/api/v1/health': { data: [finding] },
    '/api/v1/keys?limit=1': { data: [] },
    '/api/v1/phone-lines': { data: [] },
  }
  rig.onStart = () => rig.startRelay(answers)

  const { exitCode, lines, notes } = await rig.run('up')

  expect(exitCode).toBe(0)
  expect(lines.slice(-5)).toEqual([
    'lines    none yet',
    'issues   1 problem',
    '',
    'error: No permission',
    '  Give it.',
  ])
  expect(notes).toEqual([
    'Next, create an API key: hookline keys create',
    `To try it without a device, add HOOKLINE_SIMULATED_LINES=2 to ${rig.environmentFile}, ` +
      'then run: hookline down, hookline up',
  ])
})

test('up shows the link to the dashboard as long as that has no password', async () => {
  using rig = new HostingRig()
  rig.onStart = () =>
    rig.startRelay({
      '/api/v1/about': { version: '1.2.3', is_claimed: false },
      '/api/v1/setup-link': { url: 'http://127.0.0.1:4665/#/setup/abc', lan_url: null },
    })

  const { notes } = await rig.run('up')

  expect(notes).toContain('http://127.0.0.1:4665/#/setup/abc')
})

test('up opens the link where a person sits at the screen, and not over ssh', async () => {
  const link = { url: 'http://127.0.0.1:4665/#/setup/abc', lan_url: null }
  const path = process.env['PATH'] ?? ''
  const opened = async (environment: Readonly<Record<string, string>>, line = 'up') => {
    using rig = new HostingRig()
    writeFileSync(rig.folder.file('xdg-open'), '', { mode: 0o755 })
    process.env['PATH'] = `${rig.folder.path}:${path}`
    rig.isTerminal = true
    const about = { version: '1.2.3', is_claimed: false }
    rig.onStart = () => rig.startRelay({ '/api/v1/about': about, '/api/v1/setup-link': link })
    await rig.run(line, environment).finally(() => (process.env['PATH'] = path))
    return rig.tools.calls.filter(([tool]) => tool?.endsWith('xdg-open')).map(([, url]) => url)
  }

  expect(await opened({ DISPLAY: ':0' })).toEqual([link.url])
  expect(await opened({})).toEqual([])
  expect(await opened({ DISPLAY: ':0', SSH_TTY: '/dev/pts/1' })).toEqual([])
  expect(await opened({ DISPLAY: ':0' }, 'up --no-open')).toEqual([])
})

test('up leaves a relay alone that is what is installed', async () => {
  using rig = await HostingRig.withService()
  rig.onStart = () => {}

  const { exitCode } = await rig.run('up')

  expect([exitCode, rig.verbs()]).toEqual([0, [...INSTALLING, 'start']])
})

test('up starts a relay again whose executable was replaced', async () => {
  using rig = await HostingRig.withService()
  writeFileSync(rig.executable, 'a newer one')

  const { exitCode } = await rig.run('up')

  expect([exitCode, rig.verbs()]).toEqual([0, [...INSTALLING, 'stop', 'start']])
})

test('up waits 30 seconds for an answer, and then names the log', async () => {
  using rig = new HostingRig()
  rig.onStart = () => rig.startRelay({}, { '/readyz': 503, '/api/v1/phone-lines': 503 })

  const ended = rig.run('up').catch((error: unknown) => String(error))
  const told = await rig.advanceUntil(ended)

  expect(told).toStartWith(
    'HostingError: The service did not respond within 30 seconds. See its log: hookline logs',
  )
  expect(rig.clock.monotonic()).toBeGreaterThanOrEqual(30_000)
})

test('up is content with a relay that checks what an upgrade made of its database', async () => {
  using rig = new HostingRig()
  rig.onStart = () => rig.startRelay({}, { '/api/v1/phone-lines': 503 })

  const { exitCode, lines, notes } = await rig.run('up')

  expect([exitCode, lines[0]]).toEqual([0, 'relay    checking its database'])
  expect(notes).toEqual(['It is checking its database first. Follow it with: hookline status'])
})

test.each(['up', 'restart', 'down'])(
  '%s leaves a relay in the foreground to the person who started it',
  async (line) => {
    using rig = new HostingRig()
    rig.startInForeground()

    const { exitCode, problems } = await rig.run(line)

    expect([exitCode, problems]).toEqual([
      1,
      [`A relay is running in the foreground (process ${process.pid}). Stop it with Ctrl-C.`],
    ])
    expect(rig.verbs()).toEqual([])
  },
)

test('a relay that the service did not start is foreign, though the service runs too', async () => {
  using rig = new HostingRig()
  rig.startRelay()
  rig.shown = 'MainPID=1\nActiveState=active\n'

  expect((await rig.run('up')).exitCode).toBe(1)
})

test('up says which options of this shell the service will not see', async () => {
  using rig = new HostingRig()
  rig.onStart = () => rig.startRelay()

  const { notes } = await rig.run('up', { HOOKLINE_PORT: '5000' })

  expect(notes).toEqual([
    `HOOKLINE_PORT is set in this shell only. For the service, add it to ${rig.environmentFile}`,
  ])
})

test('restart stops the service, starts it, and shows how it is; without one it says so', async () => {
  using rig = await HostingRig.withService()
  using without = new HostingRig()

  const { exitCode, lines } = await rig.run('restart')
  const missing = await without.run('restart')

  expect([exitCode, lines[0], rig.verbs()]).toEqual([0, 'relay    running', ['stop', 'start']])
  expect([missing.exitCode, missing.problems, without.verbs()]).toEqual([
    3,
    ['No service is installed. Install and start it: hookline up'],
    [],
  ])
})

test('open prints the address over ssh, and a link to set the password while there is none', async () => {
  using rig = new HostingRig()
  await expect(rig.run('open')).rejects.toBeInstanceOf(NoRelayError)
  rig.startRelay()

  const claimed = await rig.run('open', { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' })
  rig.endRelay()
  rig.startRelay({
    '/api/v1/about': { version: '1.2.3', is_claimed: false },
    '/api/v1/setup-link': { url: 'http://127.0.0.1:4665/#/setup/abc', lan_url: null },
  })
  const unclaimed = await rig.run('open')

  expect(claimed.lines).toEqual(['http://127.0.0.1:4665'])
  expect(claimed.notes).toEqual([
    'From your own computer: ssh -L 4665:127.0.0.1:4665 HOST, then open it there.',
  ])
  expect(unclaimed.json).toEqual([{ url: 'http://127.0.0.1:4665/#/setup/abc', opened: false }])
})

test('a relay on every address is opened on this machine, by HTTPS if it has a certificate', async () => {
  using rig = new HostingRig()
  const opened = async (address: string) => {
    rig.address = address
    rig.startRelay()
    const { lines } = await rig.run('open')
    rig.endRelay()
    return lines
  }

  expect(await opened('0.0.0.0:4665')).toEqual(['http://127.0.0.1:4665'])
  expect(await opened('https://0.0.0.0:4665')).toEqual(['https://127.0.0.1:4665'])
  expect(await opened('https://:::4665')).toEqual(['https://[::1]:4665'])
})
