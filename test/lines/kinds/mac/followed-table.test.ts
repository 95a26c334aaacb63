// Which rows of a table a trace follows, and that each of their turns is told once.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import type { Disguise } from '../../../../src/lines/kinds/mac/disguise.ts'
import { FollowedTable } from '../../../../src/lines/kinds/mac/followed-table.ts'

const plain: Disguise = (_, cell) => (typeof cell === 'bigint' ? Number(cell) : null)

/** A table with three rows from before, and what follows it. */
class TableRig implements Disposable {
  readonly db = new Database(':memory:', { safeIntegers: true })
  readonly table: FollowedTable

  constructor(columns = 'id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER') {
    this.db.run(`CREATE TABLE item (${columns})`)
    this.insert(3)
    const table = FollowedTable.fromNow(this.db, 'item', plain)
    if (table === null) throw new Error('The table is not there.')
    this.table = table
  }

  insert(count: number): void {
    const insertion = this.db.prepare('INSERT INTO item (size) VALUES (7)')
    this.db.transaction(() => {
      for (let i = 0; i < count; i += 1) insertion.run()
    })()
  }

  /** What changed, then what came, each as its kind and key. */
  look(): readonly (readonly [op: string, id: unknown])[] {
    const told = [...this.table.changes(), ...this.table.arrivals()]
    return told.map(({ op, set }) => [op, set['id']] as const)
  }

  [Symbol.dispose](): void {
    this.db.close()
  }
}

test('a row from before that is followed and goes makes no other one new', () => {
  using rig = new TableRig()

  const known = rig.table.known([1]).length
  rig.db.run('DELETE FROM item WHERE id = 1')

  expect([known, rig.look(), rig.look()]).toEqual([1, [['delete', 1]], []])
})

test('a row that goes makes those that came after it not new again', () => {
  using rig = new TableRig()
  rig.insert(2)
  const came = rig.look()

  rig.db.run('DELETE FROM item WHERE id = 4')

  expect(came).toEqual([
    ['insert', 4],
    ['insert', 5],
  ])
  expect(rig.look()).toEqual([['delete', 4]])
})

test('what is new in a row is told once', () => {
  using rig = new TableRig()
  rig.insert(1)
  rig.look()

  rig.db.run('UPDATE item SET size = 8 WHERE id = 4')
  const [first, second] = [rig.table.changes(), rig.table.changes()]

  expect(first).toEqual([{ op: 'update', table: 'item', set: { id: 4, size: 8 } }])
  expect(second).toEqual([])
})

test('five hundred rows are followed, however they came, and none besides', () => {
  using rig = new TableRig()
  const counts: number[] = []

  for (let i = 0; i < 3; i += 1) {
    rig.insert(300)
    counts.push(rig.look().length)
  }
  counts.push(rig.table.known([1]).length)

  expect(counts).toEqual([300, 200, 0, 0])
  expect(rig.table.isFull).toBe(true)
})

test('a row of a table without a key is known by all that stands in it', () => {
  using rig = new TableRig('size INTEGER, weight INTEGER')
  rig.db.run('INSERT INTO item (size, weight) VALUES (1, 2)')
  rig.look()

  rig.db.run('DELETE FROM item WHERE weight = 2')

  const set = { size: 1, weight: 2 }
  expect(rig.table.changes()).toEqual([{ op: 'delete', table: 'item', set }])
})
