import { expect, test } from 'bun:test'
import { basename } from 'node:path'

import { createUpkeep } from '../../src/housekeeping/upkeep.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import type { Change } from '../../src/system/changes.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { settingsOf } from './chosen-settings.ts'

test('a back-up that was made is told to the pages that list them', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const { db } = openDatabase(directory.database, { version: 'test' })
  const told: Change[] = []
  const upkeep = createUpkeep({
    clock: new TestClock(),
    log: silentLog,
    writer: new Writer(db, () => {}),
    settings: settingsOf({}),
    directory,
    changes: { tell: (changes) => told.push(...changes) },
    keepAnswers: () => {},
    folder: null,
  })

  const made = await upkeep.backUp(null)

  expect(told).toEqual([{ what: 'backup', id: basename(made.path) }])
})
