// The agent of a phone through its life: that nothing is left of it when the phone is pulled, what its end by
// itself says, and how long its start may take.

import { describe, expect, test } from 'bun:test'

import type { LaunchTroubleCode } from '../../../../src/lines/kinds/iphone/agent/launcher.ts'
import { UDID } from '../../../support/iphone/fake-phones.ts'
import { PhoneHost, PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'

const MINUTE_MS = 60_000
const ENDED = { code: 'launch_failed', why: 'It said so.' } as const

type Act = (rig: PhoneLineRig) => void

/** An agent that is started and does not answer. */
const silence: Act = (rig) => {
  rig.commands.isUnplugged = true
}
const refuse: Act = (rig) => rig.cable.refuse(UDID, 'not_trusted')
const prepareForEver: Act = (rig) => rig.launcher.preparesForEver.add(UDID)
const lock: Act = (rig) => Object.assign(rig.phone, { isLocked: true, unlock: () => true })
const failToLaunch: Act = (rig) => {
  rig.launcher.launchTrouble = ENDED
}

/** From the nth on descriptions of the screen take half a minute. */
function slowFrom(nth: number): Act {
  return (rig) => {
    let count = 0
    rig.commands.meddle = (name) => {
      if (name === 'source') count += 1
      return name === 'source' && count >= nth ? { how: 'slow', ms: 30_000 } : null
    }
  }
}

/** A line to whose phone `act` has happened, ten seconds after its start. */
async function attended(act: Act): Promise<PhoneHost> {
  const rig = PhoneLineRig.plugged()
  act(rig)
  const host = await PhoneHost.attend(rig)
  await rig.clock.advance(10_000)
  return host
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
    const host = await attended(act)
    const { clock, launcher } = host.rig
    const before = host.state

    host.rig.unplug()
    await clock.advance(0)
    const after = { said: host.said.at(-1), state: host.state, stopped: [...launcher.stopped] }
    const asked = launcher.asked.length
    await clock.advance(10 * MINUTE_MS)

    expect(before).toBe(state)
    expect(after).toEqual({ said: 'device_absent', state: 'absent', stopped: launcher.launched })
    expect(launcher.asked.length).toBe(asked)
  })
})

test.each<readonly [string, Act]>([
  ['while it does not answer yet', silence],
  ['while its start is waited for', failToLaunch],
])(
  'the agent is stopped at the end of the line %s, and nothing happens any more',
  async (_when, act) => {
    const host = await attended(act)
    const { clock, commands, launcher } = host.rig

    await host.end()
    const before = [commands.requests.length, host.events.length]
    await clock.advance(10 * MINUTE_MS)

    expect(launcher.stopped).toEqual(launcher.launched)
    expect([commands.requests.length, host.events.length]).toEqual(before)
  },
)

const CODES: readonly LaunchTroubleCode[] = [
  'launcher_absent',
  'image_mount_failed',
  'tunnel_failed',
  'launch_failed',
]

describe('an agent that ends by itself', () => {
  test.each(CODES)('says why: %s', async (code) => {
    const host = await PhoneHost.online()
    const { clock, launcher } = host.rig

    launcher.end(UDID, { code, why: 'It said so.' })
    await clock.advance(0)
    const said = { code: host.said.at(-1), why: host.report.stop?.why }
    await clock.advance(30_000)

    expect(said).toEqual({ code, why: expect.stringContaining('It said so.') })
    expect(launcher.launched).toEqual([UDID, UDID])
    expect(host.isOnline).toBe(true)
  })

  test('on a phone that is locked asks for its passcode', async () => {
    const host = await PhoneHost.online()
    host.rig.cable.tell(UDID, { isLocked: true })

    host.rig.launcher.end(UDID, ENDED)
    await host.rig.clock.advance(0)

    expect(host.said.at(-1)).toBe('passcode_prompt')
    expect(host.report.stop?.why).toContain('It said so.')
  })

  test('before it ever answered is not waited for', async () => {
    const rig = PhoneLineRig.plugged()
    const launch = rig.launcher.launch.bind(rig.launcher)
    rig.launcher.launch = (phone) => {
      const launched = launch(phone)
      if ('stop' in launched) rig.launcher.end(phone.udid, ENDED)
      return launched
    }
    silence(rig)
    const host = await PhoneHost.attend(rig)

    await rig.clock.advance(20_000)

    expect(host.said).toEqual(['starting', 'launch_failed'])
    expect(rig.launcher.launched.length).toBe(5)
  })

  test('while something else is waited for is started again', async () => {
    const host = await PhoneHost.online()
    const { clock, launcher } = host.rig
    lock(host.rig)
    await host.until(() => host.said.at(-1) === 'locked')

    launcher.end(UDID, ENDED)
    await clock.advance(10_000)

    expect(launcher.launched).toEqual([UDID, UDID])
    expect(launcher.stopped).toEqual([UDID])
  })
})

describe('an agent that is started', () => {
  test('has three minutes for the first time, also after a start that was broken off, and one later', async () => {
    const rig = PhoneLineRig.plugged()
    const { clock } = rig
    silence(rig)
    const host = await PhoneHost.attend(rig)
    await clock.advance(20_000)
    rig.cable.detach(UDID)
    await clock.advance(1_000)
    rig.cable.attach(UDID)
    await clock.advance(178_000)
    const first = host.said.slice(-2)
    rig.commands.isUnplugged = false
    await host.until(() => host.isOnline, 5_000)

    rig.unplug()
    rig.cable.attach(UDID)
    await clock.advance(59_000)
    const second = host.said.slice(-2)
    await clock.advance(3_000)

    expect(first).toEqual(['starting', 'agent_starting'])
    expect(second).toEqual(['starting', 'agent_starting'])
    expect(host.said.at(-1)).toBe('agent_down')
  })

  test.each([
    [true, 'passcode_prompt'],
    [false, 'agent_down'],
    [null, 'agent_down'],
  ])('and never answers is asked for a passcode if it is locked: %p', async (isLocked, code) => {
    const rig = PhoneLineRig.plugged({ isLocked })
    silence(rig)
    const host = await PhoneHost.attend(rig)

    await rig.clock.advance(181_000)
    const stopped = [...rig.launcher.stopped]
    await rig.clock.advance(10 * MINUTE_MS)

    // Nor does what is reported change while it is tried again.
    expect(host.said).toEqual(['starting', 'agent_starting', code])
    expect(stopped).toEqual([UDID])
  })

  test('by another program is waited for without an end, and is never stopped for that', async () => {
    const rig = PhoneLineRig.plugged()
    rig.launcher.isLeftToOwner = true
    silence(rig)
    const host = await PhoneHost.attend(rig)
    await rig.clock.advance(60 * MINUTE_MS)
    const said = [...host.said]

    rig.commands.isUnplugged = false
    await rig.clock.advance(3_000)

    expect(said).toEqual(['starting', 'agent_down'])
    expect(host.isOnline).toBe(true)
    expect(rig.launcher.launched).toEqual([])
  })
})
