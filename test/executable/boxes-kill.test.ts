import { expect } from 'bun:test'

import { A_BROKER, NATS_SERVER } from '../support/nats-server.ts'
import { testNeeding } from '../support/needs.ts'
import { runBoxKills } from './torture/boxes.ts'

const KILLS = 8

testNeeding(A_BROKER, NATS_SERVER !== null)(
  `after ${KILLS} kills of a head, its boxes and its broker nothing is lost or sent twice`,
  async () => {
    const { faults, exitCodes, killed, remote } = await runBoxKills({ kills: KILLS, stops: 1 })

    expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
    expect(exitCodes).toEqual([0, 0, 0])
    expect(Object.values(killed)).not.toContain(0)
    expect(remote).toBeGreaterThan(KILLS)
  },
  300_000,
)
