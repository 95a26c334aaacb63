import { expect, test } from 'bun:test'

import { openDatabase, type Tx } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import type { Change } from '../../src/system/change-feed.ts'
import { settle } from '../support/test-clock.ts'
import { seededRandom } from '../support/test-relay.ts'
import { fail, names, openWriter, put } from './writer-rig.ts'

test('works that arrive together share one commit, in order, and resolve after it, never before', async () => {
  const { db, writer } = openWriter()
  let transactions = 0
  const seen: boolean[] = []
  const counted = (name: string) => (tx: Tx) => {
    if (names(tx).length === 0) transactions += 1
    seen.push(tx.sqlite.inTransaction)
    return put(name)(tx)
  }

  const answers = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const answer = await writer.write(counted(name))
      seen.push(db.sqlite.inTransaction)
      return answer
    }),
  )

  expect(answers).toEqual(['a', 'b', 'c'])
  expect(names(db)).toEqual(['a', 'b', 'c'])
  expect(transactions).toBe(1)
  expect(seen).toEqual([true, true, true, false, false, false])
})

test('a work that throws undoes itself and nobody else', async () => {
  const { db, writer } = openWriter()

  const results = await Promise.allSettled([
    writer.write(put('before')),
    writer.write(fail),
    writer.write(put('after')),
  ])

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(names(db)).toEqual(['before', 'after'])
})

test('acts run after the commit, and not for a work that was undone', async () => {
  const { db, writer } = openWriter()
  const acts: string[] = []

  const undone = writer.write((tx) => {
    writer.afterCommit(() => acts.push('of the undone work'))
    fail(tx)
  })
  const done = writer.write(() => {
    writer.afterCommit(() => acts.push(`in transaction: ${db.sqlite.inTransaction}`))
  })
  await Promise.allSettled([undone, done])

  expect(acts).toEqual(['in transaction: false'])
})

/** A writer with or without watchers, and the changes that it published after each commit. */
function openWatchedWriter(isWatched: boolean) {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const told: (readonly Change[])[] = []
  const publish = (changes: readonly Change[]) => {
    told.push(db.sqlite.inTransaction ? [] : changes)
  }
  const writer = new Writer(
    db,
    () => {},
    () => {},
    { isWatched, publish },
  )
  return { db, writer, told }
}

const changing = (id: string) => (tx: Tx) => void tx.changes?.push({ what: 'key', id })

test('what a commit changed is reported once it is done, without what was undone', async () => {
  const { writer, told } = openWatchedWriter(true)

  await Promise.allSettled([
    writer.write(changing('before')),
    writer.write((tx) => {
      changing('undone')(tx)
      throw new Error('no')
    }),
    writer.write(changing('after')),
  ])
  await writer.write(changing('later'))

  expect(told).toEqual([
    [
      { what: 'key', id: 'before' },
      { what: 'key', id: 'after' },
    ],
    [{ what: 'key', id: 'later' }],
  ])
})

test('a commit that fails rejects every promise, and reports and does nothing of it', async () => {
  const { db, writer, told } = openWatchedWriter(true)
  const acts: string[] = []
  db.sqlite.run('CREATE TABLE parent (id INTEGER PRIMARY KEY)')
  db.sqlite.run(
    `CREATE TABLE child (parent INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)`,
  )

  const results = await Promise.allSettled([
    writer.write((tx) => {
      changing('lost')(tx)
      writer.afterCommit(() => acts.push('act'))
      return put('a')(tx)
    }),
    writer.write((tx) => void tx.sqlite.run('INSERT INTO child VALUES (1)')),
  ])
  await writer.write(changing('kept'))

  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect([names(db), acts]).toEqual([[], []])
  expect(told).toEqual([[{ what: 'key', id: 'kept' }]])
})

test('while nobody watches, nothing is taken down', async () => {
  const { writer, told } = openWatchedWriter(false)

  const taken = await writer.write((tx) => ({ isTaken: tx.changes !== null }))

  expect(taken).toEqual({ isTaken: false })
  expect(told).toEqual([])
})

