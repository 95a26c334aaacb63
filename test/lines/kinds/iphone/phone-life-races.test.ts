// What happens to a phone while something else happens to it: the life by itself, over work that a test
// holds up.

import { expect, test } from 'bun:test'

import { PhoneAgent } from '../../../../src/lines/kinds/iphone/agent/wda.ts'
import type { PhoneBlocker } from '../../../../src/lines/kinds/iphone/phone-blockers.ts'
import { type LifeWork, PhoneLife } from '../../../../src/lines/kinds/iphone/phone-life.ts'
import { OTHER_UDID, UDID } from '../../../support/iphone/fake-phones.ts'
import { directExchange } from '../../../support/iphone/fake-wda.ts'
import { PhoneLineRig } from '../../../support/iphone/phone-line-rig.ts'
import { testHost } from '../../../support/kind-host.ts'

const LOCKED: PhoneBlocker = { code: 'locked', detail: null }
const DOWN: PhoneBlocker = { code: 'agent_down', detail: null }

function made() {
  const rig = PhoneLineRig.plugged()
  const { clock, cable, launcher } = rig
  cable.attach(OTHER_UDID)
  const agent = PhoneAgent.over(directExchange(rig.commands), clock)
  const held = Promise.withResolvers<PhoneBlocker>()
  const changes = { count: 0 }
  const work: LifeWork = {
    show: async () => null,
    catchUp: async () => null,
    // Not even an abort ends it, as where a listener is slow.
    stay: () => held.promise,
    onChange: async () => {
      changes.count += 1
    },
  }
  const controller = new AbortController()
  const life = new PhoneLife(
    testHost({ clock, log: rig.log.log }),
    { udid: UDID, cable, agent, launcher },
    work,
  )
  const ended = life.run(controller.signal).then(
    () => null,
    (error: unknown) => error,
  )
  const end = async () => {
    controller.abort()
    held.resolve(DOWN)
    await clock.advance(0)
    return await ended
  }
  return { rig, agent, life, held, changes, end }
}

test('a problem that is met late does not hide that the phone is gone', async () => {
  const { rig, life, held, end } = made()
  await rig.clock.advance(1_000)
  rig.cable.detach(UDID)
  held.resolve(DOWN)
  await rig.clock.advance(1_000)

  life.fail(DOWN)

  expect([life.blocker?.code, life.stage]).toEqual(['device_absent', 'absent'])
  expect(await end()).toBeNull()
})

test('of two things at once the lower one counts, in whatever order', async () => {
  const { rig, life, held, end } = made()
  await rig.clock.advance(1_000)
  life.fail(LOCKED)
  const offline = { isOnline: life.isOnline, code: life.blocker?.code }

  rig.cable.detach(UDID)
  life.fail(LOCKED)
  held.resolve(DOWN)
  await rig.clock.advance(0)

  expect(offline).toEqual({ isOnline: false, code: 'locked' })
  expect([life.blocker?.code, life.stage]).toEqual(['device_absent', 'absent'])
  expect(await end()).toBeNull()
})

test('readings that say the same, of this phone or another one, cost no step', async () => {
  const { rig, changes, end } = made()
  rig.cable.refuse(UDID, 'not_trusted')
  await rig.clock.advance(200_000)
  const before = changes.count

  for (let i = 0; i < 120; i += 1) {
    if (i % 2 === 0) rig.cable.refuse(UDID, 'not_trusted')
    else rig.cable.tell(OTHER_UDID, {})
    await rig.clock.advance(5_000)
  }

  expect(changes.count - before).toBe(10)
  expect(await end()).toBeNull()
})

test('a pull and a plug in one moment is a fall to the bottom and a climb', async () => {
  const { rig, life, held, end } = made()
  await rig.clock.advance(1_000)
  const before = rig.launcher.asked.length

  rig.cable.detach(UDID)
  rig.cable.attach(UDID)
  held.resolve(DOWN)
  await rig.clock.advance(1_000)

  expect(rig.launcher.asked.slice(before)).toEqual(['prepare', 'launch'])
  expect(life.stage).not.toBe('absent')
  expect(await end()).toBeNull()
})

test('a fault of our own is thrown, and taken for no silent agent', async () => {
  const { rig, agent, end } = made()
  agent.health = () => Promise.reject(new TypeError('ours'))

  await rig.clock.advance(1_000)

  expect(await end()).toEqual(new TypeError('ours'))
  expect(rig.launcher.stopped).toEqual([UDID])
})
