// Messages are written once for a group of works, and nobody can tell it from writing each at once.

import { expect, test } from 'bun:test'

import type { Handle } from '../../src/domain/handle.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
} from '../../src/domain/ids.ts'
import type { Outbound } from '../../src/domain/message.ts'
import { openDatabase, type Db, type Tx } from '../../src/storage/database.ts'
import {
  findMessage,
  insertMessage,
  newMessage,
  saveMessage,
} from '../../src/storage/message-rows.ts'
import { dueMessages, unfinishedIn } from '../../src/storage/message-turns.ts'
import { forgetRows } from '../../src/storage/recent-rows.ts'
import { messages } from '../../src/storage/schema.ts'
import { Writer } from '../../src/storage/writer.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'
import { seededRandom } from '../support/test-relay.ts'

const LINE = 'line_a' as LineId
const NOW = timestamp(TEST_START)
const CONVERSATIONS = ['conv_a', 'conv_b'] as const

function openStore() {
  const { db } = openDatabase(':memory:', { version: 'test' })
  storeLine(db.sqlite)
  storeMessages(
    db.sqlite,
    CONVERSATIONS.map((conversation) => ({
      id: `msg_${conversation}`,
      status: 'read',
      conversation,
    })),
  )
  return { db, writer: new Writer(db, () => {}) }
}

function insert(tx: Tx, name: string, more: Partial<Outbound> = {}): Outbound {
  const base = {
    id: `msg_${name}` as MessageId,
    lineId: LINE,
    conversationId: 'conv_a' as ConversationId,
    phoneNumber: '+12025550101',
    handle: '+12025550147' as Handle,
    text: name,
    guid: name,
    source: 'api',
    createdAt: NOW,
  } as const
  return insertMessage(tx, newMessage(base, { dueAt: NOW, ...more }))
}

const statusOf = (db: Db, name: string) => findMessage(db, `msg_${name}`)?.status

function changesOf(db: Db): number {
  return db.sqlite.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0
}

test('a message that is accepted, given and sent in one group is written once and counted once', async () => {
  const { db, writer } = openStore()
  const before = changesOf(db)

  await writer.write((tx) => {
    const message = insert(tx, 'new')
    const sending = saveMessage(tx, { ...message, status: 'sending', dueAt: null }, NOW)
    saveMessage(tx, { ...sending, status: 'sent', sentAt: NOW }, NOW)
  }, 'repeatable')

  expect([changesOf(db) - before, statusOf(db, 'new')]).toEqual([2, 'sent'])
})

test('whatever else is asked in the same transaction finds every message written', async () => {
  const { db, writer } = openStore()
  expect(statusOf(db, 'third')).toBeUndefined()
  const count = (tx: Tx) =>
    tx.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM messages').get()?.n

  const [raw, orm, third] = await writer.write((tx) => {
    insert(tx, 'first')
    const raw = count(tx)
    insert(tx, 'second')
    const orm = tx.orm.select().from(messages).all().length
    insert(tx, 'third')
    forgetRows(tx)
    return [raw, orm, statusOf(tx, 'third')] as const
  }, 'repeatable')

  expect([raw, orm, third]).toEqual([3, 4, 'queued'])
})

test('a message takes the next place, whoever wrote the last row', async () => {
  const { db, writer } = openStore()
  const places: number[] = []

  await writer.write((tx) => void places.push(insert(tx, 'first').seq), 'repeatable')
  storeMessages(db.sqlite, [{ id: 'msg_other', status: 'read' }])
  await writer.write((tx) => void places.push(insert(tx, 'second').seq), 'repeatable')

  expect(places).toEqual([3, 5])
})

test('a message that cannot be written fails its own work, and no other of the group', async () => {
  const { db, writer } = openStore()
  db.sqlite.run(`CREATE TRIGGER no BEFORE INSERT ON messages WHEN new.text = 'bad'
    BEGIN SELECT raise(ABORT, 'no'); END`)

  const writing = ['good', 'bad', 'better'].map((name) =>
    writer.write((tx) => void insert(tx, name), 'repeatable'),
  )
  const ends = (await Promise.allSettled(writing)).map(({ status }) => status)

  expect(ends).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(['good', 'bad', 'better'].map((name) => statusOf(db, name))).toEqual([
    'queued',
    undefined,
    'queued',
  ])
})

test('messages of a work that is undone are not written by the next one', async () => {
  const { db, writer } = openStore()

  const failing = writer.write((tx) => {
    insert(tx, 'undone')
    throw new Error('no')
  })
  const next = writer.write((tx) => void insert(tx, 'kept'))
  await expect(failing).rejects.toThrow('no')
  await next

  expect([statusOf(db, 'undone'), statusOf(db, 'kept')]).toEqual([undefined, 'queued'])
})

test('however many of a conversation are unfinished, the next one is found when others settle', async () => {
  const { db, writer } = openStore()
  const ids = Array.from({ length: 60 }, (_, number) => `msg_${number}`)
  const queued = ids.map((id) => ({ id, status: 'queued', conversation: 'conv_a' }) as const)
  storeMessages(db.sqlite, queued)
  const next = () => unfinishedIn(db, 'conv_a' as ConversationId).first?.id
  const settle = (many: readonly string[]) =>
    writer.write((tx) => {
      for (const id of many) {
        const message = findMessage(tx, id)
        if (message !== null) saveMessage(tx, { ...message, status: 'sent' }, NOW)
      }
    })

  const before = next()
  await settle(ids.slice(0, 50))
  const between = next()
  await settle(ids.slice(50))

  expect([before, between, next()] as unknown[]).toEqual(['msg_0', 'msg_50', undefined])
})

const STATUSES = ['queued', 'sending', 'uncertain', 'sent'] as const

/** A hundred steps of messages, and what dispatch is told after each. */
async function play(seed: number, afterStep: (tx: Tx) => void): Promise<readonly unknown[]> {
  const { writer } = openStore()
  const random = seededRandom(seed)
  const below = (n: number) => (random.bytes(1)[0] ?? 0) % n
  const told: unknown[] = []
  const names: string[] = []
  for (let group = 0; group < 10; group += 1) {
    await writer.write((tx) => {
      for (let step = 0; step < 10; step += 1) {
        const dueAt = below(3) === 0 ? null : timestamp(TEST_START + below(4) - 2)
        const status = STATUSES[below(STATUSES.length)] ?? 'queued'
        const name = names[below(names.length + 1)]
        const known = name === undefined ? null : findMessage(tx, `msg_${name}`)
        if (known === null) {
          const conversationId = CONVERSATIONS[below(2)] as ConversationId
          names.push(insert(tx, `${group}.${step}`, { dueAt, conversationId }).text)
        } else {
          saveMessage(tx, { ...known, status, dueAt }, NOW)
        }
        afterStep(tx)
        told.push(dueMessages(tx, { lineId: LINE, now: TEST_START }, 1 + below(8)))
        for (const id of CONVERSATIONS) told.push(unfinishedIn(tx, id as ConversationId))
      }
    }, 'repeatable')
  }
  return told
}

test('dispatch is told the same as where each message is written at once and nothing is remembered', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const late = await play(seed, () => {})
    const atOnce = await play(seed, (tx) => {
      tx.late.write()
      forgetRows(tx)
    })

    expect(late).toEqual(atOnce)
  }
})
