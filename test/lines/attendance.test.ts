// One line's attendance: what drivers tell and when, how failures are met, and what a stop leaves.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../src/domain/driver.ts'
import { CAPABILITIES, MisbehavingDriver } from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { peek, startRig } from './supervisor-rig.ts'

const checkpoint = (text: string): LineEvent => ({ type: 'checkpoint', checkpoint: text })

test('an attended line is online, with what its driver says of it', async () => {
  const rig = await startRig([new MisbehavingDriver()])

  const { state, isConfigured, capacity } = rig.line()

  expect({ state, isConfigured, capacity }).toEqual({
    state: { status: 'online', imessageActive: true, capabilities: CAPABILITIES },
    isConfigured: true,
    capacity: 2,
  })
  await rig.stop()
})

test('a line is attended again from the checkpoint that was stored last', async () => {
  const driver = new MisbehavingDriver()
  driver.attending = async (visit) => {
    if (driver.visits.length > 1) return driver.stayOnline(visit)
    await visit.listener.onEvent(checkpoint('seven'))
    throw new Error('unplugged')
  }
  const rig = await startRig([driver])

  await rig.clock.advance(1_000)

  expect(driver.visits.map(({ line }) => line.checkpoint)).toEqual([null, 'seven'])
  await rig.stop()
})

test('a driver that fails is called again after 1, 2, 4 … 60 seconds', async () => {
  const driver = new MisbehavingDriver()
  const at: number[] = []
  driver.attending = async () => {
    at.push(rig.clock.monotonic() / 1_000)
    throw new Error('no device')
  }
  const rig = await startRigWith(driver)

  await rig.clock.advance(190_000)

  expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183])
  expect(rig.reason()).toBe('driver_failed')
  await rig.stop()
})

async function startRigWith(driver: MisbehavingDriver) {
  const { createRig } = await import('./supervisor-rig.ts')
  const rig = createRig([driver])
  await rig.start()
  return rig
}
