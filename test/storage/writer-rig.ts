// What works on a writer do in these tests: they put a name into a small table, or fail half-way.

import { openDatabase, type Db, type Tx } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'

export function openWriter() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const fatal: unknown[] = []
  return { db, writer: new Writer(db, (error) => fatal.push(error)), fatal }
}

export const put = (name: string) => (tx: Tx) => {
  tx.sqlite.query('INSERT INTO settings VALUES ($name, $name, 0)').run({ name })
  return name
}

export const fail = (tx: Tx) => {
  put('half done')(tx)
  throw new Error('no')
}

/** What was put and kept, in its order. */
export function names(db: Db): readonly string[] {
  return db.sqlite
    .query<{ name: string }, []>('SELECT name FROM settings ORDER BY rowid')
    .all()
    .map((row) => row.name)
}
