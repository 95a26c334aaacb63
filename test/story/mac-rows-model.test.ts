// Random histories of rows of chat.db: `scripts/torture.ts mac-rows` lives through them.

import { expect, test } from 'bun:test'

import { drawRun } from './mac-model/draw.ts'
import { FEATURES } from './mac-model/history.ts'

test('the same seed gives the same histories', () => {
  const drawn = { seed: 7, histories: 5, features: new Set(FEATURES) }

  expect(drawRun(drawn)).toEqual(drawRun(drawn))
})
