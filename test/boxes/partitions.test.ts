import { expect, test } from 'bun:test'

import { livePartitions } from './partitions.ts'

const PARTITIONS = 6

test(`after ${PARTITIONS} partitions of up to a day nothing is lost, sent twice or given up`, async () => {
  const { faults, carried, remote, cutMs } = await livePartitions(PARTITIONS, 1)

  expect(Object.entries(faults).filter(([, list]) => list.length > 0)).toEqual([])
  expect(carried).toBeGreaterThan(PARTITIONS)
  expect(remote).toBeGreaterThan(PARTITIONS)
  expect(cutMs).toBeGreaterThan(0)
}, 120_000)
