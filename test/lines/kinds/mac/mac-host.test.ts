import { expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'

import { MessagesApp, macUser } from '../../../../src/lines/kinds/mac/mac-host.ts'
import { NEVER, systemClock, type Clock } from '../../../../src/system/clock.ts'
import {
  type ProcessEnd,
  type RunProcess,
  ownIds,
  processRunner,
  startProcess,
} from '../../../../src/system/process.ts'
import { testHost } from '../../../support/kind-host.ts'
import { exited, Machine, PATHS } from '../../../support/mac/stand-ins/machine.ts'
import { StandIn } from '../../../support/mac/stand-ins/stand-in.ts'
import { recordingLog } from '../../../support/recording-log.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { settle, TestClock } from '../../../support/test-clock.ts'

const NOT_THERE: ProcessEnd = { end: 'not_started', why: 'ENOENT' }
const HUNG: ProcessEnd = { end: 'killed', why: 'timeout', stdout: '501\n', stderr: '' }

const IOREG = [
  '+-o J274AP  <class IOPlatformExpertDevice, id 0x100000227, registered, matched, active>',
  '    {',
  '      "manufacturer" = <"Apple Inc.">',
  '      "IOPlatformSerialNumber" = "C07XXXXXXXXX"',
  '      "IOPlatformUUID" = "8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C"',
  '    }',
].join('\n')

test('a Mac user is known by the UUID of the machine and the user id', async () => {
  const tools = recordingRun({ '/usr/sbin/ioreg': exited(0, IOREG) })
  const user = macUser(testHost({ clock: systemClock, run: tools.run }))

  const keys = [await user.deviceKey(NEVER), await user.deviceKey(NEVER)]

  const key = '8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C:501'
  expect(keys).toEqual([key, key])
  expect(tools.calls).toEqual([['/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice']])
})

test('a machine that could not say its UUID is asked again', async () => {
  const ends = [NOT_THERE, HUNG, exited(1, IOREG), exited(0, 'nothing'), exited(0, IOREG)]
  const run: RunProcess = async () => ends.shift() ?? NOT_THERE
  const user = macUser(testHost({ clock: systemClock, run, self: { pid: 4_711, uid: 502 } }))

  const keys: (string | null)[] = []
  for (let i = 0; i < 6; i += 1) keys.push(await user.deviceKey(NEVER))

  const key = '8E1A4B0C-5F6D-5E7A-9B8C-0D1E2F3A4B5C:502'
  expect(keys).toEqual([null, null, null, null, key, key])
})

test('elsewhere the machine is known by its machine-id, and a session is there', async () => {
  const tools = recordingRun({})
  const user = macUser(
    testHost({
      clock: systemClock,
      run: tools.run,
      platform: 'linux',
      self: { pid: 4_711, uid: 1000 },
    }),
  )

  const answers = [await user.deviceKey(NEVER), await user.hasGuiSession(NEVER)]

  expect(answers).toEqual([`${machineName()}:1000`, true])
  expect(tools.calls).toEqual([])
})

const SESSIONS: readonly (readonly [
  what: string,
  stat: ProcessEnd,
  launchctl: ProcessEnd | null,
  answer: boolean | null,
])[] = [
  ['the user at the console has one', exited(0, '501\n'), null, true],
  ['a session in the background counts', exited(0, '502\n'), exited(0, 'gui/501 = {\n'), true],
  ['a user who is logged out has none', exited(0, '0\n'), exited(113, ''), false],
  ['a user id that is longer is another', exited(0, '5011\n'), exited(113, ''), false],
  ['a console that cannot be asked leaves the session', NOT_THERE, exited(0, ''), true],
  ['a console that hung is not believed', HUNG, exited(113, ''), false],
  ['a console that failed is not believed', exited(1, '501\n'), exited(113, ''), false],
  ['nobody could be asked', NOT_THERE, NOT_THERE, null],
  ['launchctl hung', exited(0, '0\n'), HUNG, null],
]

for (const [what, stat, launchctl, answer] of SESSIONS) {
  test(`whether there is a session: ${what}`, async () => {
    const ends = { '/usr/bin/stat': stat, '/bin/launchctl': launchctl ?? NOT_THERE }
    const tools = recordingRun(ends)
    const user = macUser(testHost({ clock: systemClock, run: tools.run }))

    const hasSession = await user.hasGuiSession(NEVER)

    const asked = launchctl === null ? [] : [['/bin/launchctl', 'print', 'gui/501']]
    expect(hasSession).toBe(answer)
    expect(tools.calls).toEqual([['/usr/bin/stat', '-f', '%u', '/dev/console'], ...asked])
  })
}

function recordingRun(ends: Readonly<Record<string, ProcessEnd>>) {
  const calls: (readonly string[])[] = []
  const run: RunProcess = async ({ path, args }) => {
    calls.push([path, ...args])
    return ends[path] ?? NOT_THERE
  }
  return { calls, run }
}

function machineName(): string {
  const path = '/etc/machine-id'
  const id = existsSync(path) ? readFileSync(path, 'utf8').trim() : ''
  return id === '' ? hostname() : id
}

const SELF = { pid: 4_000, uid: 501 }
const PGREP = ['/usr/bin/pgrep', '-U', '501', '-x', 'Messages']
const OPEN = ['/usr/bin/open', '-gj', '-a', 'Messages']

const LOOKS: readonly (readonly [end: ProcessEnd, answer: boolean | null])[] = [
  [exited(0, '77\n'), true],
  [exited(1, ''), false],
  [exited(2, ''), null],
  [exited(3, ''), null],
  [NOT_THERE, null],
  [{ end: 'killed', why: 'timeout', stdout: '77\n', stderr: '' }, null],
]

test('Messages.app is looked for by its exact name, among the processes of this user', async () => {
  const answers: (boolean | null)[] = []
  const { machine, app } = onTestClock()
  for (const [end] of LOOKS) {
    machine.answers.set(PATHS.pgrep, end)
    answers.push(await app.isRunning(NEVER))
  }

  expect(answers).toEqual(LOOKS.map(([, answer]) => answer))
  expect(machine.calls).toEqual(LOOKS.map(() => PGREP))
})

test('Messages.app is opened in the background and hidden, at most once in 10 s', async () => {
  const { machine, app, clock } = onTestClock()

  const first = await app.start(NEVER)
  await clock.advance(9_999)
  const second = await app.start(NEVER)
  await clock.advance(1)
  const third = await app.start(NEVER)

  expect([first, second, third]).toEqual([true, false, true])
  expect(machine.calls).toEqual([OPEN, OPEN])
})

test('a start that failed is reported, and counts', async () => {
  const { machine, app } = onTestClock()
  machine.answers.set(PATHS.open, exited(1, ''))

  const starts = [await app.start(NEVER), await app.start(NEVER)]

  expect(starts).toEqual([false, false])
  expect(machine.calls).toEqual([OPEN])
})

test('a restart asks the process to end, and opens it when it is gone', async () => {
  const { machine, app, clock } = onTestClock()
  machine.pids = [77]

  const restarting = app.restart(NEVER)
  await clock.advance(1_499)
  const early = [...machine.calls]
  await clock.advance(1)

  const untilGone = [PGREP, ['/bin/kill', '-TERM', '77'], PGREP]
  expect(await restarting).toBe(true)
  expect(early).toEqual(untilGone)
  expect(machine.calls).toEqual([...untilGone, OPEN])
})

test('a Messages.app that does not end is killed after 10 s, and no other one', async () => {
  const { machine, app, clock } = onTestClock()
  machine.pids = [77, 78]
  machine.stubborn.add(78)

  const restarting = app.restart(NEVER)
  await clock.advance(1_000)
  machine.pids = [...machine.pids, 99]
  await clock.advance(8_999)
  const early = machine.kills()
  await clock.advance(2_000)

  expect(await restarting).toBe(true)
  expect(early).toEqual([['-TERM', '77', '78']])
  expect(machine.kills()).toEqual([
    ['-TERM', '77', '78'],
    ['-KILL', '78'],
  ])
  expect(machine.pids).toEqual([99])
})

test('a Messages.app that nothing can end is not opened a second time', async () => {
  const { machine, app, clock } = onTestClock()
  machine.pids = [77]
  machine.answers.set('/bin/kill', exited(1, ''))

  const restarting = app.restart(NEVER)
  await clock.advance(20_000)

  expect(await restarting).toBe(false)
  expect(machine.kills()).toEqual([
    ['-TERM', '77'],
    ['-KILL', '77'],
  ])
  expect(machine.calls).not.toContainEqual(OPEN)
})

test('a restart opens what does not run, and touches nothing if nobody can say', async () => {
  const [none, unknown] = [onTestClock(), onTestClock()]
  unknown.machine.answers.set(PATHS.pgrep, exited(3, ''))

  const restarts = [await none.app.restart(NEVER), await unknown.app.restart(NEVER)]

  expect(restarts).toEqual([true, false])
  expect(none.machine.calls).toEqual([PGREP, OPEN])
  expect(unknown.machine.calls).toEqual([PGREP])
})

test('a restart soon after a start waits until 10 s are over', async () => {
  const { machine, app, clock } = onTestClock()
  await app.start(NEVER)
  await clock.advance(4_000)
  machine.pids = [77]

  const restarting = app.restart(NEVER)
  await clock.advance(5_999)
  const early = [...machine.calls]
  await clock.advance(1)

  expect(await restarting).toBe(true)
  expect(early.filter(([path]) => path === PATHS.open)).toEqual([OPEN])
  expect(machine.calls.filter(([path]) => path === PATHS.open)).toEqual([OPEN, OPEN])
})

test('a restart that is aborted neither kills nor opens any more', async () => {
  const [stubborn, gone] = [onTestClock(), onTestClock()]
  const leaving = new AbortController()
  for (const { machine } of [stubborn, gone]) machine.pids = [77]
  stubborn.machine.stubborn.add(77)

  const restarts = [stubborn, gone].map(({ app }) => app.restart(leaving.signal))
  for (const { clock } of [stubborn, gone]) await clock.advance(1_000)
  leaving.abort()

  expect(await Promise.all(restarts)).toEqual([false, false])
  expect(gone.machine.pids).toEqual([])
  for (const { machine } of [stubborn, gone]) {
    expect(machine.kills()).toEqual([['-TERM', '77']])
    expect(machine.calls).not.toContainEqual(OPEN)
  }
  // What was not started does not stand in the way of the next start.
  expect(await gone.app.start(NEVER)).toBe(true)
})

test('with real processes a restart ends the one that pgrep names', async () => {
  using folder = new ScratchFolder()
  const [open, pgrep] = [new StandIn(folder, 'open'), new StandIn(folder, 'pgrep')]
  const messages = startProcess({ path: '/bin/sleep', args: ['60'] })
  const running = `kill -0 ${messages.pid} 2>/dev/null && echo ${messages.pid}`
  pgrep.plays(running)
  const hurried: Clock = { ...systemClock, sleep: (_, signal) => systemClock.sleep(5, signal) }
  const app = new MessagesApp(
    testHost({
      run: processRunner(systemClock),
      start: startProcess,
      clock: hurried,
      self: ownIds(),
    }),
    { open: open.path, pgrep: pgrep.path, caffeinate: '/nowhere/caffeinate' },
  )

  const answers = [await app.isRunning(NEVER), await app.restart(NEVER), await app.isRunning(NEVER)]

  expect(answers).toEqual([true, true, false])
  expect(await messages.ended).toBeNull()
  expect(pgrep.calls()[0]).toEqual(['-U', String(ownIds().uid), '-x', 'Messages'])
  expect(open.calls()).toEqual([['-gj', '-a', 'Messages']])
})

/** A Mac that is kept awake; `end` leaves it. */
async function keptAwake(more: Partial<Machine> = {}) {
  const rig = onTestClock()
  Object.assign(rig.machine, more)
  const leaving = new AbortController()
  const keeping = rig.app.keepAwake(leaving.signal)
  await settle()
  const end = () => {
    leaving.abort()
    return keeping
  }
  return { ...rig, signal: leaving.signal, end }
}

test('the Mac is kept awake for as long as this process lives, or until the abort', async () => {
  const { machine, end } = await keptAwake()
  const before = [...machine.signals]

  await end()

  expect(machine.started).toEqual([['/usr/bin/caffeinate', '-i', '-m', '-s', '-w', '4000']])
  expect([before, machine.signals]).toEqual([[], ['SIGTERM']])
})

test('a caffeinate that ends is started again after 10 s, and reported once', async () => {
  const { machine, clock, lines, signal, end } = await keptAwake()

  machine.endCaffeinate()
  await clock.advance(9_999)
  const early = machine.started.length
  await clock.advance(1)
  for (let i = 0; i < 4; i += 1) {
    machine.endCaffeinate()
    await clock.advance(10_000)
  }

  const published = 'caffeinate ended or cannot be started: the Mac may fall asleep'
  expect([early, machine.started.length]).toEqual([1, 6])
  expect(lines).toEqual([['warn', published, {}]])
  // One for the caffeinate that runs now.
  expect(getEventListeners(signal, 'abort').length).toBe(1)
  await end()
})

test('if there is no caffeinate, nothing fails, and it is tried again', async () => {
  const { machine, clock, lines, end } = await keptAwake({ hasCaffeinate: false })

  await clock.advance(5_000)
  machine.hasCaffeinate = true
  await clock.advance(5_000)
  await end()

  expect([machine.started.length, lines.length]).toEqual([1, 1])
})

test('a caffeinate that does not heed the end is killed after three seconds', async () => {
  const { machine, clock, end } = await keptAwake({ isCaffeinateStubborn: true })

  const ending = end()
  await clock.advance(3_000)
  await ending

  expect(machine.signals).toEqual(['SIGTERM', 'SIGKILL'])
})

function onTestClock() {
  const [clock, machine] = [new TestClock(), new Machine()]
  const { log, lines } = recordingLog()
  const { run, start } = machine
  const app = new MessagesApp(testHost({ run, start, clock, log, self: SELF }), PATHS)
  return { app, clock, machine, lines }
}
