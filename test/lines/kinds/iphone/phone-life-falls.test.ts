// How a phone falls and climbs again: how long it waits, how far it falls, what ends at once, and what of
// its agent is left. What stops it is in phone-life.test.ts.

import { describe, expect, test } from 'bun:test'

import { OTHER_UDID, UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const MINUTE_MS = 60_000
const EXPIRED = { code: 'launch_failed', why: 'It said so.' } as const
const NO_IMAGE = { code: 'image_mount_failed', why: 'It said so.' } as const

type Act = (rig: PhoneLineRig) => void
type Costs = { readonly events: number; readonly asked: number; readonly commands: number }

/** Nobody listens on the port of the agent. */
const silence: Act = (rig) => {
  rig.commands.isUnplugged = true
}

/** The moments of the monotonic clock at which an agent was started. */
function launchTimes(rig: PhoneLineRig): readonly number[] {
  const times: number[] = []
  const launch = rig.launcher.launch.bind(rig.launcher)
  rig.launcher.launch = (phone) => {
    times.push(rig.clock.monotonic())
    return launch(phone)
  }
  return times
}

function gaps(times: readonly number[]): readonly number[] {
  return times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1_000)
}

/** What the phone shows is nothing that anybody knows, until it is given back. */
function hideScreen(rig: PhoneLineRig): () => void {
  const { phone } = rig
  const activate = phone.activate.bind(phone)
  phone.screen = { on: 'elsewhere' }
  phone.activate = () => {}
  return () => {
    phone.activate = activate
    phone.screen = { on: 'list' }
  }
}

