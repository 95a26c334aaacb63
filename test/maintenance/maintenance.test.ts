import { expect, test } from 'bun:test'
import { basename } from 'node:path'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp, type EventId, type MessageId } from '../../src/domain/ids.ts'
import { createMaintenance } from '../../src/maintenance/maintenance.ts'
import { createAudit } from '../../src/storage/audit.ts'
import { BackupWorker } from '../../src/storage/backup.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { insertEvent } from '../../src/storage/events.ts'
import { Writer } from '../../src/storage/writer.ts'
import type { Change } from '../../src/system/change-feed.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Signal } from '../../src/system/signal.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { settingsOf } from './chosen-settings.ts'

const DAY_MS = 86_400_000

function startMaintenance(folder: ScratchFolder) {
  const directory = openDataDirectory(folder.path)
  const { db } = openDatabase(directory.database, { version: 'test' })
  const told: Change[] = []
  const clock = new TestClock()
  const confirmed = new ConfirmedClock(clock, null)
  const writer = new Writer(db, () => {})
  const maintenance = createMaintenance({
    clock: confirmed,
    stamps: new LogicalClock(confirmed, systemRandom, 0),
    log: silentLog,
    writer,
    audit: createAudit({
      writer,
      stamps: new LogicalClock(clock, systemRandom, 0),
      log: silentLog,
    }),
    settings: settingsOf({}),
    directory,
    changes: { publish: (changes) => told.push(...changes) },
    dispatchSignal: new Signal(),
    healthSignal: new Signal(),
    backupWorker: new BackupWorker(),
    random: systemRandom,
    disk: { requireRoomFor: () => {} },
    folder: null,
    attachments: { sweep: async () => {} },
  })
  return { clock, db, writer, maintenance, told }
}

test('a back-up that was made is told to the pages that list them', async () => {
  using folder = new ScratchFolder()
  const { maintenance, told } = startMaintenance(folder)

  const made = await maintenance.backUp({ to: null }, COMMAND_LINE)

  expect(told).toEqual([{ what: 'backup', id: basename(made.path) }])
})

test('events go by themselves after 30 days, whether a webhook was to get them or not', async () => {
  using folder = new ScratchFolder()
  const { clock, db, writer, maintenance } = startMaintenance(folder)
  const monthAgo = clock.now() - 30 * DAY_MS
  await writer.write((tx) => {
    for (const at of [monthAgo - 1, monthAgo + DAY_MS]) {
      for (const body of [null, '{}']) {
        insertEvent(tx, {
          id: `evt_${at}_${body}` as EventId,
          name: 'message.failed',
          messageId: 'msg_a' as MessageId,
          conversationId: null,
          body,
          createdAt: timestamp(at),
        })
      }
    }
  })
  const stop = new AbortController()

  const running = maintenance.timetable.run(stop.signal)
  await clock.advance(60_000)

  expect(db.sqlite.query('SELECT seq FROM events').values().flat()).toEqual([3, 4])
  stop.abort()
  await running
})
