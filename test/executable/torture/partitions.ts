// Partitions of a real network under load: each box's way to the head is cut and mended again and again, in one
// direction or both, and the ledgers of all are compared.

import { systemRandom } from '../../../src/system/random.ts'
import { Receiver } from '../../support/receiver.ts'
import { BoxNetwork, type Cut } from './box-network.ts'
import { refuseSome, underLoad } from './boxes.ts'
import { Fleet } from './fleet.ts'
import { ENVIRONMENT } from './load.ts'

const BOXES = ['box-1', 'box-2', 'box-3'] as const
const CUTS: readonly Cut[] = ['both', 'from_box', 'to_box']
const CUT_MS_MIN = 200
const CUT_MS_MAX = 20_000
const WHOLE_MS_MAX = 3_000

/** `count` partitions, of all boxes together. */
export async function runPartitions(count: number) {
  using network = new BoxNetwork(BOXES)
  using well = new Receiver()
  using unwell = new Receiver(refuseSome)
  await using fleet = await Fleet.open({
    boxes: BOXES.length,
    linesOfBox: 1,
    ownLines: 1,
    environment: ENVIRONMENT,
    under: (name) => network.under(name),
  })
  const cuts: Record<Cut, number> = { both: 0, from_box: 0, to_box: 0 }
  let [left, cutMs] = [count, 0]
  const cutAgainAndAgain = async (box: string) => {
    while (left > 0) {
      left -= 1
      const cut = CUTS[Math.floor(systemRandom.chance() * CUTS.length)] ?? 'both'
      const lengthMs = CUT_MS_MIN * (CUT_MS_MAX / CUT_MS_MIN) ** systemRandom.chance()
      network.cut(box, cut)
      await Bun.sleep(lengthMs)
      network.mend(box, cut)
      cuts[cut] += 1
      cutMs += lengthMs
      await Bun.sleep(systemRandom.chance() * WHOLE_MS_MAX)
    }
  }
  const run = await underLoad(fleet, [well, unwell], async () => {
    await Promise.all(BOXES.map(cutAgainAndAgain))
  })
  return { cuts, cutMs, ...run }
}
