import { expect, test } from 'bun:test'

import { LaunchdHost } from '../../src/hosting/launchd.ts'
import { TestClock } from '../support/test-clock.ts'
import { NEVER, RecordingTools, type Called } from './recording-tools.ts'

const HOME = '/Volumes/Home'
const AGENT = `${HOME}/Library/LaunchAgents/net.hookline.relay.plist`
const TARGET = 'gui/501/net.hookline.relay'
const LAUNCHCTL = '/bin/launchctl'

/** What launchctl of macOS 15 prints of a service, shortened. */
const PRINTED = `${TARGET} = {
	active count = 1
	path = /Volumes/Home/agent.plist
	type = LaunchAgent
	state = running

	program = /Volumes/Home/Applications/Hookline.app/Contents/MacOS/hookline
	runs = 1
	pid = 4711
	immediate reason = speculative
	spawn type = interactive (4)
}
`
const WAITING = PRINTED.replace('\tpid = 4711\n', '').replace('running', 'spawn scheduled')
const UNKNOWN = {
  exitCode: 113,
  stderr: 'Could not find service "net.hookline.relay" in domain for user gui: 501\n',
}

/** A launchd that knows whether the service is loaded; `bootstraps` are the exit codes of its next loads. */
class FakeLaunchd {
  readonly clock = new TestClock()
  readonly tools = new RecordingTools((called) => this.#answer(called))
  readonly launchd = hostOn(this.tools, this.clock)
  isLoaded = false
  hasSession = true
  bootstraps: number[] = []
  bootout = 0
  /** How many looks a process that ends is still there for. */
  looksLeft = 0

  #answer([, verb = '', what = '']: Called) {
    if (verb === 'print') return what === 'gui/501' ? this.#printDomain() : this.#print()
    if (verb === 'bootstrap') return this.#bootstrap(this.bootstraps.shift() ?? 0)
    if (verb === 'bootout') this.isLoaded = this.looksLeft > 0
    return { exitCode: verb === 'bootout' ? this.bootout : 0 }
  }

  #printDomain() {
    return this.hasSession
      ? {}
      : { exitCode: 125, stderr: 'Domain does not support specified action' }
  }

  #print() {
    const isThere = this.isLoaded
    this.looksLeft -= 1
    if (this.looksLeft === 0) this.isLoaded = false
    return isThere ? { stdout: PRINTED } : UNKNOWN
  }

  #bootstrap(exitCode: number) {
    this.isLoaded = exitCode === 0
    return { exitCode, stderr: `Bootstrap failed: ${exitCode}: Input/output error\n` }
  }

  verbs(): readonly string[] {
    return this.tools.taken().map(([, verb = '']) => verb)
  }
}

test('a service is switched on and loaded into the session at the screen', async () => {
  const fake = new FakeLaunchd()

  await fake.launchd.start(NEVER)

  expect(fake.tools.calls).toEqual([
    [LAUNCHCTL, 'print', 'gui/501'],
    [LAUNCHCTL, 'print', TARGET],
    [LAUNCHCTL, 'enable', TARGET],
    [LAUNCHCTL, 'bootstrap', 'gui/501', AGENT],
  ])
})

test('a service that is loaded is started, and one that runs is not killed for it', async () => {
  const fake = new FakeLaunchd()
  fake.isLoaded = true

  await fake.launchd.start(NEVER)

  expect(fake.tools.calls.at(-1)).toEqual([LAUNCHCTL, 'kickstart', TARGET])
})

test('while launchd clears away the service of before, it is loaded again later', async () => {
  const fake = new FakeLaunchd()
  fake.bootstraps = [5, 37]

  const started = fake.launchd.start(NEVER)
  await fake.clock.advance(1_999)
  const early = fake.verbs()
  await fake.clock.advance(2_001)
  await started

  expect(early).toEqual(['print', 'print', 'enable', 'bootstrap'])
  expect(fake.verbs()).toEqual(['bootstrap', 'bootstrap'])
})

