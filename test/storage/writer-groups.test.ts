// Which works share a commit, and what a fault among them undoes.

import { expect, test } from 'bun:test'

import type { Tx } from '../../src/storage/database.ts'
import type { Writer } from '../../src/storage/writer.ts'
import { seededRandom } from '../support/test-relay.ts'
import { fail, names, openWriter, put } from './writer-rig.ts'

type Works = readonly ((tx: Tx) => unknown)[]

/** Hands in works that may be run again, all at once, and tells what became of each. */
async function writeRepeatable(writer: Writer, works: Works): Promise<readonly unknown[]> {
  const writing = works.map((work) => writer.write((tx) => void work(tx), 'repeatable'))
  return (await Promise.allSettled(writing)).map(({ status }) => status)
}

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

test('of works that may be run again, too, one that throws undoes itself and nobody else', async () => {
  const { db, writer } = openWriter()
  const acts: string[] = []
  const acting = (name: string) => (tx: Tx) => {
    put(name)(tx)
    writer.afterCommit(() => acts.push(name))
  }

  const settled = await writeRepeatable(writer, [acting('a'), fail, acting('c')])

  expect(settled).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(names(db)).toEqual(['a', 'c'])
  expect(acts).toEqual(['a', 'c'])
})

test('only works that may be run again ever are', async () => {
  const { db, writer } = openWriter()
  const runs: string[] = []
  const counted = (name: string) => (tx: Tx) => {
    runs.push(name)
    put(name)(tx)
  }

  const once = writer.write(counted('once'))
  const others = writeRepeatable(writer, [counted('a'), fail, counted('c')])
  await Promise.all([once, others])
  await writeRepeatable(writer, [counted('d'), fail])

  expect(runs).toEqual(['once', 'a', 'c', 'd', 'd'])
  expect(names(db)).toEqual(['once', 'a', 'c', 'd'])
})

test('what a group brings before its commit is part of it', async () => {
  const { db, writer } = openWriter()
  const settled: string[] = []
  const bring = () => {
    void writer.write(put('joins'), 'repeatable').then(() => settled.push('joins'))
  }

  await writer.write((tx) => {
    writer.beforeCommit(bring)
    writer.beforeCommit(bring)
    return put('a')(tx)
  }, 'repeatable')

  expect(names(db)).toEqual(['a', 'joins'])
  await turn()
  expect(settled).toEqual(['joins'])
})

test('one that may be run only once waits for a commit of its own, and nothing overtakes it', async () => {
  const { db, writer } = openWriter()
  const later: Promise<unknown>[] = []
  const bring = () => {
    later.push(writer.write(put('once')), writer.write(put('behind'), 'repeatable'))
  }

  await writer.write((tx) => {
    writer.beforeCommit(bring)
    return put('a')(tx)
  }, 'repeatable')
  const first = names(db)
  await Promise.all(later)

  expect(first).toEqual(['a'])
  expect(names(db)).toEqual(['a', 'once', 'behind'])
})

test('one that joined and throws undoes itself and nobody else', async () => {
  const { db, writer } = openWriter()
  const brought: Promise<unknown>[] = []
  const bring = () =>
    void brought.push(...[fail, put('c')].map((work) => writer.write(work, 'repeatable')))

  await writer.write((tx) => {
    if (brought.length === 0) writer.beforeCommit(bring)
    return put('a')(tx)
  }, 'repeatable')
  const settled = await Promise.allSettled(brought)

  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(names(db)).toEqual(['a', 'c'])
})

test('what a group brought is not written outside a transaction where the group is undone', async () => {
  const { db, writer } = openWriter()
  const inTransaction: boolean[] = []
  const bring = () => {
    db.sqlite.run('ROLLBACK') // As SQLite does by itself on a bad day.
    void writer.write(() => void inTransaction.push(db.sqlite.inTransaction), 'repeatable')
  }

  const first = writer.write((tx) => {
    writer.beforeCommit(bring)
    return put('a')(tx)
  }, 'repeatable')

  await expect(first).rejects.toThrow('rolled the whole transaction back')
  await turn()
  expect(inTransaction).toEqual([true])
  expect(names(db)).toEqual([])
})

test('whatever fails among works of both kinds, all that was promised is there, and nothing else', async () => {
  const random = seededRandom(20_261_122)
  const { db, writer } = openWriter()
  const promised: string[] = []
  const writing: Promise<unknown>[] = []
  let count = 0

  const handIn = (): void => {
    count += 1
    const name = String(count)
    const [end, brings] = [random.chance(), random.chance() < 0.2]
    const work = (tx: Tx) => {
      if (end < 0.1) throw new Error('before it wrote')
      put(name)(tx)
      if (brings) writer.beforeCommit(handIn)
      if (end < 0.2) throw new Error('after it wrote')
      if (end < 0.3) put(name)(tx) // SQLite refuses the second one.
    }
    const written = writer.write(work, random.chance() < 0.8 ? 'repeatable' : 'once')
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
  for (let settled = 0; settled < writing.length; settled += 1) await writing[settled]

  expect(promised.length).toBeGreaterThan(500)
  expect(names(db).toSorted()).toEqual(promised.toSorted())
})
