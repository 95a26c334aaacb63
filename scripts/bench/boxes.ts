// (x): lines on boxes beside lines of the head, in turns in one run: the real broker, TLS, and all processes
// on this machine. Then a hundred lines on ten boxes, the time without a broker, and resident memory.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { SUBJECTS } from '../../src/boxes/link.ts'
import { Fleet, type FleetOptions } from '../../test/executable/torture/fleet.ts'
import type { Line } from '../../test/executable/torture/load.ts'
import { eventually } from '../../test/support/eventually.ts'
import { BrokerRig } from '../../test/support/nats.ts'
import { temporaryDataDir } from '../../test/support/relay-process.ts'
import { BESIDE_LOAD, UNDER } from './cores.ts'
import { atMost, median, percentile, type Figure } from './figure.ts'
import { residentMb, startBenchRelay } from './relay.ts'

/** From a send until the other line has it as an event: long enough for the send to be over by then. */
const APART_MS = 20
/** Between two events: what follows from the one is over before the next. */
const REST_OF_EVENT_MS = 60
const EVENTS = 300
const WARM_UP = 100
const SENDS = 500
const REQUESTS = 2_000
const LINES = 100
const BOXES = 10
const SECONDS = 20
const BROKER_KILLS = 9
const REST_MS = 15_000
const ARRIVAL_MS_MAX = 20_000

export async function boxes(): Promise<readonly Figure[]> {
  const single = await memoryOfSingle()
  return [
    await measureLink(),
    await measureEvents(),
    ...(await measurePair(single)),
    await measureMany(),
  ]
}

type Shape = Pick<FleetOptions, 'boxes' | 'linesOfBox' | 'ownLines'>
const PAIR: Shape = { boxes: 1, linesOfBox: 2, ownLines: 2 }

function open(shape: Shape, delayMs = 0): Promise<Fleet> {
  const under = (name: string) => (name === 'head' ? UNDER : BESIDE_LOAD)
  const environment = { HOOKLINE_SIMULATED_DELAY_MS: String(delayMs) }
  return Fleet.open({ ...shape, environment, under })
}

/** One request after another from a box to its head, both in this process. */
async function measureLink(): Promise<Figure> {
  await using rig = await BrokerRig.start()
  const box = await rig.connectBox('one', await rig.addBox('one'))
  const head = await rig.connect({})
  head.serve(SUBJECTS.up('*', '*'), async (request) => request)
  const subject = SUBJECTS.up('1', 'one')
  const request = JSON.stringify({ text: 'x'.repeat(200) })
  await eventually('the head listens', () => box.ask(subject, request, 1_000).catch(() => null))
  const tookMs: number[] = []
  for (let number = 0; number < WARM_UP + REQUESTS; number += 1) {
    const startedAt = performance.now()
    await box.ask(subject, request, 5_000)
    if (number >= WARM_UP) tookMs.push(performance.now() - startedAt)
  }
  return atMost({
    ...figure('a request on the link, answered at once: p50', tookMs, 1),
    measured: `p50 ${median(tookMs).toFixed(2)} ms, p99 ${percentile(tookMs, 0.99).toFixed(1)} ms`,
    value: median(tookMs),
  })
}

/** Events of two lines of the head, and of two of a box, each on its own. */
async function measureEvents(): Promise<Figure> {
  using receiver = new TimedReceiver()
  await using fleet = await open(PAIR, APART_MS)
  const lines = await watchedLines(fleet, receiver)
  const turns = { ...lines, receiver, restMs: REST_OF_EVENT_MS }
  await takeTurns(fleet, { ...turns, count: WARM_UP })
  const { local, remote } = await takeTurns(fleet, { ...turns, count: EVENTS })
  const what = 'an event from the network to the webhook’s receiver'
  return added(what, local.eventMs, remote.eventMs, 1)
}

async function watchedLines(fleet: Fleet, { url }: TimedReceiver) {
  const lines = await linesOf(fleet)
  await fleet.api.ask('POST', '/api/v1/webhooks', { url, events: ['message.received'] })
  return lines
}

