// Histories of an iPhone line, drawn by chance: hostile names and texts, bursts, alerts, other chats in front, failed
// touches, kills and a pulled cable at any step. Everything is reported once and of the right person, and nothing is
// touched that was not verified. `scripts/torture.ts iphone-screens` runs far more of it.

import { expect, test } from 'bun:test'

import { runHistories } from './iphone-screens/run.ts'

const COUNT = 50
const SEED = 1

test(`in ${COUNT} histories no law of an iPhone line is broken`, async () => {
  const { faults } = await runHistories(COUNT, SEED)

  expect(faults).toEqual([])
}, 300_000)

test('the same seed gives the same history', async () => {
  const first = await runHistories(1, SEED)
  const second = await runHistories(1, SEED)

  expect(second).toEqual(first)
})
