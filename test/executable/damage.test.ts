import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { damageCopies } from './torture/damage.ts'

const COPIES = 8

test('a damaged database is refused, or ends the relay with words that help, whichever part meets it', async () => {
  using folder = new ScratchFolder()

  const { faults } = await damageCopies(folder, COPIES, 7)

  expect(faults).toEqual([])
}, 120_000)