const fillDisk = (tx: Tx) => {
  const insert = tx.sqlite.query('INSERT INTO settings VALUES ($name, $value, 0)')
  for (let i = 0; i < 100; i += 1) insert.run({ name: `row ${i}`, value: 'x'.repeat(10_000) })
}

const ENDS: readonly (readonly [what: string, end: (tx: Tx) => void, code?: string])[] = [
  ['a full disk in mid-group', fillDisk, 'storage_full'],
  ['a rollback by SQLite itself', (tx) => void tx.sqlite.run('ROLLBACK')],
]

for (const [what, end, code] of ENDS) {
  test(`${what} keeps nothing of the group, and runs no further work of it`, async () => {
    const { db, writer, fatal } = openWriter()
    const pages = db.sqlite.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count
    db.sqlite.run(`PRAGMA max_page_count = ${(pages ?? 0) + 4}`)
    const ran: string[] = []
    const counted = (name: string, work: (tx: Tx) => unknown) => (tx: Tx) => {
      ran.push(name)
      work(tx)
    }

    const results = await Promise.allSettled([
      writer.write(put('first')),
      writer.write(counted('second', end)),
      writer.write(counted('third', put('third'))),
    ])

    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    const codes = results.map((one) => (one.status === 'rejected' ? one.reason.code : null))
    if (code !== undefined) expect(codes).toEqual([code, code, code])
    expect([ran, names(db), fatal]).toEqual([['second'], [], []])
    db.sqlite.run('PRAGMA max_page_count = 1000000')
    expect(await writer.write(put('later'))).toBe('later')
  })
}

test('close commits what waits and refuses what comes later', async () => {
  const { db, writer } = openWriter()
  const waiting = writer.write(put('waiting'))

  writer.close()

  expect(await waiting).toBe('waiting')
  expect(names(db)).toEqual(['waiting'])
  await expect(writer.write(put('late'))).rejects.toThrow('closed')
  await settle()
})

test('an asynchronous work is a type error', async () => {
  const { writer } = openWriter()

  // @ts-expect-error: its promise would be committed before it ends.
  const writing = writer.write(async () => 1)

  await writing
})

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('as long as each turn brings more works, they wait for one commit', async () => {
  const { db, writer } = openWriter()
  const commits: string[] = []
  const written = (name: string) => writer.write(put(name)).then(() => names(db).join())
  const writing = [written('a'), written('b')]
  await turn()
  writing.push(written('c'))
  await turn()
  writing.push(written('d'))

  commits.push(...(await Promise.all(writing)))

  expect(commits).toEqual(Array.from({ length: 4 }, () => 'a,b,c,d'))
})

test('works that never cease to come are committed nevertheless', async () => {
  const { db, writer } = openWriter()
  void writer.write(put('first'))

  for (const name of Array.from({ length: 12 }, (_, number) => `more ${number}`)) {
    void writer.write(put(name))
    await turn()
  }

  expect(names(db)).toContain('first')
})

test('a work that comes alone is committed in the next turn', async () => {
  const { db, writer } = openWriter()
  void writer.write(put('a'))

  await turn()

  expect(names(db)).toEqual(['a'])
})

test('whatever fails among many works, all that was promised is there, and nothing else', async () => {
  const random = seededRandom(20_261_122)
  const { db, writer } = openWriter()
  const promised: string[] = []
  const writing: Promise<unknown>[] = []
  let count = 0

  const handIn = (): void => {
    count += 1
    const name = String(count)
    const end = random.chance()
    const work = (tx: Tx) => {
      if (end < 0.1) throw new Error('before it wrote')
      put(name)(tx)
      if (end < 0.2) throw new Error('after it wrote')
      if (end < 0.3) put(name)(tx) // SQLite refuses the second one.
    }
    const written = writer.write(work)
    writing.push(
      written.then(
        () => promised.push(name),
        () => {},
      ),
    )
  }

  for (let group = 0; group < 400; group += 1) {
    for (let works = random.chance() * 6; works > 0; works -= 1) handIn()
    if (random.chance() < 0.7) await turn()
  }
  await Promise.all(writing)

  expect(promised.length).toBeGreaterThan(500)
  expect(names(db).toSorted()).toEqual(promised.toSorted())
})
