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
const ROUNDS = 400
const WARM_UP_ROUNDS = 100
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

export async function pages(): Promise<readonly Figure[]> {
  using smallDir = temporaryDataDir()
  using largeDir = temporaryDataDir()
  const small = await startPopulated(smallDir.path, SMALL, SMALL_CONVERSATIONS)
  await using _small = small.relay
  const large = await startPopulated(largeDir.path, LARGE, LARGE_CONVERSATIONS)
  await using _large = large.relay
  const smallPages = await allPages(small)
  const figures: Figure[] = []
  for (const [what, path] of await allPages(large)) {
    const other = { bench: small, path: smallPages.get(what) ?? '' }
    figures.push(figureOf(what, await compare({ bench: large, path }, other)))
  }
  return [...figures, await withoutMatch(large)]
}

/** The first page of a filter that fits no message against the same page without it: a page examines 5,000 rows. */
async function withoutMatch(bench: BenchRelay): Promise<Figure> {
  const plain = `/api/v1/messages?limit=${PAGE}`
  const [ms, yardstick] = await compare(
    { bench, path: `${plain}&service=SMS` },
    { bench, path: plain },
  )
  return atMost({
    id: 'd',
    what: `page of ${PAGE} at a million messages, a filter without a match against none`,
    measured: `${ms.toFixed(2)} ms`,
    yardstick: `${yardstick.toFixed(2)} ms`,
    value: ms / yardstick,
    floor: 10,
  })
}

function figureOf(what: string, [ms, yardstick]: readonly [number, number]): Figure {
  return atMost({
    id: 'd',
    what: `page of ${PAGE} at a million messages, ${what}`,
    measured: `${ms.toFixed(2)} ms`,
    yardstick: `${yardstick.toFixed(2)} ms`,
    value: ms / yardstick,
    floor: 1.3,
  })
}

async function startPopulated(
  dataDir: string,
  count: number,
  conversations: number,
): Promise<BenchRelay> {
  withDatabase(dataDir, (sqlite) => populate(sqlite, count, conversations))
  return startBenchRelay(dataDir)
}

/** The path of each page, by what is asked for. */
async function allPages(bench: BenchRelay): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>()
  for (const [name, filter] of Object.entries(await filters(bench))) {
    paths.set(`first, ${name}`, `/api/v1/messages?limit=${PAGE}${filter}`)
    paths.set(`deep, ${name}`, await deepPage(bench, filter))
  }
  return paths
}

type Asked = { readonly bench: BenchRelay; readonly path: string }

/** The median times of two pages in milliseconds, asked for in turns. */
async function compare(one: Asked, other: Asked): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    times[0].push(await timeOf(one))
    times[1].push(await timeOf(other))
  }
  return [median(times[0].slice(WARM_UP_ROUNDS)), median(times[1].slice(WARM_UP_ROUNDS))]
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

async function timeOf({ bench, path }: Asked): Promise<number> {
  const startedAt = performance.now()
  await bench.api.ask('GET', path)
  return performance.now() - startedAt
}
