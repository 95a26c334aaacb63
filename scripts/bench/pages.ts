// (d): a page of 50 messages at a million messages against the same page at a thousand: the first one
// and a deep one, with each filter.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, median, type Figure } from './figure.ts'
import { populate } from './population.ts'
import { startBenchRelay, withDatabase, type BenchRelay } from './relay.ts'

const SMALL = 1_000
const LARGE = 1_000_000
const SMALL_CONVERSATIONS = 4
const LARGE_CONVERSATIONS = 1_000
const DEEP_PAGES = 500
const ROUNDS = 300
const PAGE = 50

type Page = {
  readonly data: readonly {
    readonly conversation_id: string
    readonly handle: string
    readonly phone_line_id: string
    readonly created_at: string
  }[]
  readonly next_cursor: string | null
}

/** The median time of each page in milliseconds, by what is asked for. */
type Times = ReadonlyMap<string, number>

export async function pages(): Promise<readonly Figure[]> {
  const small = await measure(SMALL, SMALL_CONVERSATIONS)
  const large = await measure(LARGE, LARGE_CONVERSATIONS)
  return [...large].map(([what, ms]) => {
    const yardstick = small.get(what) ?? Number.NaN
    return atMost({
      id: 'd',
      what: `page of ${PAGE} at a million messages, ${what}`,
      measured: `${ms.toFixed(2)} ms`,
      yardstick: `${yardstick.toFixed(2)} ms`,
      value: ms / yardstick,
      floor: 1.3,
    })
  })
}

async function measure(count: number, conversations: number): Promise<Times> {
  using dir = temporaryDataDir()
  withDatabase(dir.path, (sqlite) => populate(sqlite, count, conversations))
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  const times = new Map<string, number>()
  for (const [name, filter] of Object.entries(await filters(bench))) {
    const first = `/api/v1/messages?limit=${PAGE}${filter}`
    const deep = await deepPage(bench, filter)
    times.set(`first, ${name}`, await timeOf(bench, first))
    times.set(`deep, ${name}`, await timeOf(bench, deep))
  }
  return times
}

/** Every filter, with a value that fits many messages. */
async function filters({ api }: BenchRelay): Promise<Readonly<Record<string, string>>> {
  const { data } = await api.ask<Page>('GET', `/api/v1/messages?limit=${PAGE}`)
  const newest = data[0]
  const oldest = await api.ask<Page>(
    'GET',
    '/api/v1/messages?limit=1&updated_since=1970-01-01T00:00:00.000Z',
  )
  const from = Date.parse(oldest.data[0]?.created_at ?? '')
  const middle = new Date((from + Date.parse(newest?.created_at ?? '')) / 2).toISOString()
  return {
    'no filter': '',
    phone_line_id: `&phone_line_id=${newest?.phone_line_id}`,
    conversation_id: `&conversation_id=${newest?.conversation_id}`,
    handle: `&handle=${encodeURIComponent(newest?.handle ?? '')}`,
    direction: '&direction=inbound',
    status: '&status=failed',
    created_after: `&created_after=${middle}`,
    created_before: `&created_before=${middle}`,
    updated_since: `&updated_since=${middle}`,
  }
}

/** The path of the deepest full page within reach. */
async function deepPage({ api }: BenchRelay, filter: string): Promise<string> {
  let path = `/api/v1/messages?limit=${PAGE}${filter}`
  for (let depth = 0; depth < DEEP_PAGES; depth += 1) {
    const { next_cursor: cursor } = await api.ask<Page>('GET', path)
    if (cursor === null) return path
    const next = `/api/v1/messages?limit=${PAGE}${filter}&cursor=${encodeURIComponent(cursor)}`
    const { data } = await api.ask<Page>('GET', next)
    if (data.length < PAGE) return path
    path = next
  }
  return path
}

async function timeOf({ api }: BenchRelay, path: string): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now()
    await api.ask('GET', path)
    times.push(performance.now() - startedAt)
  }
  return median(times.slice(ROUNDS / 4))
}
