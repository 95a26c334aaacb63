// The databases that the other tests read from are as macOS makes them, and the mutations do what they say.

import type { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { OPTIONAL_NAMES, VARIANTS } from '../../../support/mac/chat-db-mutations.ts'
import { SCHEMAS } from '../../../support/mac/chat-db-schemas.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START as AT } from '../../../support/test-clock.ts'

const ANNA = '+15550001'

test('the tables grow with macOS as the systems are known to', () => {
  const tables = ['message', 'chat', 'handle', 'attachment']

  const counts = SCHEMAS.map((schema) => {
    using rig = new OpenedChatDb(schema)
    return [schema, ...tables.map((table) => namesOf(rig.file.db, table).length)]
  })

  expect(counts).toEqual([
    ['macos12', 75, 26, 6, 21],
    ['macos13', 79, 26, 6, 21],
    ['macos14', 85, 28, 6, 21],
    ['macos15', 92, 28, 6, 23],
    ['macos26a', 94, 29, 6, 24],
    ['macos26b', 95, 29, 6, 24],
    ['macos27', 103, 29, 6, 26],
  ])
})

test('the triggers keep what they keep on a Mac', () => {
  using rig = new OpenedChatDb('macos27')
  const { db } = rig.file
  const group = rig.file.addChat({ identifier: 'chat7', style: 43 })
  const { rowId, guid } = rig.file.receive({ from: ANNA, text: 'x', at: AT, chat: group })

  rig.file.set(rowId, { at: AT + 1, error: 22 })
  const rows = db
    .query(
      `SELECT cache_roomnames, CAST(date AS TEXT), CAST(message_date AS TEXT),
         (SELECT group_concat(key) FROM kvtable)
       FROM message JOIN chat_message_join ON message_id = message.ROWID`,
    )
    .values()
  db.run(`DELETE FROM message WHERE ROWID = ${rowId}`)
  const deleted = db.query('SELECT guid FROM deleted_messages').values()

  const date = String(rig.file.date(AT + 1))
  expect(rows).toEqual([['chat7', date, date, 'lastFailedMessageDate,lastFailedMessageRowID']])
  expect(deleted).toEqual([[guid]])
})

test('each database lacks those optional columns that it says', () => {
  for (const variant of VARIANTS) {
    using rig = new OpenedChatDb(variant)
    const lacks = OPTIONAL_NAMES.filter((name) => {
      const [table = '', column = ''] = name.split('.')
      return !namesOf(rig.file.db, table).includes(column)
    })

    expect([variant.name, lacks.toSorted()]).toEqual([variant.name, [...variant.lacks].toSorted()])
  }
})

test('mutations move columns, add unknown ones, and change the types of what is stored', () => {
  using shuffled = new OpenedChatDb('with shuffled columns')
  using unknown = new OpenedChatDb('with unknown columns')
  using texts = new OpenedChatDb('with bodies of type TEXT')
  using seconds = new OpenedChatDb('with dates in seconds')
  using plain = new OpenedChatDb()
  for (const { file } of [texts, seconds]) file.receive({ from: ANNA, text: 'x', at: AT })
  const stored = 'SELECT typeof(attributedBody) AS type, date < 1e11 AS isSeconds FROM message'

  const names = namesOf(plain.file.db, 'message')
  const moved = namesOf(shuffled.file.db, 'message')

  expect(moved.toSorted()).toEqual(names.toSorted())
  expect(moved.filter((name, place) => names[place] === name).length).toBeLessThan(3)
  expect(namesOf(unknown.file.db, 'handle')).toEqual([
    'foreseen_by',
    'ROWID',
    'foreseen_at',
    'id',
    'country',
    'service',
    'uncanonicalized_id',
    'person_centric_id',
  ])
  expect(texts.file.db.query(stored).get()).toEqual({ type: 'text', isSeconds: 0 })
  expect(seconds.file.db.query(stored).get()).toEqual({ type: 'blob', isSeconds: 1 })
})

function namesOf(db: Database, table: string): readonly string[] {
  const rows = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all()
  return rows.map(({ name }) => name)
}
