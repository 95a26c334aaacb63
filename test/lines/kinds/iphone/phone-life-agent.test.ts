// The agent of a phone through its life: that it is stopped on every way down, what its end by itself says,
// how long its start may take, and what a phone costs that never gets ready.

import { describe, expect, test } from 'bun:test'

import type { LaunchTroubleCode } from '../../../../src/lines/kinds/iphone/agent/launcher.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const UDID = '00008110001A2B3C4D5E001E'
const OTHER_UDID = '00008110000B2B3C4D5E002E'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

type Act = (rig: PhoneLineRig) => void

function made(): PhoneLineRig {
  const rig = new PhoneLineRig([UDID, OTHER_UDID])
  rig.cable.attach(UDID)
  return rig
}

/** An agent that is started and does not answer. */
const silence: Act = (rig) => {
  rig.of(UDID).commands.isUnplugged = true
}
const refuse: Act = (rig) => rig.cable.refuse(UDID, 'not_trusted')
const prepareForEver: Act = (rig) => rig.launcher.preparesForEver.add(UDID)
const lock: Act = (rig) => Object.assign(rig.of(UDID).phone, { isLocked: true, unlock: () => true })
const failToLaunch: Act = (rig) => {
  rig.launcher.launchTrouble = { code: 'launch_failed', why: 'It said so.' }
}

/** From the nth on descriptions of the screen take half a minute. */
function slowFrom(nth: number): Act {
  return (rig) => {
    let count = 0
    rig.of(UDID).commands.meddle = (name) => {
      if (name === 'source') count += 1
      return name === 'source' && count >= nth ? { how: 'slow', ms: 30_000 } : null
    }
  }
}

describe('a phone that is unplugged is absent at once, and nothing of its agent is left', () => {
  test.each<readonly [string, string, Act]>([
    ['while it cannot be read', 'attached', refuse],
    ['while all is prepared for the agent', 'trusted', prepareForEver],
    ['while the start of the agent failed and is waited for', 'prepared', failToLaunch],
    ['while the agent does not answer yet', 'agent_starting', silence],
    ['while Messages is brought to the front', 'agent_running', slowFrom(1)],
    ['while its screen is locked, and that is waited for', 'agent_running', lock],
    // Nothing is waited for between these two.
    ['while it is read what came meanwhile', 'imessage_active', slowFrom(2)],
    ['while it is online and quiet', 'online', () => {}],
    ['while it is online and read', 'online', slowFrom(3)],
  ])('%s (%s)', async (_when, state, act) => {
    const rig = made()
    act(rig)
    const host = await PhoneHost.attend(rig, UDID)
    await rig.clock.advance(10_000)
    const before = host.state

    rig.unplug(UDID)
    await rig.clock.advance(0)
    const after = { said: host.said.at(-1), state: host.state, stopped: [...rig.launcher.stopped] }
    const asked = rig.launcher.asked.length
    await rig.clock.advance(10 * MINUTE_MS)

    expect(before).toBe(state)
    expect(after).toEqual({
      said: 'device_absent',
      state: 'absent',
      stopped: rig.launcher.launched,
    })
    expect(rig.launcher.asked.length).toBe(asked)
    await host.end()
  })
})

describe('the agent is stopped, and what is left of it ends', () => {
  test.each<readonly [string, Act, string]>([
    ['when it does not answer any more', silence, 'agent_down'],
    [
      'when the battery is empty',
      (rig) => rig.cable.tell(UDID, { battery: { percent: 3, isCharging: false } }),
      'battery_empty',
    ],
    [
      'when it hangs',
      (rig) => {
        rig.of(UDID).commands.meddle = () => ({ how: 'slow', ms: 61_000 })
      },
      'agent_stuck',
    ],
  ])('%s', async (_when, act, code) => {
    const rig = made()
    const host = await PhoneHost.online(rig, UDID)

    act(rig)
    await host.until(() => host.said.at(-1) === code)

    expect(rig.launcher.stopped).toEqual([UDID])
    await host.end()
    expect(rig.launcher.stopped).toEqual(rig.launcher.launched)
  })

  test.each<readonly [string, Act]>([
    ['while it does not answer yet', silence],
    ['while it is online', () => {}],
    ['while its start is waited for', failToLaunch],
  ])('at the end of the line %s', async (_when, act) => {
    const rig = made()
    act(rig)
    const host = await PhoneHost.attend(rig, UDID)
    await rig.clock.advance(10_000)

    await host.end()
    const commands = rig.of(UDID).commands.requests.length
    const events = host.events.length
    await rig.clock.advance(10 * MINUTE_MS)

    expect(rig.launcher.stopped).toEqual(rig.launcher.launched)
    expect(rig.of(UDID).commands.requests.length - commands).toBe(0)
    expect(host.events.length).toBe(events)
  })
})

