import { expect, test } from 'bun:test'

import { runKills } from './torture/kills.ts'

const KILLS = 12

test(`after ${KILLS} kills under load and during a start nothing is lost, sent twice or given up`, async () => {
  const { faults, exitCode, early } = await runKills(KILLS)

  expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
  expect([exitCode, early]).toEqual([0, KILLS / 3])
}, 600_000)
