// The trail itself: what is counted, cut, kept and carried over. Who leaves an entry by which operation is
// in `test/story/audit.test.ts`.

import { expect, test } from 'bun:test'

import { COMMAND_LINE, type AuditFields, type Origin } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { recordVersion } from '../../src/storage/about.ts'
import { listAudit, type AuditFilter, createAudit } from '../../src/storage/audit.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { deleteOldAudit } from '../../src/storage/retention.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { Writer } from '../../src/storage/writer.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { recordingLog } from '../support/recording-log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'
import { seededRandom } from '../support/test-relay.ts'

const DAY = 86_400_000
const PAGE = { limit: 200, cursor: null }
const RELAY = { kind: 'relay', id: null } as const

function openTrail(path = ':memory:') {
  const { db } = openDatabase(path, { version: 'test' })
  const clock = new TestClock()
  const writer = new Writer(db, () => {})
  const { log, lines } = recordingLog()
  const audit = createAudit({ writer, ids: new LogicalClock(clock, seededRandom(1), 0), log })
  return {
    db,
    clock,
    writer,
    audit,
    lines,
    list: (filter: AuditFilter = {}) => listAudit(db, filter, PAGE).data,
    change: (before: AuditFields | null, after: AuditFields | null, origin = COMMAND_LINE) =>
      writer.write((tx) => {
        const about = { kind: 'setting', id: 'backups_kept' } as const
        audit.record(tx, origin, { action: 'setting.changed', about, before, after })
      }),
    refuse: (address: string) => writer.write((tx) => audit.recordRefusal(tx, from(address))),
  }
}

function from(address: string): Origin {
  return { actor: { kind: 'dashboard', id: null }, address, requestId: 'req_1' }
}

test('an entry has only the fields that differ, and a change of none leaves no entry', async () => {
  const trail = openTrail()

  await trail.change({ a: 1, b: ['x'], c: null }, { a: 2, b: ['x'], c: 'new' })
  await trail.change({ a: 1, b: ['x'] }, { a: 1, b: ['x'] })

  expect(trail.list().map(({ before, after }) => [before, after])).toEqual([
    [
      { a: 1, c: null },
      { a: 2, c: 'new' },
    ],
  ])
  expect(trail.lines).toHaveLength(1)
})

test('a change that is rolled back leaves neither an entry nor a line in the log', async () => {
  const trail = openTrail()

  const failing = trail.writer.write((tx) => {
    trail.audit.record(tx, COMMAND_LINE, { action: 'relay.upgraded', about: RELAY })
    throw new Error('no')
  })

  expect(await failing.catch(String)).toBe('Error: no')
  expect([trail.list(), trail.lines]).toEqual([[], []])
})

test('a long text is cut, so that an entry is small', async () => {
  const trail = openTrail()

  await trail.change(null, { description: 'x'.repeat(5_000) })

  expect(trail.list()[0]?.after).toEqual({ description: `${'x'.repeat(300)}…` })
})

test('wrong passwords of one address are one counted entry a day', async () => {
  const trail = openTrail()

  for (let i = 0; i < 3; i += 1) {
    await trail.refuse('203.0.113.9')
    await trail.clock.advance(60_000)
  }
  await trail.clock.advance(DAY)
  await trail.refuse('203.0.113.9')

  const counted = trail
    .list()
    .map(({ address, count, at, last_at }) => [address, count, at, last_at])
  expect(counted).toEqual([
    ['203.0.113.9', 1, '2026-11-22T10:03:00.000Z', '2026-11-22T10:03:00.000Z'],
    ['203.0.113.9', 3, '2026-11-21T10:00:00.000Z', '2026-11-21T10:02:00.000Z'],
  ])
})

test('who guesses from ever new addresses fills no disk: beyond a hundred a day they are one entry', async () => {
  const trail = openTrail()

  for (let i = 0; i < 250; i += 1) await trail.refuse(`2001:db8::${i.toString(16)}`)

  const list = trail.list()
  expect(list).toHaveLength(101)
  expect(list[0]).toMatchObject({ action: 'password.refused', address: null, count: 150 })
})

test('entries are kept for 400 days, and no more than 100,000 of them', async () => {
  const trail = openTrail()
  await trail.change(null, { a: 1 })
  await trail.clock.advance(DAY)
  await trail.change(null, { a: 2 })
  const purge = (days: number) =>
    trail.writer.write((tx) => deleteOldAudit(tx, ageAt(trail.clock.now() + days * DAY), 500))

  const young = await purge(398)
  const old = await purge(399.5)
  const left = trail.list().map(({ after }) => after)
  trail.db.sqlite.run('UPDATE audit SET seq = 1')
  await trail.change(null, { a: 3 })
  trail.db.sqlite.run('UPDATE audit SET seq = 100001 WHERE seq = 2')
  const surplus = await purge(0)

  expect([young, old, left, surplus]).toEqual([0, 1, [{ a: 2 }], 1])
  expect(trail.list().map(({ after }) => after)).toEqual([{ a: 3 }])
})

test('the list can be asked for by time, action, actor and thing', async () => {
  const trail = openTrail()
  await trail.change(null, { a: 1 })
  await trail.clock.advance(1_000)
  await trail.change(null, { a: 2 }, { ...COMMAND_LINE, actor: { kind: 'key', id: 'key_1' } })
  await trail.refuse('203.0.113.9')
  const found = (filter: AuditFilter) =>
    trail.list(filter).map(({ action, after }) => after?.['a'] ?? action)

  expect(found({ since: timestamp(TEST_START + 1_000) })).toEqual(['password.refused', 2])
  expect(found({ action: 'setting.changed' })).toEqual([2, 1])
  expect([found({ actor: 'key_1' }), found({ actor: 'cli' })]).toEqual([[2], [1]])
  expect(found({ about: 'backups_kept' })).toEqual([2, 1])
  expect(found({ about: 'dashboard' })).toEqual(['password.refused'])
})

test('another version that serves the data is recorded once; the first one is not', async () => {
  const trail = openTrail()

  for (const version of ['1.0.0', '1.0.0', '1.1.0', '1.1.0', '1.0.0']) {
    await recordVersion(trail, version)
  }

  expect(trail.list().map(({ actor, before, after }) => [actor, before, after])).toEqual([
    [RELAY, { version: '1.1.0' }, { version: '1.0.0' }],
    [RELAY, { version: '1.0.0' }, { version: '1.1.0' }],
  ])
})

for (const present of ['is sound', 'is damaged'] as const) {
  test(`a restore is recorded, and keeps what was since where the database ${present}`, async () => {
    using folder = new ScratchFolder()
    const directory = openDataDirectory(folder.path)
    const trail = openTrail(directory.database)
    await trail.change(null, { a: 1 })
    takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
    await trail.change(null, { a: 2 })
    closeDatabase(trail.db)
    if (present === 'is damaged') await Bun.write(directory.database, 'no database')

    const now = timestamp(TEST_START + DAY)
    restoreBackup({ directory, file: folder.file('backup.db'), version: 'test', now })

    const restored = openTrail(directory.database)
    const entries = restored
      .list()
      .map(({ action, after, about }) => after?.['a'] ?? [action, about.id])
    const since = present === 'is sound' ? [2] : []
    expect(entries).toEqual([['backup.restored', 'backup.db'], ...since, 1])
    closeDatabase(restored.db)
  })
}

function ageAt(now: number) {
  return {
    now: () => timestamp(now),
    ago: (ms: number) => timestamp(now - ms),
    ageOf: (at: number) => now - at,
  }
}