describe('the wait before the next climb', () => {
  test('grows from one second to a minute', async () => {
    const rig = PhoneLineRig.plugged()
    rig.launcher.launchTrouble = EXPIRED
    const times = launchTimes(rig)
    await PhoneHost.attend(rig)

    await rig.clock.advance(250_000)

    expect(gaps(times)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  })

  test.each([
    [299_000, 8],
    [301_000, 1],
  ])('after %d ms online begins with %d s', async (onlineMs, expectedS) => {
    const rig = PhoneLineRig.plugged()
    rig.launcher.launchTrouble = EXPIRED
    const times = launchTimes(rig)
    const host = await PhoneHost.attend(rig)
    await rig.clock.advance(6_500)
    rig.launcher.launchTrouble = null
    while (!host.isOnline) await rig.clock.advance(10)

    await rig.clock.advance(onlineMs)
    rig.launcher.end(UDID, EXPIRED)
    const endedAt = rig.clock.monotonic()
    await rig.clock.advance(30_000)

    expect(gaps([endedAt, times.at(-1) ?? 0])).toEqual([expectedS])
  })

  test('is five minutes where another program drives the phone', async () => {
    const host = await PhoneHost.online()
    const { rig } = host
    const { commands } = rig
    commands.meddle = (name) => {
      if (name === 'source') commands.takeSession()
      return null
    }
    await host.until(() => host.said.at(-1) === 'agent_shared')
    commands.meddle = () => null
    const before = commands.names.length
    const sessions = commands.names.filter((name) => name === 'session').length

    await rig.clock.advance(299_000)
    const meanwhile = commands.names.length - before
    await rig.clock.advance(2_000)

    expect([meanwhile, host.isOnline]).toEqual([0, true])
    // The line's own, and one that was to distinguish a start of the agent from another program.
    expect(sessions).toBe(2)
  })

  test('is over at once when the cable says that what stopped the phone is over', async () => {
    const rig = PhoneLineRig.plugged()
    rig.cable.refuse(UDID, 'not_trusted')
    const host = await PhoneHost.attend(rig)
    await rig.clock.advance(20 * MINUTE_MS)

    rig.cable.tell(UDID, {})
    await rig.clock.advance(1_000)

    expect(host.isOnline).toBe(true)
  })

  test('is over at once when the phone is plugged in, however long it was away, and begins again', async () => {
    const host = await PhoneHost.online()
    const { rig } = host
    rig.unplug()
    await rig.clock.advance(20 * MINUTE_MS)
    rig.launcher.launchTrouble = EXPIRED
    const times = launchTimes(rig)
    const pluggedAt = rig.clock.monotonic()

    rig.plugIn()
    await rig.clock.advance(10_000)

    expect(gaps([pluggedAt, ...times])).toEqual([0, 1, 2, 4])
  })

  test('is not cut short by readings of this phone or another one that mend nothing', async () => {
    const rig = PhoneLineRig.plugged()
    rig.cable.attach(OTHER_UDID)
    rig.launcher.prepareTrouble = NO_IMAGE
    await PhoneHost.attend(rig)
    await rig.clock.advance(5 * MINUTE_MS)
    const before = rig.launcher.asked.length

    for (let i = 0; i < 60; i += 1) {
      rig.cable.tell(i % 2 === 0 ? UDID : OTHER_UDID, {})
      await rig.clock.advance(10_000)
    }

    expect(rig.launcher.asked.length - before).toBe(10)
  })
})

test('three falls and the agent is started again, six and all is reached again from the start', async () => {
  const host = await PhoneHost.online()
  const { rig } = host
  const steps = rig.launcher.asked
  steps.length = 0
  const giveBack = hideScreen(rig)
  rig.commands.meddle = (name) => {
    if (name === 'activate') steps.push('look')
    return null
  }

  await host.until(() => steps.filter((step) => step === 'prepare').length === 1)
  // Before it gives up a look brings Messages to the front twice.
  const looks = steps.join(' ').replaceAll('look look', 'look')
  giveBack()
  await host.until(() => host.isOnline)

  // The first fall is from the top, after two looks.
  const asked = 'look look look look look launch look launch look launch look prepare launch'
  expect(looks).toBe(asked)
})

test('one failed look is none, two are', async () => {
  const host = await PhoneHost.online()
  const { rig } = host
  const { commands } = rig
  const drops = { left: 1 }
  commands.meddle = (name) => {
    if (name !== 'source' || drops.left === 0) return null
    drops.left -= 1
    return { how: 'drop', when: 'before' }
  }
  const saidBefore = [...host.said]

  await rig.clock.advance(MINUTE_MS)
  const afterOne = host.said.slice(saidBefore.length)
  drops.left = 2
  await rig.clock.advance(MINUTE_MS)
  const afterTwo = host.said.slice(saidBefore.length)

  expect(afterOne).toEqual([])
  expect(afterTwo.filter((code) => code !== 'agent_starting' && code !== 'starting')).toEqual([
    'agent_down',
    'online',
  ])
})

describe('an hour of a phone that never gets ready costs little', () => {
  const HOUR_MS = 60 * MINUTE_MS
  /** Events, questions to the launcher, and commands of the agent, at most. */
  test.each<readonly [string, Act, Costs]>([
    ['absent', (rig) => rig.cable.detach(UDID), { events: 2, asked: 0, commands: 0 }],
    [
      'not trusted',
      (rig) => rig.cable.refuse(UDID, 'not_trusted'),
      { events: 2, asked: 0, commands: 0 },
    ],
    [
      'without its image',
      (rig) => {
        rig.launcher.prepareTrouble = NO_IMAGE
      },
      { events: 3, asked: 70, commands: 0 },
    ],
    [
      'with an expired agent',
      (rig) => {
        rig.launcher.launchTrouble = EXPIRED
      },
      { events: 3, asked: 140, commands: 0 },
    ],
    ['with a silent agent', silence, { events: 3, asked: 80, commands: 0 }],
    ['with a screen that nobody knows', hideScreen, { events: 3, asked: 140, commands: 900 }],
    [
      'with a question on its screen',
      (rig) => {
        hideScreen(rig)
        rig.phone.alerts = [{ text: 'Trust?', buttons: ['Trust'] }]
      },
      { events: 3, asked: 2, commands: 400 },
    ],
  ])('%s', async (_what, act, atMost) => {
    const rig = PhoneLineRig.plugged()
    rig.cable.attach(OTHER_UDID)
    act(rig)
    const host = await PhoneHost.attend(rig)

    for (let ms = 0; ms < HOUR_MS; ms += 5_000) {
      rig.cable.tell(OTHER_UDID, {})
      await rig.clock.advance(5_000)
    }

    const costs = {
      events: host.events.length,
      asked: rig.launcher.asked.length,
      commands: rig.commands.requests.length,
    }
    for (const what of ['events', 'asked', 'commands'] as const) {
      expect(costs[what]).toBeLessThanOrEqual(atMost[what])
    }
    expect(host.isOnline).toBe(false)
  })
})
