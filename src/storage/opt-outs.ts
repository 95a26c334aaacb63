// People who want no more messages, from all lines or from one. An opt-out stays when its message or contact is
// deleted.

import type * as api from '../api/contacts.ts'
import type { Found } from '../api/paging.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { LineLimit } from '../domain/routing.ts'
import { rowsAt, type Db, type Tx } from './database.ts'
import { optOuts } from './people-schema.ts'
import { touch } from './people.ts'
import { scanRanges, type ListPage } from './scan.ts'
import { columnsOf, inserted, isOfLines, limitValue, selected, type Values } from './statement.ts'

export type ListedOptOut = Readonly<typeof optOuts.$inferSelect>
export type OptOut = Omit<ListedOptOut, 'seq'>

export function optOutFields(optOut: OptOut, created_at: string): api.OptOut {
  const { handle, lineId, keyword, messageId, source } = optOut
  return { handle, phone_line_id: lineId, keyword, message_id: messageId, source, created_at }
}

const COLUMNS = columnsOf(optOuts, ['seq'])
const SELECTED = selected(optOuts, columnsOf(optOuts), 'o.')
const insertion = `INSERT INTO opt_outs ${inserted(optOuts, COLUMNS)} ON CONFLICT DO NOTHING`

const OF_SCOPE = `SELECT ${SELECTED} FROM opt_outs o WHERE o.handle = +$handle AND o.line_id`

/** The opt-out that forbids a message from the line to the handle, if any. */
export function optOutAgainst(db: Db, handle: Handle, lineId: LineId): OptOut | null {
  const sql = `${OF_SCOPE} IS NULL UNION ALL ${OF_SCOPE} = +$lineId LIMIT 1`
  return db.row<ListedOptOut>(sql, { handle, lineId })
}

/** Inserts an opt-out; returns false if the handle already has one of that scope, which stays. */
export function insertOptOut(tx: Tx, optOut: OptOut): boolean {
  const isNew = tx.execute(insertion, optOut).changes > 0
  if (isNew) touch(tx, optOut.handle)
  return isNew
}

export function deleteOptOut(tx: Tx, { seq, handle }: Pick<ListedOptOut, 'seq' | 'handle'>): void {
  tx.execute('DELETE FROM opt_outs WHERE seq = $seq', { seq })
  touch(tx, handle)
}

const IS_OF_LINES = `(${isOfLines('o.line_id')} OR (o.line_id IS NULL AND EXISTS (
  SELECT 1 FROM conversations c
  WHERE c.handle = o.handle AND c.last_seq > 0 AND ${isOfLines('c.line_id')})))`

export function optOutsOf(db: Db, handle: Handle): readonly ListedOptOut[] {
  const sql = `SELECT ${SELECTED} FROM opt_outs o WHERE o.handle = $handle ORDER BY o.seq`
  return db.rows<ListedOptOut>(sql, { handle })
}

/** Opt-outs, latest first; if lines are given, only those of people with whom one of the lines has written. */
export function listOptOuts(
  db: Db,
  filter: { readonly handle: string | null; readonly lines: LineLimit },
  page: ListPage,
): Found<ListedOptOut> {
  const sql = `SELECT ${SELECTED} FROM opt_outs o WHERE o.seq = $seq`
  const { handle, lines } = filter
  const by = handle === null ? 'NOT INDEXED WHERE TRUE' : OF_HANDLE
  const values = { lineIds: limitValue(lines), ...(handle !== null && { handle }) }
  const range = { from: `opt_outs o ${by}`, fits: IS_OF_LINES, values }
  const { seqs, upTo } = scanRanges(db, [range], page)
  return { rows: seqs.flatMap((seq) => db.rows<ListedOptOut>(sql, { seq })), upTo }
}

const OF_HANDLE = 'INDEXED BY opt_outs_by_handle WHERE handle = +$handle'
/**
 * Adds the opt-outs of the database at `path`, so that after a restore nobody who opted out since the backup gets
 * messages. Adds none if that database can't be read or has no such table.
 */
export function keepOptOuts(sqlite: Tx['sqlite'], path: string): void {
  const add = sqlite.query<null, [Values]>(insertion)
  const rows = `SELECT ${SELECTED} FROM opt_outs o ORDER BY o.seq`
  for (const { seq: _seq, ...optOut } of rowsAt<ListedOptOut>(path, rows) ?? []) add.run(optOut)
}
