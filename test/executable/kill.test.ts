import { expect, test } from 'bun:test'

import { runKills } from './torture/kills.ts'

const KILLS = 60

test(`after ${KILLS} kills under load and during a start nothing is lost, sent twice or given up`, async () => {
  const { faults, exitCode, told } = await runKills(KILLS)

  expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
  expect(exitCode).toBe(0)
  expect(told).toBeGreaterThan(KILLS)
}, 600_000)
