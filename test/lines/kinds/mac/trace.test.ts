// What `hookline mac trace` writes down, and what it never does. The database is written by a test in the
// part of Messages; how the command asks for consent is in test/cli.

import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import {
  recordTrace,
  type TraceEnd,
  type TraceEntry,
} from '../../../../src/lines/kinds/mac/trace.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import type { Random } from '../../../../src/system/random.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'
import { ChatDbFile } from '../../../support/mac/chat-db-file.ts'
import { SCHEMAS } from '../../../support/mac/chat-db-schemas.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'
import { TEST_START, TestClock } from '../../../support/test-clock.ts'

const ANNA = '+12025550123'
const OWN_ADDRESS = 'owner@example.com'
const SALT = new Uint8Array(32).fill(7)
const RANDOM: Random = { bytes: () => SALT, chance: () => 0.5 }

type Recorded = { readonly entries: readonly TraceEntry[]; readonly end: TraceEnd }

test('ten messages are recorded from their rows to their receipts, as they came', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos26a')
  const handle = file.addHandle(ANNA)
  const chat = file.addChat({ identifier: ANNA })
  const sent: { readonly rowId: number; readonly guid: string }[] = []

  const { entries, end } = await recorded(file, async (clock) => {
    for (let index = 0; index < 10; index += 1) {
      await clock.advance(40)
      const row = file.addMessage(ownMessage(handle, textOf(index)))
      sent.push(row)
      file.joinChat(row.rowId, chat)
      await clock.advance(20)
      file.set(row.rowId, { is_sent: 1, is_finished: 1 })
      await clock.advance(20)
      file.set(row.rowId, { is_delivered: 1, date_delivered: file.date(TEST_START + 500) })
      await clock.advance(20)
      file.set(row.rowId, { is_read: 1, date_read: file.date(TEST_START + 900) })
    }
    await clock.advance(20)
  })

  expect(end).toEqual({ isWhole: true })
  expect(entries.slice(0, 2).map(withoutDefaults)).toEqual([
    {
      t: 0,
      op: 'insert',
      table: 'handle',
      set: { ROWID: handle, id: token(ANNA), service: 'iMessage' },
    },
    {
      t: 0,
      op: 'insert',
      table: 'chat',
      set: {
        ROWID: chat,
        guid: `any;-;${token(ANNA)}`,
        style: 45,
        chat_identifier: token(ANNA),
        service_name: 'iMessage',
      },
    },
  ])
  expect(entries.slice(2).map(withoutDefaults)).toEqual(
    sent.flatMap(({ rowId, guid }, index) => {
      const t = index * 100 + 60
      const update = (at: number, set: TraceEntry['set']) => ({
        t: t + at,
        op: 'update' as const,
        table: 'message',
        set: { ROWID: rowId, ...set },
      })
      return [
        {
          t,
          op: 'insert',
          table: 'message',
          set: {
            ROWID: rowId,
            guid: token(guid),
            handle_id: handle,
            attributedBody: { bytes: encodeAttributedBody(textOf(index)).length, decoded: true },
            service: 'iMessage',
            account: `E:${token(OWN_ADDRESS)}`,
            date: String(file.date(TEST_START)),
            is_from_me: 1,
            destination_caller_id: token(OWN_ADDRESS),
          },
        },
        {
          t,
          op: 'join',
          table: 'chat_message_join',
          set: { chat_id: chat, message_id: rowId, message_date: String(file.date(TEST_START)) },
        },
        update(20, { is_finished: 1, is_sent: 1 }),
        update(40, { date_delivered: String(file.date(TEST_START + 500)), is_delivered: 1 }),
        update(60, { date_read: String(file.date(TEST_START + 900)), is_read: 1 }),
      ]
    }),
  )
})

for (const schema of SCHEMAS) {
  test(`no text of any column of ${schema} is in a trace, whatever its type`, async () => {
    using folder = new ScratchFolder()
    using file = ChatDbFile.create(folder.file('chat.db'), schema)
    const secret = 'anna@example.com +12025550123 B7E1D0A4-0B7C-4F4E-8B0E-0A2C0E1F2A3B'

    const { entries } = await recorded(file, async (clock) => {
      for (const table of ['handle', 'chat', 'message', 'attachment']) fillWith(file, table, secret)
      const { rowId } = file.receive({ from: ANNA, text: secret, at: TEST_START })
      await clock.advance(20)
      file.set(rowId, { textColumn: secret, subject: secret, payload_data: Buffer.from(secret) })
      await clock.advance(20)
    })

    const written = JSON.stringify(entries)
    expect(new Set(entries.map((entry) => `${entry.op} ${entry.table}`))).toEqual(
      new Set([
        'insert handle',
        'insert chat',
        'insert message',
        'insert attachment',
        'join chat_message_join',
        'update message',
      ]),
    )
    for (const word of [...secret.split(' '), ANNA, 'anna', '2025550123', '0A2C0E1F2A3B']) {
      expect(written).not.toContain(word)
    }
  })
}

