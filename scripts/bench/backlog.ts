// A backlog of webhook deliveries, laid into the database of a relay that stands still, and the rate at
// which it goes out once the relay starts.

import type { Database } from 'bun:sqlite'

import { systemClock } from '../../src/system/clock.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { RelayProcess, temporaryDataDir } from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { openPopulation } from './population.ts'
import { startBenchRelay, withDatabase } from './relay.ts'

type Backlog = {
  readonly urls: readonly string[]
  readonly events: number
  /** How many posts arrived so far. */
  readonly count: () => number
}

/** The first and the last of the backlog are left out: they show the start and the tail. */
const SHARE_BEFORE = 0.1
const SHARE_AFTER = 0.9
const CONVERSATIONS = 500

/** Deliveries per second. */
export async function createDelivered({ urls, events, count }: Backlog): Promise<number> {
  using dir = temporaryDataDir()
  const { relay, api } = await startBenchRelay(dir.path)
  for (const url of urls) {
    await api.ask('POST', '/api/v1/webhooks', { url, events: ['message.sent'] })
  }
  await relay.end()
  withDatabase(dir.path, (sqlite) => lay(sqlite, events))

  await using _running = await RelayProcess.start({ dataDir: dir.path, under: UNDER })
  const total = events * urls.length
  const from = await reached(count, total * SHARE_BEFORE)
  const to = await reached(count, total * SHARE_AFTER)
  return (to.count - from.count) / ((to.at - from.at) / 1_000)
}

function lay(sqlite: Database, events: number): void {
  const ids = new LogicalClock(systemClock, systemRandom, 0)
  const { conversation } = openPopulation(sqlite)
  const hooks = sqlite.query<{ seq: number }, []>('SELECT seq FROM webhooks').all()
  const addEvent = sqlite.prepare<{ seq: number }, [Record<string, string | number>]>(
    `INSERT INTO events (id, name, conversation_id, body, created_at)
     VALUES ($id, 'message.sent', $conversationId, $body, $now) RETURNING seq`,
  )
  const addDelivery = sqlite.prepare<null, [Record<string, string | number>]>(
    `INSERT INTO deliveries (id, webhook_seq, event_seq, status, next_attempt_at, created_at)
     VALUES ($id, $hook, $event, 'pending', $now, $now)`,
  )
  sqlite.transaction(() => {
    for (let number = 0; number < events; number += 1) {
      const { conversationId } = conversation(number % CONVERSATIONS)
      const now = Date.now()
      const body = JSON.stringify({ event: 'message.sent', message: { text: 'x'.repeat(250) } })
      const event = addEvent.get({ id: ids.id('evt'), conversationId, body, now })?.seq ?? 0
      for (const hook of hooks) addDelivery.run({ id: ids.id('dlv'), hook: hook.seq, event, now })
    }
  })()
}

async function reached(
  count: () => number,
  target: number,
): Promise<{ readonly count: number; readonly at: number }> {
  const until = performance.now() + 120_000
  while (count() < target) {
    if (performance.now() > until) throw new Error(`Only ${count()} of ${target} arrived.`)
    await Bun.sleep(2)
  }
  return { count: count(), at: performance.now() }
}
