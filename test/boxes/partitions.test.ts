import { expect, test } from 'bun:test'

import { livePartitions } from './partitions.ts'

const PARTITIONS = 3
/** As long as the suite has time for; `scripts/torture.ts days` has whole ones. */
const CUT_MS_MAX = 120_000

test(`after ${PARTITIONS} partitions nothing is lost, sent twice or given up`, async () => {
  const { faults, told, carried, remote, cutMs } = await livePartitions(PARTITIONS, 1, CUT_MS_MAX)

  expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
  expect(carried).toBeGreaterThan(told * 0.9)
  expect(remote).toBeGreaterThan(told / 2)
  expect(cutMs).toBeGreaterThan(0)
}, 120_000)
