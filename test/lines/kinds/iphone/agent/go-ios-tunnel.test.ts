// The tunnel of go-ios: one process for all phones, which is kept alive.

import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'

import { GoIosTunnel } from '../../../../../src/lines/kinds/iphone/agent/go-ios-tunnel.ts'
import { LauncherProcesses } from '../../../../../src/lines/kinds/iphone/agent/launcher-processes.ts'
import type {
  ReadProcess,
  RunProcess,
  StartReadProcess,
} from '../../../../../src/system/process.ts'
import { OTHER_UDID, UDID } from '../../../../support/iphone/fake-phones.ts'
import { LaunchRig } from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/iphone/real-usbmuxd.ts'
import { recordingLog } from '../../../../support/recording-log.ts'
import { ScratchFolder } from '../../../../support/scratch-folder.ts'
import { TestClock } from '../../../../support/test-clock.ts'

const NEVER = new AbortController().signal

test('nothing is started before a phone needs it', async () => {
  await using rig = goIosRig()

  await rig.clock.advance(3_600_000)

  expect(rig.goIos.tool.calls()).toEqual([])
  expect(existsSync(rig.goIosFolder)).toBe(false)
})

test('ten phones have one tunnel process between them, and ask for it together', async () => {
  const phones = Array.from({ length: 10 }, (_, index) => `00008110-00000000000000${10 + index}`)
  await using rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.phones = phones

  const troubles = await rig.prepareAll(phones)

  const looks = rig.goIos.callsOf('tunnel', 'ls').length
  const images = rig.goIos.callsOf('image', 'auto').map(([, , udid]) => udid)
  expect(troubles).toEqual(phones.map(() => null))
  expect(rig.goIos.callsOf('tunnel', 'start')).toHaveLength(1)
  expect(new Set(images)).toEqual(new Set(phones.map((udid) => `--udid=${udid}`)))
  expect(images).toHaveLength(10)
  expect(looks).toBeLessThan(20)
})

test('a tunnel that somebody else keeps is used, and ours takes its place when it ends', async () => {
  await using rig = goIosRig()
  const foreign = Bun.spawn([rig.goIos.tool.path, 'tunnel', 'start'], { detached: true })
  await eventually(() => rig.goIos.tunnelPid, 'a tunnel of somebody else')

  const trouble = await rig.prepare(UDID)
  await rig.comesTo(() => (rig.goIos.callsOf('tunnel', 'ls').length > 5 ? true : null), 'looks')
  const starts = rig.goIos.callsOf('tunnel', 'start').length
  foreign.kill()
  await foreign.exited
  await rig.comesTo(() => rig.goIos.callsOf('tunnel', 'start')[1] ?? null, 'a tunnel of ours')

  expect([trouble, starts]).toEqual([null, 1])
  expect(rig.lines).toEqual([])
})

test('an agent whose tunnel did not carry gets a new one, and the tunnels of others stay', async () => {
  await using rig = goIosRig()
  rig.goIos.agent = 'stale_tunnel'
  await rig.prepare(UDID)
  await rig.prepare(OTHER_UDID)
  const launched = await rig.launch(UDID)
  const trouble = await launched.ended

  await rig.prepare(OTHER_UDID)
  await rig.prepare(UDID)
  await rig.prepare(UDID)

  expect(trouble.code).toBe('tunnel_failed')
  expect(rig.goIos.callsOf('tunnel', 'refresh')).toEqual([['tunnel', 'refresh', `--udid=${UDID}`]])
  expect(rig.goIos.callsOf('tunnel', 'start')).toHaveLength(1)
})

test('a phone that is pulled out while go-ios hangs is let go at once', async () => {
  await using rig = goIosRig()
  rig.goIos.tool.put('hangs_on', 'tunnel ls')
  const end = new AbortController()
  const preparing = rig.launcher.prepare(UDID, end.signal)
  await eventually(() => (rig.goIos.tool.alive().length > 0 ? true : null), 'its start')

  end.abort()

  expect(await preparing).toEqual({ code: 'launch_failed', why: 'It was called off.' })
  expect(rig.goIos.callsOf('tunnel', 'start')).toEqual([])
})

