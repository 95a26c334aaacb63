// A reader of what people write while the relay dies, and the counts that must be true afterwards.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import type { ApiClient } from '../../support/relay-process.ts'

const PEOPLE = 5
/** The newest messages of a person; the oldest of them is marked. */
const LOOKED_AT = 3

type Mark = { readonly messageId: string; readonly isAnswered: boolean }

export class Reader {
  readonly marks: Mark[] = []
  readonly #api: ApiClient

  constructor(api: ApiClient) {
    this.#api = api
  }

  /** Lets a person write to the line, and marks an earlier message of that person as read. */
  async step(lineId: string, count: number): Promise<void> {
    const from = `+1202559${1_000 + (count % PEOPLE)}`
    const event = { type: 'message', from, text: `note ${count}` }
    await this.#api.ask('POST', `/api/v1/simulated/lines/${lineId}/events`, event)
    const path = `/api/v1/messages?handle=${encodeURIComponent(from)}&limit=${LOOKED_AT}`
    const { data } = await this.#api.ask<{
      data: readonly { readonly id: string; readonly conversation_id: string }[]
    }>('GET', path)
    const message = data[LOOKED_AT - 1]
    if (message === undefined) return
    const answer = await this.#api
      .request('POST', `/api/v1/conversations/${message.conversation_id}/read`, {
        body: { message_id: message.id },
      })
      .catch(() => null)
    this.marks.push({ messageId: message.id, isAnswered: answer?.status === 200 })
  }
}

type Row = {
  readonly conversation: number
  readonly handle: string
  readonly unread: number
  readonly seq: number
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
}

const ROWS = `
  SELECT c.seq AS conversation, c.handle, c.unread_count AS unread, m.seq, m.id, m.direction
  FROM messages m JOIN conversations c ON c.seq = m.conversation_seq ORDER BY m.seq`

/** Conversations whose count is not that of the messages behind the last mark. */
export function unreadFaults(dataDir: string, marks: readonly Mark[]): readonly unknown[] {
  if (!marks.some(({ isAnswered }) => isAnswered)) return ['no mark was answered']
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const all = relay.query<Row, []>(ROWS).all()
  const ownByHandle = Map.groupBy(all.filter(isOwn), ({ handle }) => handle)
  const talks = Map.groupBy(all, ({ conversation }) => conversation)
  return [...talks.values()].flatMap((rows) => {
    const [{ conversation, unread, handle }] = rows as [Row] // A group has one at least.
    const elsewhere = (ownByHandle.get(handle) ?? []).filter(
      (own) => own.conversation !== conversation,
    )
    const possible = possibleCounts(rows, marks, elsewhere)
    return possible.includes(unread) ? [] : [{ conversation, unread, possible }]
  })
}

const isOwn = ({ direction }: Row) => direction === 'outbound'

/**
 * The last own message and the last answered mark hold. A later mark that got no answer may hold, and so may an own
 * message that is `elsewhere`: it marks the conversation that it was accepted into, and may have moved since.
 */
function possibleCounts(
  rows: readonly Row[],
  marks: readonly Mark[],
  elsewhere: readonly Row[],
): readonly number[] {
  const places = new Map(rows.map(({ id }, place) => [id, place]))
  const placesOf = (wanted: boolean) =>
    marks.flatMap(({ messageId, isAnswered }) =>
      isAnswered === wanted ? (places.get(messageId) ?? []) : [],
    )
  const least = Math.max(rows.findLastIndex(isOwn), ...placesOf(true))
  const moved = elsewhere.map((own) => rows.findLastIndex(({ seq }) => seq < own.seq))
  return [least, ...[...placesOf(false), ...moved].filter((place) => place > least)].map(
    (last) => rows.slice(last + 1).filter((row) => !isOwn(row)).length,
  )
}

type Figures = {
  readonly date: string
  readonly sent: number
  readonly received: number
  readonly failed: number
  readonly uncertain: number
}

const FIGURES = `
  SELECT date(created_at / 1000, 'unixepoch') AS date,
    sum(status IN ('sent', 'delivered', 'read')) AS sent, sum(status = 'received') AS received,
    sum(status IN ('failed', 'expired')) AS failed, sum(status = 'uncertain') AS uncertain
  FROM messages GROUP BY 1 ORDER BY 1`

/** Days of `GET /stats` that are not the sum of their messages. */
export function figureFaults(dataDir: string, days: readonly Figures[]): readonly unknown[] {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  return relay
    .query<Figures, []>(FIGURES)
    .all()
    .flatMap((counted) => {
      const told = days.find(({ date }) => date === counted.date)
      return Bun.deepEquals({ ...told, ...counted }, told) ? [] : [{ counted, told }]
    })
}
