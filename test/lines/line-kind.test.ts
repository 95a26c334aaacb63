// A fifth kind of line by one folder and one row: whatever lists kinds lists it too.

import { expect, test } from 'bun:test'

import { serveCommand } from '../../src/cli/loaded-commands.ts'
import { optionsOf } from '../../src/config.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { SHORTCUTS_KIND } from '../../src/lines/kinds/shortcuts/kind.ts'
import { createKinds, type LineKind } from '../../src/lines/line-kind.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { hookline } from '../support/executable.ts'
import { testHost } from '../support/kind-host.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'
import { LOOPBACK_KIND } from './loopback-kind.ts'

const KINDS = [...LINE_KINDS, LOOPBACK_KIND]

const LOOP = {
  drivers: 'own',
  environment: { HOOKLINE_LOOPBACK_NUMBER: '+12025550155' },
  parts: { kinds: KINDS },
} as const

test('the option of a new kind is a flag of serve', () => {
  const flags = serveCommand(optionsOf(KINDS)).options ?? []

  expect(flags.find(({ name }) => name === 'loopback-number')).toEqual({
    name: 'loopback-number',
    value: 'NUMBER',
    sentence: 'The number of a line that answers itself.',
  })
})

test('a line of a new kind sends and receives, the document names it, and doctor has its findings', async () => {
  using folder = new ScratchFolder()
  await using relay = await startRelay(LOOP)
  await relay.clock.advance(10_000)
  const owner = { address: null, isControl: true, liftTimeout: () => {} }
  const server = Bun.serve({
    unix: dataDirectoryAt(folder.path).controlSocket,
    fetch: (request) => relay.app.http.fetch(request, owner),
  })

  const sent = await relay.send({ to: '+12025550123', text: 'hello' })
  await relay.clock.advance(1_000)
  const headers = { host: 'localhost' }
  const { body: document } = await relay.request('GET', '/swagger/json', undefined, headers)
  const { stdout, stderr } = await hookline(['doctor'], { HOOKLINE_DATA_DIR: folder.path })
  await server.stop(true)

  expect(await relay.lines()).toMatchObject([{ driver: 'loopback', status: 'online' }])
  expect(sent.status).toBe(200)
  const { data } = await relay.get('/api/v1/messages')
  expect(data.map(({ direction }: Json) => direction).sort()).toEqual(['inbound', 'outbound'])
  expect(JSON.stringify(document)).toContain(
    '"enum":["mac","iphone","shortcuts","simulated","loopback"]',
  )
  expect((await relay.get('/api/v1/health')).data).toContainEqual(
    expect.objectContaining({ code: 'loop_open' }),
  )
  expect(stderr).toBe('')
  expect(stdout).toContain('warning: The loop is open')
  expect(stdout).toContain('fix  Close it.')
})

test('the dashboard has the facts of a new kind, and the checklist of its lines', async () => {
  await using relay = await startDashboard(LOOP)
  await relay.clock.advance(10_000)
  const browser = await relay.claim()

  const about = (await browser.get('/dashboard/about')).body
  const { data: checks } = (await browser.get('/dashboard/checks')).body
  const [line] = await relay.lines()

  expect(about.kinds).toContainEqual({
    name: 'loopback',
    title: 'Loopback',
    start: { words: 'Sends to itself.', guide: null },
    is_real: true,
    needs_permissions: false,
    deletable_reason: null,
    trial_command: null,
    practice_numbers: null,
  })
  expect(about.drivers).toContain('loopback')
  expect(checks.find(({ line_id }: Json) => line_id === line.id).checks).toContainEqual({
    state: 'warn',
    title: 'The loop is open',
    why: 'A test opened it.',
    fix: 'Close it.',
  })
})

test('devices of a second kind that calls are answered by their own line', async () => {
  const calling: LineKind = {
    ...LOOPBACK_KIND,
    options: {},
    create: () => ({
      driver: null,
      calls: {
        receive: async (key) => (key === 'brg_loop' ? 'stored' : 'not_ready'),
        next: async () => ({ answer: 'nothing' }),
        done: async () => 'noted',
      },
    }),
  }
  const host = testHost({ clock: new TestClock() })
  const kinds = [SHORTCUTS_KIND, calling]
  const { calls } = createKinds(host, { kinds, options: {}, lines: () => [] })
  const message = { id: '1', from: '+12025550123', text: 'hello', at: null }

  expect(await calls.receive('brg_loop', message)).toBe('stored')
  expect(await calls.receive('brg_gone', message)).toBe('not_ready')
})
