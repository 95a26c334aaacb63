// What every driver promises at the seam (src/lines/driver.ts), one test for each promise. A rig gives
// the driver a device of its own and says what that device did; the tests know nothing else of it.

import { describe, expect, test } from 'bun:test'

import { NEVER } from '../../src/system/clock.ts'
import { ABILITY_PROMISES } from './ability-promises.ts'
import { EVENT_PROMISES } from './event-promises.ts'
import { type Check, type LineRig } from './line-rig.ts'
import { SENDING_PROMISES } from './sending-promises.ts'

export function describeLineDriver(name: string, makeRig: () => LineRig): void {
  describe(`${name} keeps the promises of a line driver`, () => {
    const promises = {
      ...LOOKING_PROMISES,
      ...SENDING_PROMISES,
      ...EVENT_PROMISES,
      ...ABILITY_PROMISES,
    }
    for (const [promise, check] of Object.entries(promises)) {
      test(promise, async () => {
        const rig = makeRig()
        try {
          await check(rig)
        } finally {
          rig.close()
        }
      })
    }
  })
}

const LOOKING_PROMISES: Readonly<Record<string, Check>> = {
  'discovery says the same again and again, each device once': async ({ driver }) => {
    const first = await driver.discover(NEVER)
    const second = await driver.discover(NEVER)

    expect(second).toEqual(first)
    expect(new Set(first.map(({ key }) => key)).size).toBe(first.length)
  },

  'a checkup of a healthy device finds nothing': async ({ driver }) => {
    const findings = await driver.checkup(NEVER)

    expect(findings).toEqual([])
  },
}
