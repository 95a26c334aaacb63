// The search index in usual letters: by the triggers of the database, and on data of the version before.

import { expect, test } from 'bun:test'

import { folded } from '../../src/domain/search-text.ts'
import { closeDatabase, openDatabase, type Db } from '../../src/storage/database.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import {
  bestPeople,
  inUsualLetters,
  indexNext,
  isIndexBehind,
  parseQuery,
  searchMessages,
} from '../../src/storage/search.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

const NAME = 'Søren Weiß'
const QUERY = parseQuery('soren weiss')

const ALL = { limit: 9, lines: null }

function foundIn(db: Db) {
  return {
    people: bestPeople(db, QUERY, ALL).map(({ name }) => name),
    begun: bestPeople(db, parseQuery('so'), ALL).length,
    messages: searchMessages(db, QUERY, { ...ALL, isTimeUp: () => false }).seqs.length,
  }
}

test('what an earlier version put into the index is found by usual letters, in batches', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const before = openDatabase(path, { version: 'old', migrations: MIGRATIONS.slice(0, 4) })
  const { sqlite } = before.db
  storeLine(sqlite)
  storeMessages(
    sqlite,
    Array.from({ length: 25 }, (_, place) => {
      return { id: `msg_${place}`, status: 'read' as const, text: place % 5 === 0 ? NAME : 'hello' }
    }),
  )
  sqlite.run('INSERT INTO message_search (rowid, words) SELECT seq, text FROM messages')
  sqlite.run("UPDATE search_progress SET seq = 25 WHERE name = 'messages'")
  sqlite.run(
    `INSERT INTO people (handle, name, name_key, tags, created_at, updated_at)
     VALUES ('+12025550123', 'Søren Weiß', 'søren weiß', '[]', 1, 1)`,
  )
  closeDatabase(before.db)

  const { db } = openDatabase(path, { version: 'new' })
  let batches = 0
  const isCompleteBefore = searchMessages(db, QUERY, { ...ALL, isTimeUp: () => false }).isComplete
  for (; isIndexBehind(db) && batches < 10; batches += 1)
    indexNext(db as Parameters<typeof indexNext>[0], 10)
  const after = foundIn(db)
  closeDatabase(db)

  expect(after).toEqual({ people: [NAME], begun: 1, messages: 5 })
  expect([batches, isCompleteBefore]).toEqual([3, false])
})

test('the triggers of the database write the same letters as the program', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const written = (sql: string) => inUsualLetters(sql).slice(`iif(${sql} `.length)
  const triggers = db.sqlite
    .query<{ sql: string }, []>(
      "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%INSERT INTO `%search`%'",
    )
    .all()

  for (const { sql } of triggers) {
    const of = /iif\((.*?) GLOB/.exec(sql)?.[1] ?? ''
    expect(sql).toContain(written(of))
  }
  expect(triggers).toHaveLength(5)
})

test('SQL and the program fold a text alike', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  for (const text of ['ŒUVRE', 'Þór', 'Ǿstfold ǽ', 'ẞ', 'a‑b−c', 'ʼ`´', 'ıŋŧħ']) {
    const row = db.sqlite
      .query<{ usual: string }, [string]>(
        `SELECT ${inUsualLetters('t')} AS usual FROM (SELECT ? AS t)`,
      )
      .get(text)
    expect(folded(row?.usual ?? '')).toBe(folded(text))
    expect(row?.usual).toMatch(/^[ -~óÓ]*$/)
  }
})
