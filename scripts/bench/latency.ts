// (e): from the request to the event at the receiver: at 100 messages a second; again with ten receivers
// of which every second one hangs; beside 200 that hang, from the start or after they answered; and at one that
// takes 100 ms to answer.

import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { atMost, percentile, type Figure } from './figure.ts'
import { startBenchRelay, type BenchRelay } from './relay.ts'

type Case = {
  readonly what: string
  readonly healthy: number
  readonly hanging: number
  /** How long the healthy ones take. */
  readonly answerMs: number
  /** The hanging ones answer for this time first. */
  readonly answersFirstSeconds?: number
  readonly perSecond: number
  readonly seconds: number
  readonly p99Ms: number
}

const PLAIN = { healthy: 1, hanging: 0, answerMs: 0, perSecond: 100, seconds: 20 }

const CASES: readonly Case[] = [
  { ...PLAIN, what: '100 messages/s', p99Ms: 50 },
  { ...PLAIN, what: 'healthy receivers, 5 of 10 hanging', healthy: 5, hanging: 5, p99Ms: 250 },
  {
    ...PLAIN,
    what: 'a healthy receiver beside 200 that hang, 10 messages/s',
    hanging: 200,
    perSecond: 10,
    seconds: 30,
    p99Ms: 250,
  },
  {
    ...PLAIN,
    what: 'a healthy receiver beside 200 that answered and then hang, 10 messages/s',
    hanging: 200,
    answersFirstSeconds: 2,
    perSecond: 10,
    seconds: 30,
    p99Ms: 250,
  },
  { ...PLAIN, what: 'a receiver that takes 100 ms, 100 messages/s', answerMs: 100, p99Ms: 1_000 },
]

export async function latency(): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const one of CASES) {
    const value = await measure(one)
    figures.push(
      atMost({
        id: 'e',
        what: `p99 from request to \`message.sent\` received: ${one.what}`,
        measured: `${value.toFixed(1)} ms`,
        yardstick: '',
        value,
        floor: one.p99Ms,
      }),
    )
  }
  return figures
}

/** The 99th percentile in milliseconds, over all healthy receivers. */
async function measure(one: Case): Promise<number> {
  const { perSecond, seconds, answersFirstSeconds = 0, ...receivers } = one
  using dir = temporaryDataDir()
  using sink = new TimedReceivers(receivers)
  const bench = await startBenchRelay(dir.path)
  await using _relay = bench.relay
  for (const url of sink.urls) {
    await bench.api.ask('POST', '/api/v1/webhooks', { url, events: ['message.sent'] })
  }
  const send = (count: number) =>
    sendPaced(bench, count, perSecond, (text) => sink.sentAt.set(text, performance.now()))
  if (answersFirstSeconds > 0) {
    const count = perSecond * answersFirstSeconds
    await send(count)
    await sink.received(count * (receivers.healthy + receivers.hanging))
  }
  sink.beginToHang()
  await send(perSecond * seconds)
  await sink.received(perSecond * seconds * receivers.healthy)
  return percentile(sink.tookMs, 0.99)
}

/** Sends `count` messages with texts of their own, evenly; `onSend` hears of each just before. */
export async function sendPaced(
  { api }: Pick<BenchRelay, 'api'>,
  count: number,
  perSecond: number,
  onSend: (text: string) => void,
): Promise<void> {
  const sends: Promise<unknown>[] = []
  const startedAt = performance.now()
  for (let number = 0; number < count; number += 1) {
    await Bun.sleep(Math.max(0, startedAt + (number * 1_000) / perSecond - performance.now()))
    const text = `message ${number}`
    onSend(text)
    const to = `+1202559${1_000 + (number % 1_000)}`
    sends.push(api.ask('POST', '/api/v1/messages/send', { to, text }))
  }
  await Promise.all(sends)
}

class TimedReceivers {
  /** When each text was sent, by the monotonic clock. */
  readonly sentAt = new Map<string, number>()
  readonly tookMs: number[] = []
  readonly urls: readonly string[]
  readonly #servers: readonly Bun.Server<undefined>[]
  readonly #answerMs: number
  #isHanging = false

  constructor({ healthy, hanging, answerMs }: Pick<Case, 'healthy' | 'hanging' | 'answerMs'>) {
    this.#answerMs = answerMs
    this.#servers = Array.from({ length: healthy + hanging }, (_, index) =>
      Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        idleTimeout: 60,
        fetch: (request) =>
          index < hanging && this.#isHanging
            ? new Promise<Response>(() => {})
            : this.#take(request),
      }),
    )
    this.urls = this.#servers.map((server) => `${server.url.origin}/hook`)
  }

  /** From now on, events that arrive are counted from zero. */
  beginToHang(): void {
    this.#isHanging = true
    this.tookMs.length = 0
  }

  async received(count: number): Promise<void> {
    const until = performance.now() + 60_000
    while (this.tookMs.length < count && performance.now() < until) await Bun.sleep(20)
    if (this.tookMs.length >= count) return
    throw new Error(`Only ${this.tookMs.length} of ${count} events arrived.`)
  }

  async #take(request: Request): Promise<Response> {
    const at = performance.now()
    const { message } = (await request.json()) as { message: { text: string } } // The relay's own.
    this.tookMs.push(at - (this.sentAt.get(message.text) ?? Number.NaN))
    if (this.#answerMs > 0) await Bun.sleep(this.#answerMs)
    return new Response('ok')
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) void server.stop(true)
  }
}
