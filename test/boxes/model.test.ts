// The protocol on a network that loses, doubles, delays and reorders, with processes that are killed, paused,
// cut off and cloned. `scripts/torture.ts boxes-model` runs far more of it.

import { expect, test } from 'bun:test'

import { runModel } from './model/model.ts'

const STEPS = 2_000

for (const seed of [1, 2, 3]) {
  test(`no law of the protocol is broken in ${STEPS} deliveries, seed ${seed}`, async () => {
    const { steps, faults } = await runModel(STEPS, seed)

    expect(faults).toEqual([])
    expect(steps).toBeGreaterThanOrEqual(STEPS)
  }, 180_000)
}

test('the same seed gives the same history', async () => {
  const first = await runModel(100, 4)
  const second = await runModel(100, 4)

  expect(second).toEqual(first)
})
