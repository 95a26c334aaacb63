// The broker's disk is wiped under load: all that lies in its folder but the head's own secrets (its authority
// and its key), with the broker killed, and every second time with the head killed as well.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { systemRandom } from '../../../src/system/random.ts'
import { Receiver } from '../../support/receiver.ts'
import { refuseSome, underLoad } from './boxes.ts'
import { Fleet } from './fleet.ts'
import { ENVIRONMENT } from './load.ts'

const SECRETS: readonly string[] = ['ca.pem', 'head.seed']
const GAP_MS = 2_000

export async function runWipes(count: number) {
  using well = new Receiver()
  using unwell = new Receiver(refuseSome)
  const shape = { boxes: 2, linesOfBox: 2, ownLines: 1 }
  await using fleet = await Fleet.open({ ...shape, environment: ENVIRONMENT })
  let wipes = 0
  const run = await underLoad(fleet, [well, unwell], async () => {
    while (wipes < count) {
      await Bun.sleep(systemRandom.chance() * GAP_MS)
      const isHeadToo = wipes % 2 === 1
      if (isHeadToo) await fleet.head.end('SIGKILL')
      if (fleet.signalBroker('SIGKILL')) wipes += wipe(fleet.brokerFolder)
      if (isHeadToo) fleet.head.start()
    }
  })
  return { wipes, ...run }
}

function wipe(folder: string): 1 {
  for (const name of readdirSync(folder)) {
    if (!SECRETS.includes(name)) rmSync(join(folder, name), { recursive: true, force: true })
  }
  return 1
}
