// What it costs to look after a chat.db of 1.5 million messages: a tick in which nothing happened, one
// with ten new rows, the states of 200 of our messages, what many ticks leave behind in memory, and the worst
// body that a row may hold.

import type { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { decodeAttributedBody } from '../../src/lines/kinds/mac/attributed-body.ts'
import { ChatDb } from '../../src/lines/kinds/mac/chat-db.ts'
import { HOSTILE } from '../../test/lines/kinds/mac/hostile-bodies.ts'
import { encodeAttributedBody } from '../../test/support/mac/attributed-body-encoder.ts'
import { ChatDbFile } from '../../test/support/mac/chat-db-file.ts'
import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, median, type Figure } from './figure.ts'

const MESSAGES = 1_500_000
const PERSONS = 3_000
const ROUNDS = 300
const NEW_ROWS = 10
const TRACKED = 200
const TICKS = 10_000
const STEP_MS = 1_000
const MIB = 1_048_576
const AT_SIZE = 'at 1.5 million messages'

export async function macReading(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  using file = ChatDbFile.create(join(dir.path, 'chat.db'), 'macos26a')
  fill(file)
  const chatDb = ChatDb.open(file.path)
  try {
    return [
      ...[idleTick(chatDb), busyTick(chatDb, file), states(chatDb)].map(figureOf),
      growth(chatDb, file),
      worstBody(),
    ]
  } finally {
    chatDb.close()
  }
}

type Measured = { readonly what: string; readonly ms: number; readonly budgetMs: number }

function figureOf({ what, ms, budgetMs }: Measured): Figure {
  const measured = ms < 0.1 ? `${(ms * 1_000).toFixed(1)} µs` : `${ms.toFixed(2)} ms`
  return atMost({
    id: 'm',
    what,
    measured,
    yardstick: `${budgetMs} ms`,
    value: ms / budgetMs,
    floor: 1,
  })
}

function idleTick(chatDb: ChatDb): Measured {
  const perRound = 100
  const ms = medianOf(() => {
    for (let count = 0; count < perRound; count += 1) chatDb.dataVersion()
  })
  return { what: `a tick without news ${AT_SIZE}`, ms: ms / perRound, budgetMs: 1 }
}

function busyTick(chatDb: ChatDb, file: ChatDbFile): Measured {
  let cursor = chatDb.maxRowId()
  const receive = () => receiveRows(file, NEW_ROWS)
  const ms = medianOf(() => {
    chatDb.dataVersion()
    const rows = chatDb.rowsAfter(cursor, 200)
    if (rows.length !== NEW_ROWS) throw new Error(`${rows.length} rows`)
    cursor = rows.at(-1)?.rowId ?? cursor
  }, receive)
  return { what: `a tick with ${NEW_ROWS} new rows ${AT_SIZE}`, ms, budgetMs: 5 }
}

function states(chatDb: ChatDb): Measured {
  const rowIds = trackedRows()
  const ms = medianOf(() => {
    if (chatDb.statesAt(rowIds).length !== TRACKED) throw new Error('A row is missing.')
  })
  return { what: `the states of ${TRACKED} messages ${AT_SIZE}`, ms, budgetMs: 5 }
}

/** Each tick reads: nothing new in nine of ten, and the states of all that is tracked. */
function growth(chatDb: ChatDb, file: ChatDbFile): Figure {
  const rowIds = trackedRows()
  const tick = (count: number) => {
    if (count % 10 === 0) receiveRows(file, NEW_ROWS)
    chatDb.dataVersion()
    chatDb.rowsAfter(chatDb.maxRowId() - NEW_ROWS, 200)
    chatDb.statesAt(rowIds)
  }
  for (let count = 0; count < TICKS / 10; count += 1) tick(count)
  const before = residentBytes()
  for (let count = 0; count < TICKS; count += 1) tick(count)
  const grownMib = (residentBytes() - before) / MIB
  return atMost({
    id: 'm',
    what: `memory that ${TICKS} ticks leave behind`,
    measured: `${grownMib.toFixed(1)} MiB`,
    yardstick: '',
    value: grownMib,
    floor: 16,
  })
}

