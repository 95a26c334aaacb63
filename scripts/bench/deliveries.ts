// (c): a backlog of events goes out to sixteen receivers, each attempt recorded durably, against a loop
// of signed posts with 64 in flight. Each is measured in turns, one after the other. Then the same goes
// out to sixteen receivers that take 100 ms.

import { join } from 'node:path'

import { createDelivered } from './backlog.ts'
import { UNDER } from './cores.ts'
import { atLeast, median, rate, type Figure } from './figure.ts'

const RECEIVERS = 16
const EVENTS = 2_500
const IN_FLIGHT = 64
const ROUNDS = 3
const SLOW_MS = 100
const SLOW_EVENTS = 1_000

export async function deliveries(): Promise<readonly Figure[]> {
  using sink = countingReceivers(RECEIVERS)
  const rounds: { readonly ours: number; readonly bare: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const count = sink.countFromNow()
    rounds.push({
      ours: await createDelivered({ urls: sink.urls, events: EVENTS, count }),
      bare: await measureBarePosts(sink.urls),
    })
  }
  return [
    atLeast({
      id: 'c',
      what: `events to ${RECEIVERS} receivers, attempts on disk, against signed posts alone`,
      measured: rate(median(rounds.map(({ ours }) => ours))),
      yardstick: rate(median(rounds.map(({ bare }) => bare))),
      value: median(rounds.map(({ ours, bare }) => ours / bare)),
      floor: 0.25,
    }),
    await slowDeliveries(),
  ]
}

async function slowDeliveries(): Promise<Figure> {
  using sink = countingReceivers(RECEIVERS, SLOW_MS)
  const count = sink.countFromNow()
  const value = await createDelivered({ urls: sink.urls, events: SLOW_EVENTS, count })
  return atLeast({
    id: 'c',
    what: `events per second to ${RECEIVERS} receivers that take ${SLOW_MS} ms`,
    measured: rate(value),
    yardstick: '',
    value,
    floor: 1_600,
  })
}

async function measureBarePosts(urls: readonly string[]): Promise<number> {
  const script = join(import.meta.dir, 'bare-posts.ts')
  const body = JSON.stringify({ event: 'message.sent', message: { text: 'x'.repeat(250) } })
  const child = Bun.spawn(
    [...UNDER, process.execPath, script, urls.join(), String(IN_FLIGHT), '60000', body],
    { stdout: 'pipe' },
  )
  return Number(await new Response(child.stdout).text())
}

function countingReceivers(number: number, answerMs = 0) {
  let received = 0
  const servers = Array.from({ length: number }, () =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async () => {
        received += 1
        if (answerMs > 0) await Bun.sleep(answerMs)
        return new Response('ok')
      },
    }),
  )
  return {
    urls: servers.map((server) => `${server.url.origin}/hook`),
    countFromNow() {
      const before = received
      return () => received - before
    },
    [Symbol.dispose]: () => {
      for (const server of servers) void server.stop(true)
    },
  }
}
