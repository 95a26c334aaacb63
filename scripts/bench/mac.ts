// A Mac line beside Messages in a process of its own: from the commit in chat.db to the receiver of the
// webhook, and what the line costs while nothing happens.

import { readFileSync } from 'node:fs'

import { ChatDb } from '../../src/lines/kinds/mac/chat-db.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startMessages, type MessagesRig } from '../../test/support/mac/mac-rig.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
} from '../../test/support/relay-process.ts'
import { UNDER } from './cores.ts'
import { atMost, percentile, type Figure } from './figure.ts'
import type { Line } from './relay.ts'

const MESSAGES = 400
const PERSONS = 20
/** The line looks every 50 ms: messages come at any moment between two looks. */
const GAP_MS_MIN = 20
const GAP_MS_MAX = 120
const REST_MS = 2_000
const IDLE_MS = 20_000
/** Linux counts a process's time in these, on every architecture. */
const TICKS_PER_SECOND = 100

export async function mac(): Promise<readonly Figure[]> {
  using folder = temporaryDataDir()
  using dir = temporaryDataDir()
  using otherDir = temporaryDataDir()
  using sink = new DatedReceiver()
  await using messages = await startMessages(folder.path, 'macos26a')
  await using relay = await startMacRelay(dir.path, messages, sink)
  await using without = await RelayProcess.start({ dataDir: otherDir.path, under: UNDER })
  const tookMs = await measureWay(messages, sink)
  const idle = await measureIdle(relay, without)
  return [
    wayFigure('p50', percentile(tookMs, 0.5), 60),
    wayFigure('p99', percentile(tookMs, 0.99), 150),
    atMost({
      id: 'm',
      what: `processor time of an idle relay with a Mac line, % of a core over ${IDLE_MS / 1_000} s`,
      measured: `${idle.relay.toFixed(2)} %`,
      yardstick: `${idle.without.toFixed(2)} % without the line`,
      value: idle.relay,
      floor: 1,
    }),
  ]
}

function wayFigure(name: string, ms: number, floor: number): Figure {
  return atMost({
    id: 'm',
    what: `from the commit in chat.db to \`message.received\` received, ${name} of ${MESSAGES}`,
    measured: `${ms.toFixed(0)} ms`,
    yardstick: '',
    value: ms,
    floor,
  })
}

async function startMacRelay(
  dataDir: string,
  { environment }: MessagesRig,
  sink: DatedReceiver,
): Promise<RelayProcess> {
  const key = await createKey(dataDir)
  const relay = await RelayProcess.start({ dataDir, under: UNDER, environment })
  const api = new ApiClient(() => relay.url, key)
  await eventually('the line is online', async () => {
    const { data } = await api.ask<{ data: readonly Line[] }>('GET', '/api/v1/phone-lines')
    return data.some((line) => line.status === 'online') ? true : null
  })
  await api.ask('POST', '/api/v1/webhooks', { url: sink.url, events: ['message.received'] })
  return relay
}

/** For each message the milliseconds from its commit to the receiver. */
async function measureWay(
  { control, chatDbPath }: MessagesRig,
  sink: DatedReceiver,
): Promise<readonly number[]> {
  for (let number = 0; number < MESSAGES; number += 1) {
    await Bun.sleep(GAP_MS_MIN + Math.random() * (GAP_MS_MAX - GAP_MS_MIN))
    const from = `+1555${2_000_000 + (number % PERSONS)}`
    await control.receive({ from, text: `Message ${number}, of about the length people write.` })
  }
  await eventually('all are received', () => (sink.receivedAt.size === MESSAGES ? true : null))
  const chatDb = ChatDb.open(chatDbPath)
  try {
    // Messages dates a row just before it commits it, in whole milliseconds of the same clock.
    return chatDb
      .rowsAfter(0, MESSAGES)
      .map(({ guid, at }) => (sink.receivedAt.get(guid) ?? Number.NaN) - (at ?? Number.NaN))
  } finally {
    chatDb.close()
  }
}

/** What both cost over the same time, in percent of a core. */
async function measureIdle(relay: RelayProcess, without: RelayProcess) {
  await Bun.sleep(REST_MS)
  const both = [relay, without].map(({ pid }) => pid)
  const before = both.map(processorMs)
  const startedAt = performance.now()
  await Bun.sleep(IDLE_MS)
  const passedMs = performance.now() - startedAt
  const [first = Number.NaN, second = Number.NaN] = both.map(
    (pid, index) => (100 * (processorMs(pid) - (before[index] ?? Number.NaN))) / passedMs,
  )
  return { relay: first, without: second }
}

/** The time in user and system that a process has had, without that of its children: proc(5). */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in brackets may hold blanks; the fields after it begin with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
}

class DatedReceiver {
  /** When each message arrived first, by its guid, in milliseconds since 1970. */
  readonly receivedAt = new Map<string, number>()
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const at = Date.now()
      const { message } = (await request.json()) as { message: { guid: string } } // The relay's own.
      if (!this.receivedAt.has(message.guid)) this.receivedAt.set(message.guid, at)
      return new Response('ok')
    },
  })

  get url(): string {
    return `${this.#server.url.origin}/hook`
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}
