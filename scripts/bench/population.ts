// Fills a database with the real schema by plain SQL: a million messages in seconds.

import type { Database } from 'bun:sqlite'

import type { MessageStatus } from '../../src/domain/message.ts'
import { systemClock } from '../../src/system/clock.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'

type Party = {
  readonly conversationSeq: number
  readonly conversationId: string
  readonly handle: string
}
type Numbered = { readonly seq: number; readonly id: string }
type Values = Record<string, string | number | null>

export type Row = Party & {
  readonly at: number
  readonly status: MessageStatus
  readonly direction: 'inbound' | 'outbound'
}

const STATUSES: readonly MessageStatus[] = ['read', 'delivered', 'sent', 'failed', 'read']
const STEP_MS = 500

/** Ways to put a line, conversations and messages into `sqlite`. */
export function openPopulation(sqlite: Database) {
  const ids = new LogicalClock(systemClock, systemRandom, 0)
  const line = firstLine(sqlite) ?? addLine(sqlite, ids)
  const parties = new Map<number, Party>()
  const statement = sqlite.prepare<null, [Values]>(
    `INSERT INTO messages (seq, id, line_seq, conversation_seq, phone_number, handle, direction,
       status, service, text, guid, source, revision, created_at, waits_from, updated_at,
       sent_at)
     VALUES ($seq, $id, $lineSeq, $conversationSeq, '+12025550101', $handle, $direction, $status,
       'iMessage', $text, $guid, 'api', $seq, $at, $at, $at, $at)`,
  )

  function conversation(number: number): Party {
    const known = parties.get(number)
    if (known !== undefined) return known
    const handle = `+1202557${String(number).padStart(4, '0')}`
    const { seq, id } = addConversation(sqlite, ids.id('conv'), line.id, handle)
    const party = { conversationSeq: seq, conversationId: id, handle }
    parties.set(number, party)
    return party
  }

  function insert(seq: number, row: Row): void {
    const id = ids.id('msg')
    const text = `Message ${seq}, of about the length that people write.`
    const guid = crypto.randomUUID().toUpperCase()
    statement.run({ seq, id, lineSeq: line.seq, guid, text, ...row })
  }

  return { conversation, insert }
}

/** `count` messages in `conversations` conversations, half a second apart, until now. */
export function populate(sqlite: Database, count: number, conversations: number): void {
  const { conversation, insert } = openPopulation(sqlite)
  const first = Date.now() - count * STEP_MS
  sqlite.transaction(() => {
    for (let seq = 1; seq <= count; seq += 1) {
      const isInbound = seq % 2 === 0
      insert(seq, {
        at: first + seq * STEP_MS,
        direction: isInbound ? 'inbound' : 'outbound',
        status: isInbound
          ? 'received'
          : (STATUSES[Math.floor(seq / 2) % STATUSES.length] ?? 'read'),
        ...conversation(Math.floor(seq / 2) % conversations),
      })
    }
    sqlite.run(`UPDATE conversations SET
      message_count = (SELECT count(*) FROM messages WHERE conversation_seq = conversations.seq),
      last_seq = (SELECT max(seq) FROM messages WHERE conversation_seq = conversations.seq)`)
  })()
  sqlite.run('PRAGMA optimize')
}

function firstLine(sqlite: Database): Numbered | null {
  return sqlite.query<Numbered, []>('SELECT seq, id FROM lines LIMIT 1').get()
}

function addLine(sqlite: Database, ids: LogicalClock): Numbered {
  return added(
    sqlite,
    `INSERT INTO lines (id, driver, device_key, phone_number, daily_contact_limit, is_enabled,
       relay_sms, created_at)
     VALUES ($id, 'simulated', 'bench', '+12025550101', 100000, 1, 0, $now)`,
    { id: ids.id('line') },
  )
}

function addConversation(sqlite: Database, id: string, lineId: string, handle: string): Numbered {
  return added(
    sqlite,
    `INSERT INTO conversations (id, line_id, phone_number, handle, service, message_count,
       last_seq, created_at, updated_at)
     VALUES ($id, $lineId, '+12025550101', $handle, 'iMessage', 0, 0, $now, $now)`,
    { id, lineId, handle },
  )
}

function added(sqlite: Database, insertion: string, values: Values): Numbered {
  const row = sqlite
    .query<Numbered, [Values]>(`${insertion} RETURNING seq, id`)
    .get({ ...values, now: Date.now() })
  if (row === null) throw new Error('Nothing was stored.')
  return row
}
