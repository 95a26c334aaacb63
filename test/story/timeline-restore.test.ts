// The timeline after a restart while a line is off, and after a restore: what is in the backup stays, and nothing is
// claimed about the time that it doesn't have.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startScripted } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const textsOf = async (relay: { get(path: string): Promise<Json> }) =>
  (await relay.get('/api/v1/timeline')).data
    .filter(({ kind }: Json) => kind !== 'backup.made')
    .map(({ at, text }: Json) => `${at.slice(11, 16)} ${text}`)

test('a line that is off over a restart is reported once for each time that the relay knows of', async () => {
  using folder = new ScratchFolder()
  const { database: path } = openDataDirectory(folder.path)
  const first = await startScripted({ path, lines: ['offline'] })
  const { clock, key } = first
  await clock.advance(HOUR)
  await first[Symbol.asyncDispose]()
  await clock.advance(HOUR - 2 * MINUTE)
  await using relay = await startScripted({ path, lines: ['offline'], clock, key })
  await clock.advance(HOUR)
  await relay.device.goOnline()
  await clock.advance(HOUR)

  const { summary } = await relay.get('/api/v1/timeline')
  expect(await textsOf(relay)).toEqual([
    '12:00 +1 202 555 0801 was off for 1 hour: unplugged.',
    '12:00 Hookline started, 1 hour after it was stopped.',
    '10:00 Key First key created, on the command line.',
    '10:00 Hookline started.',
    '10:00 +1 202 555 0801 was off for 2 hours: unplugged.',
  ])
  expect(summary).toMatchObject({ lines_off: 1, off_seconds: 3 * 3_600 })
})

test('after a restore nothing is claimed about the time since the backup, and the rest stays true', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const path = directory.database
  const life = await startScripted({ path, lines: ['online', 'online'] })
  const { clock, key, device, second } = life
  await clock.advance(HOUR)
  await device.goOffline()
  await clock.advance(10 * MINUTE)
  const file = folder.file('backup.db')
  takeSnapshot(wholeBackup(directory, file))
  await clock.advance(10 * MINUTE)
  await device.goOnline()
  await second.goOffline()
  await clock.advance(HOUR)
  await life[Symbol.asyncDispose]()
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })
  await using relay = await startScripted({ path, clock, key, lines: ['online', 'online'] })
  await clock.advance(HOUR)

  const { summary } = await relay.get('/api/v1/timeline')
  expect(await textsOf(relay)).toEqual([
    '12:22 Backup backup.db restored, on the command line.',
    "12:22 A backup was restored. What happened after 11:10 isn't known.",
    '12:22 Hookline started.',
    "11:00 +1 202 555 0801 went off: unplugged. What came after 11:10 isn't known, because a backup was restored.",
    '10:00 Key First key created, on the command line.',
    '10:00 Hookline started.',
  ])
  expect(summary).toMatchObject({ lines_off: 1, off_seconds: 600 })
})
