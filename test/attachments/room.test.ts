// Which files that have yet to be fetched the store would keep.

import { expect, test } from 'bun:test'

import { AttachmentStore } from '../../src/attachments/store.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { openTestStorage } from '../support/test-storage.ts'

const MB = 1_024 ** 2

test('a file that is still elsewhere is taken up to the longest one, and up to the quota with the others', async () => {
  using folder = new ScratchFolder()
  const { core } = openTestStorage()
  await core.settings.set('attachment_max_mb', '700', COMMAND_LINE)
  await core.settings.set('attachment_quota_gb', '1', COMMAND_LINE)
  const store = new AttachmentStore(core, folder.file('attachments'))

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
