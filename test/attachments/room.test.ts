// Which files that have yet to be fetched the store would keep.

import { expect, test } from 'bun:test'

import { AttachmentStore } from '../../src/attachments/store.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const MB = 1_024 ** 2

test('a file that is still elsewhere is taken up to the longest one, and up to the quota with the others', async () => {
  using folder = new ScratchFolder()
  const settings = { attachment_max_mb: 700, attachment_quota_gb: 1 }
  const store = new AttachmentStore({
    folder: folder.file('attachments'),
    random: systemRandom,
    clock: new TestClock(),
    settings: { get: (name) => settings[name as keyof typeof settings] as never }, // It asks for these.
  })

  const taken = []
  for (const [size, others] of [
    [700, 0],
    [701, 0],
    [600, 424],
    [600, 425],
  ] as const) {
    taken.push(await store.takes(size * MB, others * MB))
  }

  expect(taken).toEqual([true, false, true, false])
})
