// (r): a receiver is away for a minute while messages go out, and comes back: how long it takes until it
// has all of them.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, type Figure } from './figure.ts'
import { sendPaced } from './latency.ts'
import { startBenchRelay } from './relay.ts'

const AWAY_MS = 60_000
/** A quiet webhook, whose breaker stays closed, and a busy one. */
const CASES: readonly { readonly count: number; readonly perSecond: number }[] = [
  { count: 1, perSecond: 1 },
  { count: 5_000, perSecond: 100 },
]
const WAIT_MS_MAX = 120_000

export async function returns(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const { count, perSecond } of CASES) {
    const value = await measure(count, perSecond)
    const events = count === 1 ? 'one event' : `${count} events`
    figures.push(
      atMost({
        id: 'r',
        what: `seconds from the return of a receiver after ${AWAY_MS / 1_000} s until it has ${events}`,
        measured: `${value.toFixed(1)} s`,
        yardstick: '',
        value,
        floor: 10,
      }),
    )
  }
  return figures
}

async function measure(count: number, perSecond: number): Promise<number> {
  using dir = temporaryDataDir()
  const received = new Set<string>()
  let isAway = true
  using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      if (isAway) return new Response(null, { status: 502 })
      received.add(request.headers.get('webhook-id') ?? '')
      return new Response('ok')
    },
  })
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  const url = `${receiver.url.origin}/hook`
  await bench.api.ask('POST', '/api/v1/webhooks', { url, events: ['message.sent'] })
  const leftAt = performance.now()
  await sendPaced(bench, count, perSecond, () => {})
  await Bun.sleep(Math.max(0, leftAt + AWAY_MS - performance.now()))

  isAway = false
  const returnedAt = performance.now()
  while (received.size < count && performance.now() - returnedAt < WAIT_MS_MAX) await Bun.sleep(5)
  return (performance.now() - returnedAt) / 1_000
}