const CODES: readonly LaunchTroubleCode[] = [
  'launcher_absent',
  'image_mount_failed',
  'tunnel_failed',
  'launch_failed',
]

describe('an agent that ends by itself', () => {
  test.each(CODES)('says why: %s', async (code) => {
    const rig = made()
    const host = await PhoneHost.online(rig, UDID)

    rig.launcher.end(UDID, { code, why: 'It said so.' })
    await rig.clock.advance(0)
    const said = { code: host.said.at(-1), why: host.report.stop?.why }
    await rig.clock.advance(30_000)

    expect(said).toEqual({ code, why: expect.stringContaining('It said so.') })
    expect(rig.launcher.launched).toEqual([UDID, UDID])
    expect(host.isOnline).toBe(true)
    await host.end()
  })

  test('on a phone that is locked asks for its passcode', async () => {
    const rig = made()
    const host = await PhoneHost.online(rig, UDID)
    rig.cable.tell(UDID, { isLocked: true })

    rig.launcher.end(UDID, { code: 'launch_failed', why: 'It said so.' })
    await rig.clock.advance(0)

    expect(host.said.at(-1)).toBe('passcode_prompt')
    expect(host.report.stop?.why).toContain('It said so.')
    await host.end()
  })

  test('before it ever answered is not waited for', async () => {
    const rig = made()
    const launch = rig.launcher.launch.bind(rig.launcher)
    rig.launcher.launch = (phone) => {
      const launched = launch(phone)
      if ('stop' in launched)
        rig.launcher.end(phone.udid, { code: 'launch_failed', why: 'It said so.' })
      return launched
    }
    silence(rig)
    const host = await PhoneHost.attend(rig, UDID)

    await rig.clock.advance(20_000)

    expect(host.said).toEqual(['starting', 'launch_failed'])
    expect(rig.launcher.launched.length).toBe(5)
    await host.end()
  })

  test('while something else is waited for is started again', async () => {
    const rig = made()
    const host = await PhoneHost.online(rig, UDID)
    lock(rig)
    await host.until(() => host.said.at(-1) === 'locked')

    rig.launcher.end(UDID, { code: 'launch_failed', why: 'It said so.' })
    await rig.clock.advance(10_000)

    expect(rig.launcher.launched).toEqual([UDID, UDID])
    expect(rig.launcher.stopped).toEqual([UDID])
    await host.end()
  })
})

describe('an agent that is started', () => {
  test('has three minutes for the first time, and one later', async () => {
    const rig = made()
    silence(rig)
    const host = await PhoneHost.attend(rig, UDID)
    await rig.clock.advance(179_000)
    const first = [...host.said]
    rig.of(UDID).commands.isUnplugged = false
    await host.until(() => host.isOnline, 5_000)

    rig.unplug(UDID)
    rig.cable.attach(UDID)
    await rig.clock.advance(59_000)
    const second = host.said.slice(-2)
    await rig.clock.advance(3_000)

    expect(first).toEqual(['starting', 'agent_starting'])
    expect(second).toEqual(['starting', 'agent_starting'])
    expect(host.said.at(-1)).toBe('agent_down')
    await host.end()
  })

  test('has three minutes also where the first start was broken off', async () => {
    const rig = made()
    silence(rig)
    const host = await PhoneHost.attend(rig, UDID)
    await rig.clock.advance(20_000)
    rig.cable.detach(UDID)
    await rig.clock.advance(1_000)
    rig.cable.attach(UDID)

    await rig.clock.advance(175_000)

    expect(host.said.slice(-2)).toEqual(['starting', 'agent_starting'])
    await host.end()
  })

  test.each([
    [true, 'passcode_prompt'],
    [false, 'agent_down'],
    [null, 'agent_down'],
  ])('and never answers is asked for a passcode if it is locked: %p', async (isLocked, code) => {
    const rig = made()
    rig.cable.tell(UDID, { isLocked })
    silence(rig)
    const host = await PhoneHost.attend(rig, UDID)

    await rig.clock.advance(181_000)
    const stopped = [...rig.launcher.stopped]
    await rig.clock.advance(10 * MINUTE_MS)

    // Nor does what is told change while it is tried again.
    expect(host.said).toEqual(['starting', 'agent_starting', code])
    expect(stopped).toEqual([UDID])
    await host.end()
  })

  test('by somebody else is waited for without an end, and is never stopped for that', async () => {
    const rig = made()
    rig.launcher.isLeftToOwner = true
    silence(rig)
    const host = await PhoneHost.attend(rig, UDID)
    await rig.clock.advance(HOUR_MS)
    const said = [...host.said]

    rig.of(UDID).commands.isUnplugged = false
    await rig.clock.advance(3_000)

    expect(said).toEqual(['starting', 'agent_down'])
    expect(host.isOnline).toBe(true)
    expect(rig.launcher.launched).toEqual([])
    await host.end()
  })
})