test('a row that goes is recorded, and the one that takes its number', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos15')
  const chat = file.addChat({ identifier: ANNA })

  const { entries } = await recorded(file, async (clock) => {
    const ghost = file.addMessage(ownMessage(0, 'hello'))
    file.joinChat(ghost.rowId, chat)
    await clock.advance(20)
    file.db.run('DELETE FROM chat_message_join')
    await clock.advance(20)
    file.joinChat(file.addMessage(ownMessage(0, 'hello')).rowId, chat)
    await clock.advance(20)
  })

  expect(entries.map(({ t, op, table, set }) => [t, op, table, set['message_id']])).toEqual([
    [0, 'insert', 'chat', undefined],
    [20, 'insert', 'message', undefined],
    [20, 'join', 'chat_message_join', 1],
    [40, 'delete', 'chat_message_join', 1],
    [60, 'insert', 'message', undefined],
    [60, 'join', 'chat_message_join', 2],
  ])
})

test('messages from before are not recorded, and neither is what happens to them', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos13')
  const old = file.receive({ from: ANNA, text: 'from before', at: TEST_START })

  const { entries } = await recorded(file, async (clock) => {
    file.set(old.rowId, { is_read: 1 })
    await clock.advance(20)
    file.checkpoint()
    await clock.advance(20)
  })

  expect(entries).toEqual([])
})

test('it ends by itself when its time is over, and records nothing after that', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos15')
  const clock = new TestClock()
  const entries: TraceEntry[] = []
  const write = (entry: TraceEntry) => entries.push(entry)

  const order = { path: file.path, forMs: 1_000, clock, random: RANDOM, write }
  const record = recordTrace(order, NEVER)
  await clock.advance(990)
  file.addMessage(ownMessage(0, 'just in time'))
  await clock.advance(10)
  file.addMessage(ownMessage(0, 'too late'))
  await clock.advance(1_000)

  expect(await record).toEqual({ isWhole: true })
  expect(entries.map(({ t }) => t)).toEqual([1_000])
})

test('what happened just before it is stopped is recorded', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos15')

  const { entries } = await recorded(file, async (clock) => {
    await clock.advance(45)
    file.addMessage(ownMessage(0, 'the last one'))
  })

  expect(entries.map(({ t, op }) => [t, op])).toEqual([[45, 'insert']])
})

test('of more than 500 rows the first are recorded, and that there were more', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos15')

  const { entries, end } = await recorded(file, async (clock) => {
    file.db.transaction(() => {
      for (let index = 0; index < 501; index += 1) file.addMessage(ownMessage(0, 'one of many'))
    })()
    await clock.advance(20)
  })

  expect(entries.map(({ set }) => set['ROWID'])).toEqual(
    Array.from({ length: 500 }, (_, index) => index + 1),
  )
  expect(end).toEqual({ isWhole: false })
})

test('while it follows, it keeps Messages from nothing', async () => {
  using folder = new ScratchFolder()
  using file = ChatDbFile.create(folder.file('chat.db'), 'macos15')

  await recorded(file, async (clock) => {
    file.receive({ from: ANNA, text: 'hello', at: TEST_START })
    await clock.advance(20)
    const [busy] = file.db.query('PRAGMA wal_checkpoint(TRUNCATE)').values()[0] ?? []

    expect(busy).toBe(0)
  })
})

/** Plays while the database is followed; what is written last is recorded, too. */
async function recorded(
  file: ChatDbFile,
  play: (clock: TestClock) => Promise<void>,
): Promise<Recorded> {
  const clock = new TestClock()
  const stop = new AbortController()
  const entries: TraceEntry[] = []
  const write = (entry: TraceEntry) => entries.push(entry)
  const order = { path: file.path, forMs: 600_000, clock, random: RANDOM, write }
  const record = recordTrace(order, stop.signal)
  await play(clock)
  stop.abort()
  return { end: await record, entries }
}

function textOf(index: number): string {
  return `text number ${index}`
}

function ownMessage(handle: number, text: string) {
  return {
    at: TEST_START,
    text,
    handle_id: handle,
    is_from_me: 1,
    is_finished: 0,
    is_delivered: 0,
    account: `E:${OWN_ADDRESS}`,
    destination_caller_id: OWN_ADDRESS,
  }
}

/** A row in which every cell that can hold text holds `secret`. */
function fillWith(file: ChatDbFile, table: string, secret: string): void {
  const columns = file.db
    .query<{ name: string; type: string }, []>(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ type }) => type === 'TEXT' || type === 'BLOB')
  const values = columns.map(({ type }) => (type === 'TEXT' ? secret : Buffer.from(secret)))
  const names = columns.map(({ name }) => name)
  const slots = names.map(() => '?')
  file.db.query(`INSERT INTO ${table} (${names.join()}) VALUES (${slots.join()})`).run(...values)
}

/** Without the cells that no test set: those of a new row are NULL, 0 or empty. */
function withoutDefaults(entry: TraceEntry): TraceEntry {
  const published = Object.entries(entry.set).filter(([, value]) => value !== null && value !== 0)
  return { ...entry, set: Object.fromEntries(published) }
}

function token(text: string): string {
  return `#${createHmac('sha256', SALT).update(text).digest('hex').slice(0, 12)}`
}
