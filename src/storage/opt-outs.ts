// People who want no more messages, of all lines or of one. Neither a deleted message nor a deleted contact
// takes its opt-out with it.

import type { Found } from '../api/paging.ts'
import type { Handle } from '../domain/handle.ts'
import type { LineId } from '../domain/ids.ts'
import type { OptOut } from '../domain/opt-out.ts'
import type { LineLimit } from '../domain/routing.ts'
import { rowsAt, type Db, type Tx } from './database.ts'
import { optOuts } from './people-schema.ts'
import { touch } from './people.ts'
import { inSteps, scan, type Examined } from './scan.ts'
import {
  columnsOf,
  execute,
  getRow,
  getRows,
  inserted,
  isOfLines,
  limitValue,
  selected,
  type Values,
} from './statement.ts'

export type ListedOptOut = OptOut & { readonly seq: number }

const COLUMNS = columnsOf(optOuts, ['seq'])
const SELECTED = selected(optOuts, columnsOf(optOuts), 'o.')
const insertion = `INSERT INTO opt_outs ${inserted(optOuts, COLUMNS)} ON CONFLICT DO NOTHING`

const against = `SELECT ${SELECTED} FROM opt_outs o
   WHERE o.handle = +$handle AND (o.line_id IS NULL OR o.line_id = +$lineId)
   ORDER BY o.line_id IS NOT NULL LIMIT 1`

/** The opt-out that speaks against a message of the line to the handle; null for none. */
export function optOutAgainst(db: Db, handle: Handle, lineId: LineId): OptOut | null {
  return getRow<ListedOptOut>(db, against, { handle, lineId })
}

/** False where there is one of the same handle and scope, which stays. */
export function insertOptOut(tx: Tx, optOut: OptOut): boolean {
  const isNew = execute(tx, insertion, optOut).changes > 0
  if (isNew) touch(tx, optOut.handle)
  return isNew
}

export function deleteOptOut(tx: Tx, { seq, handle }: Pick<ListedOptOut, 'seq' | 'handle'>): void {
  execute(tx, 'DELETE FROM opt_outs WHERE seq = $seq', { seq })
  touch(tx, handle)
}

const IS_OF_LINES = `(${isOfLines('o.line_id')} OR (o.line_id IS NULL AND EXISTS (
  SELECT 1 FROM conversations c
  WHERE c.handle = o.handle AND c.last_seq > 0 AND ${isOfLines('c.line_id')})))`

const listingOf = (rows: string) => `SELECT ${SELECTED}, o.seq AS place, ${IS_OF_LINES} AS fits
   FROM opt_outs o ${rows} AND o.seq < +$to ORDER BY o.seq DESC LIMIT +$limit`
const listing = listingOf('NOT INDEXED WHERE TRUE')
const listingOfHandle = listingOf('INDEXED BY opt_outs_by_handle WHERE o.handle = +$handle')

const ofHandle = `SELECT ${SELECTED} FROM opt_outs o WHERE o.handle = $handle ORDER BY o.seq`

export function optOutsOf(db: Db, handle: Handle): readonly ListedOptOut[] {
  return getRows<ListedOptOut>(db, ofHandle, { handle })
}

/** Latest first; of certain lines those of the people with whom they have written. */
export function listOptOuts(
  db: Db,
  filter: { readonly handle: string | null; readonly lines: LineLimit },
  page: { readonly limit: number; readonly before: number },
): Found<ListedOptOut> {
  const { handle, lines } = filter
  const values: Values = { lineIds: limitValue(lines), ...(handle !== null && { handle }) }
  const sql = handle === null ? listing : listingOfHandle
  const source = inSteps<ListedOptOut & Examined>((last, limit) =>
    getRows<ListedOptOut & Examined>(db, sql, { ...values, to: last?.seq ?? page.before, limit }),
  )
  const { rows, last } = scan([source], page.limit)
  return { rows, upTo: last && [last.seq] }
}

/**
 * Adds those of the database at `path`: a restore must not write to people who opted out since the backup. A
 * database that cannot be read, or is from before there were any, adds none.
 */
export function keepOptOuts(sqlite: Tx['sqlite'], path: string): void {
  const add = sqlite.query<null, [Values]>(insertion)
  const rows = `SELECT ${SELECTED} FROM opt_outs o ORDER BY o.seq`
  for (const { seq: _seq, ...optOut } of rowsAt<ListedOptOut>(path, rows) ?? []) add.run(optOut)
}
