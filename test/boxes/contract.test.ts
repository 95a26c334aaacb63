// Every promise of a driver, kept over the link: the device is at a box, and the head runs its line.

import type { LineDriver } from '../../src/lines/driver.ts'
import { makeIphoneRig } from '../contract/iphone-rig.ts'
import { describeLineDriver } from '../contract/line-driver.ts'
import type { LineRig } from '../contract/line-rig.ts'
import { makeSimulatedRig } from '../contract/simulated-rig.ts'
import { BOX, BoxRig } from '../support/box-rig.ts'

describeLineDriver('the simulated driver on a box', () => atBox(makeSimulatedRig()))
describeLineDriver('the iPhone driver on a box', () => atBox(makeIphoneRig()))

/** The same device, behind an agent, the link and the fleet. */
function atBox(rig: LineRig): LineRig {
  const boxes = new BoxRig(rig.clock)
  const start = (local: LineDriver): LineDriver => {
    const { kind } = local
    const process = boxes.start([local])
    const joined = boxes.joined(kind)
    return {
      ...joined,
      discover: async (signal) => {
        await boxes.heardFrom(process, kind)
        return [...(await joined.discover(signal)), ...boxes.fleet.devices(kind)]
      },
      run: (line, listener, signal) => joined.run({ ...line, box: BOX }, listener, signal),
    }
  }
  return {
    ...rig,
    // The journal of the box does.
    provesUnsent: true,
    driver: start(rig.driver),
    restart: () => start(rig.restart()),
    close: () => {
      boxes[Symbol.dispose]()
      rig.close()
    },
  }
}