test('what stays refused is reported after five tries, in the words of launchctl', async () => {
  const fake = new FakeLaunchd()
  fake.bootstraps = [5, 5, 5, 5, 5, 0]

  const started = fake.launchd.start(NEVER).catch((error: unknown) => String(error))
  await fake.clock.advance(60_000)

  expect(await started).toBe(
    'HostingError: Cannot start the service: Bootstrap failed: 5: Input/output error ' +
      '(/bin/launchctl ended with 5)',
  )
  expect(fake.verbs().filter((verb) => verb === 'bootstrap').length).toBe(5)
})

test('another refusal is reported at once', async () => {
  const fake = new FakeLaunchd()
  fake.bootstraps = [78]

  await expect(fake.launchd.start(NEVER)).rejects.toThrow('Cannot start the service')

  expect(fake.verbs().filter((verb) => verb === 'bootstrap').length).toBe(1)
})

test('if nobody is logged in at the screen, the owner learns that a person must be', async () => {
  const fake = new FakeLaunchd()
  fake.hasSession = false

  await expect(fake.launchd.start(NEVER)).rejects.toThrow(
    'No user is logged in at the screen of this Mac',
  )

  expect(fake.verbs()).toEqual(['print'])
})

test('a stop waits until the process has ended, which launchctl does not', async () => {
  const fake = new FakeLaunchd()
  fake.isLoaded = true
  fake.looksLeft = 4
  let hasStopped = false

  const stopped = fake.launchd.stop(NEVER).then(() => (hasStopped = true))
  await fake.clock.advance(500)
  const early = hasStopped
  await fake.clock.advance(1_000)
  await stopped

  expect(early).toBe(false)
  expect(fake.tools.calls[1]).toEqual([LAUNCHCTL, 'bootout', TARGET])
})

for (const exitCode of [3, 36]) {
  test(`a stop to which launchctl says ${exitCode} is under way`, async () => {
    const fake = new FakeLaunchd()
    fake.isLoaded = true
    fake.bootout = exitCode

    await fake.launchd.stop(NEVER)

    expect(fake.verbs()).toEqual(['print', 'bootout', 'print'])
  })
}

test('a stop that is refused is reported', async () => {
  const fake = new FakeLaunchd()
  fake.isLoaded = true
  fake.bootout = 1

  await expect(fake.launchd.stop(NEVER)).rejects.toThrow('Cannot stop the service')
})

test('a stop gives up after 90 seconds', async () => {
  const fake = new FakeLaunchd()
  fake.isLoaded = true
  fake.looksLeft = 1_000

  const stopped = fake.launchd.stop(NEVER).catch((error: unknown) => String(error))
  await fake.clock.advance(91_000)

  expect(await stopped).toContain('did not stop in time')
})

test('a service that is not loaded is not stopped', async () => {
  const fake = new FakeLaunchd()

  await fake.launchd.stop(NEVER)

  expect(fake.verbs()).toEqual(['print'])
})

const STATES = [
  [{ stdout: PRINTED }, { activity: 'running', pid: 4711 }],
  [{ stdout: WAITING }, { activity: 'starting', pid: null }],
  [UNKNOWN, { activity: 'stopped', pid: null }],
  [{ end: 'not_started', why: 'ENOENT' } as const, { activity: 'stopped', pid: null }],
] as const

for (const [answer, state] of STATES) {
  test(`${JSON.stringify(answer).slice(0, 60)}... means ${JSON.stringify(state)}`, async () => {
    const host = hostOn(new RecordingTools(() => answer), new TestClock())

    expect(await host.state(NEVER)).toEqual({ isInstalled: false, ...state })
  })
}

function hostOn(tools: RecordingTools, clock: TestClock): LaunchdHost {
  return new LaunchdHost(tools.machine({ clock, home: HOME, uid: 501 }))
}
