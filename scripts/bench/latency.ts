// (e): from the request to the event at the receiver, at 100 messages a second; and again with ten
// receivers of which every second one hangs.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, percentile, type Figure } from './figure.ts'
import { startBenchRelay } from './relay.ts'

const PER_SECOND = 100
const SECONDS = 20
const HANGING_RECEIVERS = 5
const RECEIVERS = 10

export async function latency(): Promise<readonly Figure[]> {
  const quiet = await measure(1, 0)
  const beside = await measure(RECEIVERS, HANGING_RECEIVERS)
  return [
    atMost({
      id: 'e',
      what: `p99 from request to \`message.sent\` received, ${PER_SECOND} messages/s`,
      measured: `${quiet.toFixed(1)} ms`,
      yardstick: '',
      value: quiet,
      floor: 50,
    }),
    atMost({
      id: 'e',
      what: `the same at healthy receivers, ${HANGING_RECEIVERS} of ${RECEIVERS} hanging`,
      measured: `${beside.toFixed(1)} ms`,
      yardstick: '',
      value: beside,
      floor: 250,
    }),
  ]
}

/** The 99th percentile in milliseconds, over all healthy receivers. */
async function measure(receivers: number, hanging: number): Promise<number> {
  using dir = temporaryDataDir()
  using sink = new TimedReceivers(receivers, hanging)
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  for (const url of sink.urls) {
    await bench.api.ask('POST', '/api/v1/webhooks', { url, events: ['message.sent'] })
  }
  const sends: Promise<unknown>[] = []
  const startedAt = performance.now()
  for (let number = 0; number < PER_SECOND * SECONDS; number += 1) {
    await Bun.sleep(Math.max(0, startedAt + (number * 1_000) / PER_SECOND - performance.now()))
    const text = `message ${number}`
    sink.sentAt.set(text, performance.now())
    const to = `+1202559${1_000 + (number % 1_000)}`
    sends.push(bench.api.ask('POST', '/api/v1/messages/send', { to, text }))
  }
  await Promise.all(sends)
  const expected = PER_SECOND * SECONDS * (receivers - hanging)
  const until = performance.now() + 30_000
  while (sink.tookMs.length < expected && performance.now() < until) await Bun.sleep(20)
  if (sink.tookMs.length < expected) {
    throw new Error(`Only ${sink.tookMs.length} of ${expected} events arrived.`)
  }
  return percentile(sink.tookMs, 0.99)
}

class TimedReceivers {
  /** When each text was sent, by the monotonic clock. */
  readonly sentAt = new Map<string, number>()
  readonly tookMs: number[] = []
  readonly urls: readonly string[]
  readonly #servers: readonly Bun.Server<undefined>[]

  constructor(number: number, hanging: number) {
    this.#servers = Array.from({ length: number }, (_, index) =>
      Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        idleTimeout: 60,
        fetch: (request) =>
          index < hanging ? new Promise<Response>(() => {}) : this.#take(request),
      }),
    )
    this.urls = this.#servers.map((server) => `${server.url.origin}/hook`)
  }

  async #take(request: Request): Promise<Response> {
    const at = performance.now()
    const { message } = (await request.json()) as { message: { text: string } } // The relay's own.
    this.tookMs.push(at - (this.sentAt.get(message.text) ?? Number.NaN))
    return new Response('ok')
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) void server.stop(true)
  }
}
