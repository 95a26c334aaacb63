// Random histories of rows of chat.db, through the real driver and the real relay: what people, the owner, iCloud and
// programs did is known in the end, once, under the right name, and as news only if it is. A fault comes with the
// shortest history that has it. `scripts/torture.ts mac-rows` lives through far more of them.

import { expect, test } from 'bun:test'

import { SCALE, SEED } from '../support/scale.ts'
import { drawRun } from './mac-model/draw.ts'
import { FEATURES } from './mac-model/history.ts'
import { HISTORIES_OF_RUN, runRows } from './mac-model/model.ts'

const RUNS = 4

for (let run = 0; run < RUNS; run += 1) {
  const seed = SEED + run * HISTORIES_OF_RUN
  const count = HISTORIES_OF_RUN * SCALE

  test(`in ${count} histories nothing is lost, doubled, or under a wrong name, seed ${seed}`, async () => {
    const { histories, faults } = await runRows({ count, seed })

    expect(faults).toEqual([])
    expect(histories).toBe(count)
  }, 600_000)
}

test('the same seed gives the same histories', () => {
  const drawn = { seed: 7, histories: 5, features: new Set(FEATURES) }

  expect(drawRun(drawn)).toEqual(drawRun(drawn))
})
