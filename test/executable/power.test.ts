// Power cuts that are put together from a recording: see torture/power.ts.

import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { cutPower, recordLoad } from './torture/power.ts'
import { compileShim } from './torture/recording.ts'

const IMAGES = 24

test('whatever a power cut leaves of unflushed writes, nothing acknowledged is lost', async () => {
  using folder = new ScratchFolder()
  const library = compileShim(folder)
  if (library === null) return
  const load = await recordLoad(folder, library, 3)

  const cut = cutPower(load, IMAGES, { seed: 1 })
  const control = cutPower(load, IMAGES, {
    seed: 1,
    ignoresFlush: (path) => path.endsWith('hookline.db-wal'),
  })

  expect(cut.faults).toEqual([])
  expect(cut.lookedUp).toBeGreaterThan(IMAGES)
  // On a disk that does not flush the log the same look finds what is gone.
  expect(control.faults.length).toBeGreaterThan(0)
}, 180_000)
