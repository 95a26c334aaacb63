import { createAudit } from '../../src/storage/audit.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom as random } from '../../src/system/random.ts'
import { TestClock } from './test-clock.ts'

/** A real database on the test clock, with what a module needs to write and to record its changes. */
export function openTestStorage(path = ':memory:') {
  const { db } = openDatabase(path, { version: 'test' })
  const clock = new TestClock()
  const writer = new Writer(db, () => {})
  const stamps = new LogicalClock(clock, random, 0)
  const audit = createAudit({ writer, stamps, log: silentLog })
  return { db, clock, random, writer, stamps, audit }
}