/** Of the bodies that are made to hurt the one that takes longest, in its fastest round. */
function worstBody(): Figure {
  const all = Object.entries(HOSTILE).map(([what, [stream]]) => {
    const rounds = Array.from({ length: 10 }, () => {
      const startedAt = performance.now()
      decodeAttributedBody(stream)
      return performance.now() - startedAt
    })
    return { what, ms: Math.min(...rounds) }
  })
  const [worst] = all.toSorted((a, b) => b.ms - a.ms)
  const { what, ms } = worst ?? { what: '', ms: Number.NaN }
  return figureOf({ what: `the worst body (${what})`, ms, budgetMs: 50 })
}

/** The middle of many rounds, in milliseconds. */
function medianOf(act: () => void, before: () => void = () => {}): number {
  const times = Array.from({ length: ROUNDS }, () => {
    before()
    const startedAt = performance.now()
    act()
    return performance.now() - startedAt
  })
  return median(times)
}

function residentBytes(): number {
  Bun.gc(true)
  return process.memoryUsage.rss()
}

/** Our messages, as far apart as 200 of a month are. */
function trackedRows(): readonly number[] {
  return Array.from({ length: TRACKED }, (_, index) => MESSAGES - index * 100)
}

function receiveRows(file: ChatDbFile, count: number): void {
  file.db.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      file.receive({ from: `+1202${5_550_000 + index}`, text: 'A new one.', at: Date.now() })
    }
  })()
}

/** Messages in 3,000 direct chats, by plain SQL; indexes and triggers come back when it is done. */
function fill(file: ChatDbFile): void {
  const { db } = file
  const body = encodeAttributedBody('A message, of about the length that people write.')
  db.run('PRAGMA journal_mode = OFF')
  const made = setAside(db)
  const persons = numbersTo(PERSONS)
  db.run(
    `INSERT INTO handle (id, service) ${persons} SELECT '+1202' || (5550000 + i), 'iMessage' FROM n`,
  )
  db.run(
    `INSERT INTO chat (guid, style, chat_identifier, service_name) ${persons}
     SELECT 'any;-;+1202' || (5550000 + i), 45, '+1202' || (5550000 + i), 'iMessage' FROM n`,
  )
  db.query(
    `INSERT INTO message (guid, attributedBody, handle_id, service, date, date_read, date_delivered,
       is_from_me, is_sent, is_delivered, is_finished, is_read, destination_caller_id) ${numbersTo(MESSAGES)}
     SELECT printf('%08X-1B2C-4D3E-8F40-%012X', i * 2654435761 % 4294967296, i), $body,
       1 + i % ${PERSONS}, 'iMessage', $first + i * ${STEP_MS} * 1000000,
       $first + i * ${STEP_MS} * 1000000, $first + i * ${STEP_MS} * 1000000,
       i % 2, i % 2, 1, 1, 1, '+12025550100' FROM n`,
  ).run({ body, first: file.date(Date.now() - MESSAGES * STEP_MS) })
  db.run(
    `INSERT INTO chat_message_join (chat_id, message_id, message_date)
     SELECT handle_id, ROWID, date FROM message`,
  )
  for (const sql of made) db.run(sql)
  db.run('PRAGMA journal_mode = WAL')
}

/** A table `n` of the numbers from 1 on. */
function numbersTo(count: number): string {
  return `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
}

/** Takes indexes and triggers away, and gives the statements that make them. */
function setAside(db: Database): readonly string[] {
  const made = db
    .query<{ type: string; name: string; sql: string }, []>(
      `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql <> ''`,
    )
    .all()
  for (const { type, name } of made) db.run(`DROP ${type} ${name}`)
  return made.map(({ sql }) => sql)
}
