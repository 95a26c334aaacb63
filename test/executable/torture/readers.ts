// A reader of the stream of events that is cut again and again under load, at times with the relay, and
// resumes behind the last event that it has. The relay's own file says which events there were.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { systemRandom } from '../../../src/system/random.ts'
import { eventually } from '../../support/eventually.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../../support/relay-process.ts'
import { pendingEvents } from '../box-ledgers.ts'
import { comeToRest } from './load.ts'

const SENDERS = 4
const LIFE_MS_MAX = 80
/** After the last cut a reader stays for a while, as often as there is more to read. */
const LAST_MS = 200
const REST_MS_MAX = 60_000
/** With every so many cuts of the reader the relay is killed. */
const KILL_EVERY = 5
const ENVIRONMENT = {
  HOOKLINE_SIMULATED_LINES: '2',
  HOOKLINE_SIMULATED_DELAY_MS: '1',
}
const SECOND_ID = /^id: (\S+)\nevent: /

export type ReaderFigures = {
  readonly cuts: number
  readonly kills: number
  readonly events: number
  /** Empty when the reader saw every event once, in the order of the file. */
  readonly faults: readonly string[]
}

export async function cutReaders(cuts: number): Promise<ReaderFigures> {
  using dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const start = (port: number) =>
    RelayProcess.start({ dataDir: dir.path, port, environment: ENVIRONMENT })
  let relay = await start(0)
  const api = new ApiClient(() => relay.url, key)
  const { data: lines } = await api.ask<{ data: readonly { id: string }[] }>(
    'GET',
    '/api/v1/phone-lines',
  )
  for (const { id } of lines) {
    await api.ask('PATCH', `/api/v1/phone-lines/${id}`, { daily_contact_limit: 100_000 })
  }
  const seen: string[] = []
  const over = new AbortController()
  const send = async (number: number) => {
    for (let i = 0; !over.signal.aborted; i += 1) {
      const to = `+1202555${1_000 + ((number * 97 + i) % 50)}`
      const body = { to, text: `${number} ${i}` }
      await api.request('POST', '/api/v1/messages/send', { body }).catch(() => Bun.sleep(20))
    }
  }
  const sending = Array.from({ length: SENDERS }, (_, number) => send(number))
  let after = 'oldest'
  let kills = 0
  for (let i = 1; i <= cuts; i += 1) {
    after = await readFor(systemRandom.chance() * LIFE_MS_MAX, { url: relay.url, key, after, seen })
    if (i % KILL_EVERY > 0) continue
    await relay.end('SIGKILL')
    relay = await start(relay.port)
    kills += 1
  }
  over.abort()
  await Promise.all(sending)
  await comeToRest(api)
  const isOver = () => (pendingEvents(dir.path) === 0 ? true : null)
  await eventually('nobody replies any more', isOver, REST_MS_MAX)
  const { next_cursor: newest } = await api.ask<{ next_cursor: string }>(
    'GET',
    '/api/v1/events?after=latest',
  )
  const readOn = async () => {
    after = await readFor(LAST_MS, { url: relay.url, key, after, seen })
    return after === newest ? true : null
  }
  // One that is missing is a fault of the comparison.
  await eventually('the reader has all', readOn, REST_MS_MAX).catch(() => {})
  await relay.end('SIGTERM')
  return { cuts, kills, events: seen.length, faults: faultsOf(seen, idsIn(dir.path)) }
}

type Reader = {
  readonly url: string
  readonly key: ApiKey
  readonly after: string
  readonly seen: string[]
}

/** Reads until it is cut; gives the id to resume behind. A block that did not arrive whole is nothing. */
async function readFor(ms: number, { url, key, after, seen }: Reader): Promise<string> {
  let last = after
  let rest = ''
  try {
    const response = await fetch(`${url}/api/v1/events/stream?after=oldest`, {
      headers: { 'x-api-key': key.key, 'x-api-secret': key.secret, 'last-event-id': after },
      signal: AbortSignal.timeout(ms),
    })
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const id of blocks.flatMap((block) => SECOND_ID.exec(block)?.[1] ?? [])) {
        seen.push(id)
        last = id
      }
    }
  } catch {
    // Cut.
  }
  return last
}

function idsIn(dataDir: string): readonly string[] {
  using relay = new Database(join(dataDir, 'hookline.db'), { readonly: true })
  const rows = relay.query<{ id: string }, []>('SELECT id FROM events ORDER BY seq').all()
  return rows.map(({ id }) => id)
}

function faultsOf(seen: readonly string[], recorded: readonly string[]): readonly string[] {
  const [known, all] = [new Set(seen), new Set(recorded)]
  return [
    ...recorded.filter((id) => !known.has(id)).map((id) => `missing: ${id}`),
    ...seen.filter((id) => !all.has(id)).map((id) => `unknown: ${id}`),
    ...(known.size < seen.length ? [`${seen.length - known.size} came twice`] : []),
    ...(seen.join() === recorded.join() ? [] : ['the order differs']),
  ]
}
