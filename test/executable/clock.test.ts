import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { jumpClock } from './torture/clock.ts'
import { compileShim } from './torture/recording.ts'

const DAY_MS = 86_400_000

test('a wall clock that is 400 days ahead for a moment ages nothing that waits', async () => {
  using folder = new ScratchFolder()
  const library = compileShim(folder)
  if (library === null) return

  expect(await jumpClock(folder, library, { jumpMs: 400 * DAY_MS, stayMs: 1_500 })).toEqual([])
}, 180_000)