/** Sends of the same lines, one after another. */
async function measurePair(singleMb: number): Promise<readonly Figure[]> {
  using receiver = new TimedReceiver()
  await using fleet = await open(PAIR)
  const lines = await watchedLines(fleet, receiver)
  const turns = { ...lines, receiver, restMs: 0 }
  await takeTurns(fleet, { ...turns, count: WARM_UP })
  const { local, remote } = await takeTurns(fleet, { ...turns, count: SENDS })
  const backMs = await measureReturns(fleet, lines.remote)
  await Bun.sleep(REST_MS)
  return [
    added('a send over HTTP until it is answered `sent`', local.sendMs, remote.sendMs, 2),
    atMost({
      ...figure('from kill -9 of the broker to a send that is sent, the middle', backMs, 500),
      measured: `${median(backMs).toFixed(0)} ms, at most ${Math.max(...backMs).toFixed(0)}`,
      value: median(backMs),
    }),
    ...(await memoryFigures(fleet, singleMb)),
  ]
}

type Place = 'local' | 'remote'
type Turns = Readonly<Record<Place, { sendMs: number[]; eventMs: number[] }>>

type Turn = {
  readonly local: readonly Line[]
  readonly remote: readonly Line[]
  readonly count: number
  readonly receiver: TimedReceiver
  /** After each arrival. */
  readonly restMs: number
}

/** One send after another, to the other line of the same machine, which takes it as an event. */
async function takeTurns(fleet: Fleet, turn: Turn): Promise<Turns> {
  const { local, remote, count, receiver, restMs } = turn
  const sendMs: Record<Place, number[]> = { local: [], remote: [] }
  for (let number = 0; number < count; number += 1) {
    for (const [place, [from, to]] of [
      ['local', local],
      ['remote', remote],
    ] as const) {
      if (from === undefined || to === undefined) throw new Error(`There are no ${place} lines.`)
      const text = `${place} ${count} ${number}`
      const body = { to: to.phone_number, phone_line_id: from.id, text }
      const startedAt = performance.now()
      const { status } = await fleet.api.ask<Sent>('POST', '/api/v1/messages/send', body)
      sendMs[place].push(performance.now() - startedAt)
      if (status === 'queued' || status === 'failed') throw new Error(`${text} was ${status}.`)
      await eventually(text, () => receiver.arrivedAt.get(text) ?? null, ARRIVAL_MS_MAX)
      await Bun.sleep(restMs)
    }
  }
  const [box] = fleet.boxes
  const eventMs = (dataDir = '', place: string) =>
    eventTimes(dataDir).flatMap(({ text, at }) =>
      text.startsWith(`${place} ${count} `) ? [(receiver.arrivedAt.get(text) ?? NaN) - at] : [],
    )
  return {
    local: { sendMs: sendMs.local, eventMs: eventMs(fleet.head.dataDir, 'local') },
    remote: { sendMs: sendMs.remote, eventMs: eventMs(box?.dataDir, 'remote') },
  }
}

type Sent = { readonly status: string }

/** When each message came to its line, in whole milliseconds. */
function eventTimes(dataDir: string) {
  using network = new Database(join(dataDir, 'simulated.db'), { readonly: true })
  const sql = "SELECT text, at FROM events WHERE kind = 'message'"
  return network.query<{ text: string; at: number }, []>(sql).all()
}

/** Median of the lines of a box beside that of the head's own, in milliseconds. */
function added(
  what: string,
  local: readonly number[],
  remote: readonly number[],
  floor: number,
): Figure {
  const words = (all: readonly number[]) =>
    `p50 ${median(all).toFixed(2)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms`
  return atMost({
    id: 'x',
    what: `${what} of a line on a box; added p50 in ms`,
    measured: words(remote),
    yardstick: `of the head: ${words(local)}`,
    value: median(remote) - median(local),
    floor,
  })
}

/** From each kill of the broker until a message of a box is sent, in milliseconds. */
async function measureReturns(fleet: Fleet, [line]: readonly Line[]): Promise<readonly number[]> {
  const times: number[] = []
  for (let kill = 0; kill < BROKER_KILLS; kill += 1) {
    await Bun.sleep(2_000)
    if (!fleet.signalBroker('SIGKILL')) throw new Error('There is no broker.')
    const startedAt = performance.now()
    await sendUntilSent(fleet, line, `after kill ${kill}`)
    times.push(performance.now() - startedAt)
  }
  return times
}

