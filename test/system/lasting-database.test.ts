import { expect, test } from 'bun:test'

import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'

import { LastingDatabase } from '../../src/system/lasting-database.ts'

const SQL = 'SELECT $number AS number'

test('a statement is prepared as one that stays, which only a query does, and its values are bound', () => {
  using db = new LastingDatabase(':memory:', { strict: true })
  const prepared = db.prepare<{ number: number }, [{ number: number }]>(SQL)
  expect(prepared).toBe(db.query(SQL))
  expect(prepared.get({ number: 7 })).toEqual({ number: 7 })
  expect(db.prepare<{ number: number }, number[]>('SELECT ? AS number', [7]).all()).toEqual([
    { number: 7 },
  ])
})

test('it outlives the cache of queries that it came from', () => {
  using db = new LastingDatabase(':memory:', { strict: true })
  const prepared = db.prepare<{ number: number }, [{ number: number }]>(SQL)
  for (let i = 0; i <= LastingDatabase.MAX_QUERY_CACHE_SIZE; i += 1) db.prepare(`SELECT ${i}`)
  expect(db.prepare(SQL)).not.toBe(prepared)
  Bun.gc(true)
  expect(prepared.get({ number: 7 })).toEqual({ number: 7 })
})

test("drizzle's statements are of that kind too", () => {
  using db = new LastingDatabase(':memory:', { strict: true })
  const asked: string[] = []
  const query = db.query.bind(db)
  db.query = (text) => {
    asked.push(text)
    return query(text)
  }
  expect(drizzle({ client: db }).all(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }])
  expect(asked).toEqual(['SELECT 1 AS one'])
})
