// Somebody who reads what people write while the relay dies, and the counts that must be true afterwards.

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
  readonly unread: number
  readonly id: string
  readonly direction: 'inbound' | 'outbound'
}

const ROWS = `
  SELECT c.seq AS conversation, c.unread_count AS unread, m.id, m.direction
  FROM messages m JOIN conversations c ON c.seq = m.conversation_seq ORDER BY m.seq`

/** Conversations whose count is not that of the messages behind the last mark. */
export function unreadFaults(dataDir: string, marks: readonly Mark[]): readonly unknown[] {
  if (!marks.some(({ isAnswered }) => isAnswered)) return ['no mark was answered']
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const talks = Map.groupBy(relay.query<Row, []>(ROWS).all(), ({ conversation }) => conversation)
  return [...talks.values()].flatMap((rows) => {
    const [{ conversation, unread }] = rows as [Row] // A group has one at least.
    const possible = possibleCounts(rows, marks)
    return possible.includes(unread) ? [] : [{ conversation, unread, possible }]
  })
}

/** The last own message and the last answered mark hold; a later mark that got no answer may hold. */
function possibleCounts(rows: readonly Row[], marks: readonly Mark[]): readonly number[] {
  const places = new Map(rows.map(({ id }, place) => [id, place]))
  const placesOf = (wanted: boolean) =>
    marks.flatMap(({ messageId, isAnswered }) =>
      isAnswered === wanted ? (places.get(messageId) ?? []) : [],
    )
  const own = rows.findLastIndex(({ direction }) => direction === 'outbound')
  const least = Math.max(own, ...placesOf(true))
  return [least, ...placesOf(false).filter((place) => place > least)].map(
    (last) => rows.slice(last + 1).filter(({ direction }) => direction === 'inbound').length,
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