test('a tunnel that stands is nothing to speak of', async () => {
  await using rig = goIosRig()
  await rig.prepare(UDID)

  await rig.clock.advance(3_600_000)

  expect(rig.lines).toEqual([])
})

test('a go-ios that hangs when it is asked for its tunnels is ended, and asked again', async () => {
  await using rig = goIosRig()
  rig.goIos.tool.put('hangs_on', 'tunnel ls')
  const preparing = rig.launcher.prepare(UDID, NEVER)
  await eventually(() => (rig.goIos.tool.alive().length > 0 ? true : null), 'its start')

  await rig.clock.advance(9_999)
  const early = rig.goIos.tool.alive().length
  rig.goIos.tool.put('hangs_on')
  await rig.clock.advance(1)

  expect(early).toBeGreaterThan(0)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 0 ? true : null), 'the image')
  expect(await preparing).toBeNull()
})

test('a tunnel that dies is made anew after a second, then ever later, and it is told once', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const starts: number[] = []
  const { tunnel, lines } = tunnelOf(folder, clock, () => {
    starts.push(clock.monotonic() / 1_000)
    return brief(clock, starts.length === 9 ? 60_000 : 0)
  })
  const end = new AbortController()
  const running = tunnel.run(end.signal)

  const waiting = tunnel.stand(UDID, end.signal)
  await clock.advance(400_000)
  end.abort()
  await running

  // The ninth was a good one, as it ran for a minute.
  expect(starts.slice(0, 9)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  expect(starts.slice(9, 13)).toEqual([244, 246, 250, 258])
  expect((await waiting)?.code).toBe('tunnel_failed')
  const ended = [
    'warn',
    'the tunnel of go-ios ended',
    { why: 'It ended with exit code 1.' },
  ] as const
  expect(lines).toEqual([ended, ['info', 'the tunnel of go-ios stands again', {}], ended])
})

test('a tunnel process that answers nobody makes room for another', async () => {
  await using rig = goIosRig()
  rig.goIos.tunnel = 'hangs'

  const trouble = await rig.prepare(UDID)
  rig.goIos.tunnel = 'stands'
  const again = await rig.prepare(UDID)

  expect(trouble).toEqual({ code: 'tunnel_failed', why: 'go-ios made no tunnel to it.' })
  expect(again).toBeNull()
  expect(rig.goIos.callsOf('tunnel', 'start')).toHaveLength(2)
})

/** What the process of the tunnel says, whether it ends then, and what is made of it. */
const TUNNEL_TROUBLES: readonly (readonly [line: object, ends: boolean, why: string])[] = [
  [
    {
      level: 'ERROR',
      msg: 'could not creat pair record manager',
      err: 'createSelfIdentity: failed to open file for writing: permission denied',
    },
    true,
    'go-ios cannot keep its identity in its folder.',
  ],
  [
    {
      level: 'ERROR',
      msg: 'failed to start tunnel server',
      err: 'listen tcp 127.0.0.1:60105: bind: address already in use',
    },
    true,
    'Another program has the port 60105 of go-ios.',
  ],
  [
    {
      level: 'WARN',
      msg: 'failed to start tunnel',
      error: 'userspaceTUN not supported for iOS >=17 and < 17.4',
    },
    false,
    'go-ios needs iOS 17.4.1 or later on the phone.',
  ],
  [
    {
      level: 'WARN',
      msg: 'failed to start tunnel',
      error:
        "Could not start service:com.apple.internal.devicecompute.CoreDeviceProxy with reason:'InvalidRequest'. Have you mounted the Developer Image?",
    },
    false,
    'The phone does not let go-ios make a tunnel.',
  ],
  [{ level: 'INFO', msg: 'Tunnel server started' }, false, 'go-ios made no tunnel to it.'],
  [{ level: 'INFO', msg: 'Tunnel server started' }, true, 'It ended with exit code 1.'],
]