async function sendUntilSent(fleet: Fleet, line: Line | undefined, text: string): Promise<void> {
  const body = { to: '+12025581000', phone_line_id: line?.id, text }
  const { id } = await fleet.api.ask<{ id: string }>('POST', '/api/v1/messages/send', body)
  await eventually('the message is sent', async () => {
    const found = await fleet.api.ask<{ status: string }>('GET', `/api/v1/messages/${id}`)
    return ['sent', 'delivered', 'read'].includes(found.status) ? true : null
  })
}

/** A hundred lines on ten boxes, one message a second each. */
async function measureMany(): Promise<Figure> {
  await using fleet = await open({ boxes: BOXES, linesOfBox: LINES / BOXES, ownLines: 0 })
  const { remote } = await linesOf(fleet)
  await paced(fleet, remote, 3)
  const tookMs = await paced(fleet, remote, SECONDS)
  return atMost({
    ...figure(
      `${LINES} lines on ${BOXES} boxes, each a message a second: p99 of a send`,
      tookMs,
      100,
    ),
    measured: `p50 ${median(tookMs).toFixed(1)} ms, p99 ${percentile(tookMs, 0.99).toFixed(1)} ms`,
    value: percentile(tookMs, 0.99),
  })
}

async function paced(
  fleet: Fleet,
  lines: readonly Line[],
  seconds: number,
): Promise<readonly number[]> {
  const sends: Promise<number>[] = []
  const startedAt = performance.now()
  for (let number = 0; number < lines.length * seconds; number += 1) {
    const dueAt = startedAt + (number * 1_000) / lines.length
    await Bun.sleep(Math.max(0, dueAt - performance.now()))
    const to = `+1202559${1_000 + (number % 1_000)}`
    const body = { to, phone_line_id: lines[number % lines.length]?.id, text: `number ${number}` }
    const sentAt = performance.now()
    const answer = fleet.api.ask<{ status: string }>('POST', '/api/v1/messages/send', body)
    sends.push(
      answer.then(({ status }) => (status === 'queued' ? Infinity : performance.now() - sentAt)),
    )
  }
  return Promise.all(sends)
}

type BoxLine = Line & { readonly box?: unknown }

async function linesOf(fleet: Fleet) {
  const lines: readonly BoxLine[] = await fleet.allOnline()
  for (const { id } of lines) {
    await fleet.api.ask('PATCH', `/api/v1/phone-lines/${id}`, { daily_contact_limit: 100_000 })
  }
  const isRemote = ({ box }: BoxLine) => box !== undefined && box !== null
  return { local: lines.filter((line) => !isRemote(line)), remote: lines.filter(isRemote) }
}

async function memoryOfSingle(): Promise<number> {
  using dir = temporaryDataDir()
  await using relay = (await startBenchRelay(dir.path)).relay
  await Bun.sleep(REST_MS)
  return await residentMb(relay.pid)
}

async function memoryFigures(fleet: Fleet, singleMb: number): Promise<readonly Figure[]> {
  const mb = async (pid: number | undefined) => residentMb(pid ?? Number.NaN)
  const [head, box, broker] = [
    await mb(fleet.head.pid),
    await mb(fleet.boxes[0]?.pid),
    await mb(fleet.brokerPids()[0]),
  ]
  const memory = (what: string, value: number, floor: number) => ({
    ...figure(`resident memory ${what}`, [value], floor),
    measured: `${value.toFixed(0)} MB`,
    value,
  })
  return [
    atMost({
      ...memory('of a head with a box', head, 130),
      yardstick: `without: ${singleMb.toFixed(0)} MB`,
    }),
    atMost(memory('of a box', box, 100)),
    atMost(memory('of the broker', broker, 40)),
  ]
}

function figure(what: string, all: readonly number[], floor: number) {
  return {
    id: 'x',
    what,
    measured: `${all.length} measured`,
    yardstick: '',
    value: Number.NaN,
    floor,
  }
}

type Post = { readonly message: { readonly text: string } }

/** A webhook's receiver that notes the wall clock's time of each message. */
class TimedReceiver {
  readonly arrivedAt = new Map<string, number>()
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const at = performance.timeOrigin + performance.now()
      const { message } = (await request.json()) as Post // The relay's own.
      this.arrivedAt.set(message.text, at)
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
