import type { Database } from 'bun:sqlite'

import { queriesOf } from './chat-db-queries.ts'
import type { RawChat, RawExchanged, RawMessage, RawState, SqlValue } from './chat-db-rows.ts'
import type { ChatDbSchema } from './chat-db-schema.ts'

export type Values = Readonly<Record<string, string | number | bigint | null>>
export type Raw<Column extends string> = Readonly<Record<Column, SqlValue>>

export type Statements = ReturnType<typeof prepareStatements>

/** Prepares every query, once for the life of the connection. */
export function prepareStatements(db: Database, schema: ChatDbSchema) {
  const sql = queriesOf(schema)
  const rows = (text: string) => db.prepare<RawMessage, [Values]>(text)
  const states = (text: string) => db.prepare<RawState, [Values]>(text)
  const values = (text: string) => db.prepare<Raw<'value'>, [Values]>(text)
  const guids = (text: string) => db.prepare<Raw<'id' | 'guid'>, [Values]>(text)
  const aliases = (text: string) => db.prepare<Raw<'alias'>, [Values]>(text)
  return {
    dataVersion: db.prepare<Raw<'data_version'>, [Values]>(sql.dataVersion),
    maxRowId: values(sql.maxRowId),
    sequence: values(sql.sequence),
    witnesses: guids(sql.witnesses),
    guidsAt: guids(sql.guidsAt),
    rowIdOf: values(sql.rowIdOf),
    rowsAfter: rows(sql.rowsAfter),
    rowsAt: rows(sql.rowsAt),
    ownRowsAfter: rows(sql.ownRowsAfter),
    rowsBetween: rows(sql.rowsBetween),
    statesAt: states(sql.statesAt),
    ownErrorsBetween: db.prepare<Raw<'error' | 'date'>, [Values]>(sql.ownErrorsBetween),
    directChats: db.prepare<RawChat, [Values]>(sql.directChats),
    knowsHandle: values(sql.knowsHandle),
    lastWith: db.prepare<RawExchanged, [Values]>(sql.lastWith),
    twins: rows(sql.twins),
    isRecoverable: values(sql.isRecoverable),
    emojiWords: db.prepare<Raw<'guid' | 'words'>, [Values]>(sql.emojiWords),
    ownAliases: aliases(sql.ownAliases),
    receivedAliases: aliases(sql.receivedAliases),
  }
}