for (const [line, ends, why] of TUNNEL_TROUBLES) {
  test(`a tunnel that does not stand within half a minute is told: ${why}`, async () => {
    using folder = new ScratchFolder()
    const clock = new TestClock()
    const { tunnel } = tunnelOf(folder, clock, ({ onOutput }) => {
      onOutput(new TextEncoder().encode(`${JSON.stringify(line)}\n`), 'stderr')
      return brief(clock, ends ? 0 : 3_600_000)
    })
    const end = new AbortController()
    const running = tunnel.run(end.signal)
    let isEarly = true

    const standing = tunnel.stand(UDID, end.signal).finally(() => {
      expect(isEarly).toBe(false)
    })
    await clock.advance(29_999)
    isEarly = false
    await clock.advance(1)
    const trouble = await standing
    end.abort()
    await running

    expect(trouble).toEqual({ code: 'tunnel_failed', why })
  })
}

test('a phone without a tunnel does not end the process that carries those of others', async () => {
  await using rig = goIosRig()
  rig.goIos.phones = [OTHER_UDID]

  const trouble = await rig.prepare(UDID)

  expect(trouble).toEqual({ code: 'tunnel_failed', why: 'go-ios made no tunnel to it.' })
  expect(rig.goIos.tool.alive()).toEqual([rig.goIos.tunnelPid ?? 0])
})

test('a folder that cannot be made is told as a tunnel that does not stand', async () => {
  using folder = new ScratchFolder()
  writeFileSync(folder.file('data'), '')
  const clock = new TestClock()
  const { tunnel, lines } = tunnelOf(folder, clock, () => brief(clock, 0), 'data/go-ios')
  const end = new AbortController()
  const running = tunnel.run(end.signal)

  const standing = tunnel.stand(UDID, end.signal)
  await clock.advance(30_000)
  end.abort()
  await running

  const why = 'Its folder cannot be made: ENOTDIR.'
  expect(await standing).toEqual({ code: 'tunnel_failed', why })
  expect(lines).toEqual([['warn', 'the tunnel of go-ios ended', { why }]])
})

function goIosRig(): LaunchRig {
  const rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.phones = [UDID, OTHER_UDID]
  return rig
}

/** A tunnel whose processes are those of the test; while one runs, `ios tunnel ls` lists no phone. */
function tunnelOf(
  folder: ScratchFolder,
  clock: TestClock,
  start: StartReadProcess,
  name = 'go-ios',
) {
  const { log, lines } = recordingLog()
  let running = 0
  const counted: StartReadProcess = (order) => {
    running += 1
    const child = start(order)
    const ended = child.ended.finally(() => {
      running -= 1
    })
    return { ...child, ended }
  }
  const run: RunProcess = () => {
    const [exitCode, stdout] = running > 0 ? [0, '[]\n'] : [1, '']
    return Promise.resolve({ end: 'exited', exitCode, stdout, stderr: '' })
  }
  const processes = new LauncherProcesses({ clock, run, start: counted })
  const paths = { goIosPath: '/usr/bin/ios', folder: folder.file(name) }
  return { tunnel: new GoIosTunnel({ clock, log, processes, ...paths }), lines }
}

/** A child that ends by itself after `ms`, or by a signal. */
function brief(clock: TestClock, ms: number): ReadProcess {
  const end = new AbortController()
  const ended = ms === 0 ? Promise.resolve() : clock.sleep(ms, end.signal)
  return {
    pid: 1,
    ended: ended.then(() => 1),
    kill: () => end.abort(),
    outputEnded: ended,
    closeOutput() {},
  }
}
