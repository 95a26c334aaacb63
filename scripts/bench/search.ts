// (s): search over a million messages and 100,000 people, for words that are everywhere, now and then,
// and nowhere; and the size of the index.

import type { Database } from 'bun:sqlite'

import { contactFields, textsIn } from '../../src/domain/contact-fields.ts'
import type { Handle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { Db, Tx } from '../../src/storage/database.ts'
import { savePerson } from '../../src/storage/people.ts'
import { indexNext, isIndexBehind } from '../../src/storage/search.ts'
import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { SeededRandom } from '../../test/support/seeded-random.ts'
import { atMost, percentile, type Figure } from './figure.ts'
import { populate } from './population.ts'
import { startBenchRelay, withDatabase, type BenchRelay } from './relay.ts'

const MESSAGES = 1_000_000
const CONVERSATIONS = 9_999
const PEOPLE = 100_000
const BATCH_ROWS = 10_000
const ROUNDS = 40
const CEILING_MS = 40

const VOCABULARY = (
  'your table is ready please call back the order number you can pick up tomorrow thanks see at noon ' +
  'appointment was moved to friday confirm with yes or no delivery arrives between and morning evening ' +
  'kitchen garden bicycle repair invoice paid open closed holiday price discount weather traffic meeting ' +
  'office doctor dentist school bread coffee flowers hello dear customer family anna müller peter schmidt'
).split(' ')

/** Each with how often a message has it. */
const QUERIES = {
  'common words': ['table', 'please call', 'order number', 'tomorrow'],
  'rare words': ['zeppelin', 'xylophone', 'zeppelin table'],
  'no such word': ['qqqzzz', 'thetable', 'ordertable'],
  'six common words of no message': [
    'table please number tomorrow kitchen friday',
    'appointment delivery arrives between morning evening',
  ],
  'names and numbers': ['person 77', 'müller', '4155550', '0001234', 'an'],
}

export async function search(): Promise<readonly Figure[]> {
  using dir = temporaryDataDir()
  const bytes = withDatabase(dir.path, furnish)
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  const figures: Figure[] = []
  for (const [what, queries] of Object.entries(QUERIES)) {
    const times = await timesOf(bench, queries)
    const p99 = percentile(times, 0.99)
    figures.push(
      atMost({
        id: 's',
        what: `search over a million messages, ${what}, 99 of 100`,
        measured: `${p99.toFixed(1)} ms`,
        yardstick: `${CEILING_MS} ms; index ${Math.round(bytes / MESSAGES)} bytes a message`,
        value: p99 / CEILING_MS,
        floor: 1,
      }),
    )
  }
  return figures
}

async function timesOf(bench: BenchRelay, queries: readonly string[]): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const query of queries) {
      const start = performance.now()
      const path = `/api/v1/search?q=${encodeURIComponent(query)}`
      await bench.api.ask('GET', path)
      times.push(performance.now() - start)
    }
  }
  return times
}

/** Fills the database and its index; gives the size of the index of messages. */
function furnish(sqlite: Database, db: Db): number {
  populate(sqlite, MESSAGES, CONVERSATIONS)
  const random = new SeededRandom(1)
  const word = () => VOCABULARY[random.below(VOCABULARY.length)] ?? ''
  const write = sqlite.prepare('UPDATE messages SET text = ? WHERE seq = ?')
  sqlite.transaction(() => {
    for (let seq = 1; seq <= MESSAGES; seq += 1) {
      const words = Array.from({ length: 6 + random.below(10) }, word)
      if (seq % 50_000 === 7) words.push('zeppelin')
      if (seq === 7) words.push('xylophone')
      write.run(words.join(' '), seq)
    }
  })()
  const tx = { ...db, changes: null } as unknown as Tx // Search and people write nothing else.
  const inTransaction = (work: () => void) => sqlite.transaction(work)()
  inTransaction(() => {
    for (let i = 0; i < PEOPLE; i += 1) {
      const handle = `+1415555${String(i).padStart(5, '0')}` as Handle // As a number is written.
      const texts: Record<string, string> = { name: `Person ${i} ${word()}`, tags: word() }
      const fields = contactFields((_row, field) => textsIn(texts[field]))
      savePerson(tx, { handle, ...fields }, timestamp(i))
    }
  })
  while (isIndexBehind(tx)) inTransaction(() => indexNext(tx, BATCH_ROWS))
  const pages = sqlite
    .query<{ bytes: number }, []>('SELECT sum(length(block)) AS bytes FROM message_search_data')
    .get()
  return pages?.bytes ?? 0
}
