import { createAudit } from '../../src/storage/audit.ts'
import type { Core } from '../../src/storage/core.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { createSettings } from '../../src/storage/settings.ts'
import { Writer } from '../../src/storage/writer.ts'
import { ChangeFeed } from '../../src/system/change-feed.ts'
import { ConfirmedClock } from '../../src/system/confirmed-clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom as random } from '../../src/system/random.ts'
import { TestClock } from './test-clock.ts'

/** A real database on the test clock, with what a module needs to write and to record its changes. */
export function openTestStorage(path = ':memory:', clock = new TestClock()) {
  const { db } = openDatabase(path, { version: 'test' })
  const changes = new ChangeFeed({ clock, random })
  const writer = new Writer(db, () => {}, undefined, changes)
  const ids = new LogicalClock(clock, random, 0)
  const audit = createAudit({ writer, ids, log: silentLog })
  const settings = createSettings({ db, writer, ids, audit, locked: {} })
  const confirmed = new ConfirmedClock(clock, null)
  const log = silentLog
  const core: Core = {
    db,
    writer,
    clock: confirmed,
    ids,
    log,
    random,
    settings,
    changes,
    audit,
  }
  return { core, db, clock, random, writer, ids, audit }
}
