// A Mac line through the built executable, with Messages in a process of its own: it is found and works,
// and it is killed again and again while messages go in both directions. What a Mac line does in detail
// is in the tests of the driver; nothing here needs a Mac.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../support/eventually.ts'
import { hookline } from '../support/executable.ts'
import { startMessages, type MessagesRig } from '../support/mac/mac-rig.ts'
import { FRIEND, OWN_NUMBER } from '../support/mac/trace-steps.ts'
import { Receiver } from '../support/receiver.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { disagreements, type Ledgers } from './ledgers.ts'
import { announcedBy, notAskedFor, readMacLedgers, untrueEvents } from './mac-ledgers.ts'
import { Clients, PEOPLE, Writers } from './mac-traffic.ts'
import { comeToRest, type Page } from './torture/load.ts'

const KILLS = 8 * SCALE
const LIFE_MS_MIN = 20
const LIFE_MS_MAX = 700
const EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]
/** A person's time, made short. */
const DELAYS = {
  scriptMs: 20,
  sentMs: 100,
  deliveredMs: 200,
  readMs: 300,
  slowMs: 1_500,
  lateMs: 500,
}

const UNCERTAIN = '/api/v1/messages?status=uncertain&limit=200'

type Line = { readonly phone_number: string; readonly driver: string; readonly status: string }
type Message = { readonly id: string; readonly status: string; readonly platform_guid: string }

test('a Mac line is found by itself, sends, receives, and nothing is wrong with it', async () => {
  using folder = temporaryDataDir()
  using dir = temporaryDataDir()
  using receiver = new Receiver()
  await using messages = await startMessages(folder.path, 'macos26a')
  await messages.control.setDelays(DELAYS)
  const key = await createKey(dir.path)
  await using relay = await start(dir.path, messages, 0)
  const api = new ApiClient(() => relay.url, key)
  await subscribe(api, receiver)
  const line = await onlineLine(api)

  const sent = await api.request('POST', '/api/v1/messages/send', {
    body: { to: FRIEND, text: 'hello' },
  })
  await eventually('the message is read, and all is published', () => {
    return receiver.received.length === 3 ? true : null
  })
  await messages.control.receive({ from: FRIEND, text: 'hello yourself' })
  await eventually('the answer is published', () => (receiver.received.length === 4 ? true : null))

  const { id } = sent.body as Message // Its status says that it is one.
  const doctor = await hookline(['doctor', '--data-dir', dir.path])
  expect(line).toMatchObject({ driver: 'mac', phone_number: OWN_NUMBER, imessage_active: true })
  expect([sent.status, (await api.ask<Message>('GET', `/api/v1/messages/${id}`)).status]).toEqual([
    200,
    'read',
  ])
  expect(receiver.received.map(({ event, message }) => `${event}: ${message.text}`)).toEqual([
    'message.sent: hello',
    'message.delivered: hello',
    'message.read: hello',
    'message.received: hello yourself',
  ])
  expect(await messages.control.letters(null)).toEqual([
    { from: OWN_NUMBER, to: FRIEND, text: 'hello' },
  ])
  expect(doctor).toMatchObject({ exitCode: 0, stderr: '' })
  const runs = await scriptRuns(dir.path)
  expect(runs).toMatch(/"mode":"account".*"mode":"check".*"mode":"send","route":"participant"/)
  expect(runs).toContain('"accounts":[{"service":"iMessage","enabled":"enabled"')
  expect(runs).not.toMatch(/hello|\+\d/)
}, 180_000)

/** What the relay shows its owner of the runs of the script. */
async function scriptRuns(dataDir: string): Promise<string> {
  const unix = join(dataDir, 'control.sock')
  return (await fetch('http://localhost/api/v1/script-calls', { unix })).text()
}

test(`after ${KILLS} kills a Mac line has lost nothing, sent nothing twice and reports the truth`, async () => {
  using folder = temporaryDataDir()
  using dir = temporaryDataDir()
  using receiver = new Receiver()
  await using messages = await startMessages(folder.path, 'macos26a')
  await prepare(messages)
  const key = await createKey(dir.path)
  let relay = await start(dir.path, messages, 0)
  await using _ = { [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() }
  const api = new ApiClient(() => relay.url, key)
  await subscribe(api, receiver)
  await onlineLine(api)

  const clients = new Clients(api, key.id)
  const writers = new Writers(messages.control, SEED)
  const running = Promise.all([clients.run(), writers.run()])
  const random = new SeededRandom(SEED)
  for (let kills = 1; kills <= KILLS; kills += 1) {
    await Bun.sleep(LIFE_MS_MIN + random.below(LIFE_MS_MAX - LIFE_MS_MIN))
    // What still goes wrong then has to show in the last life, which nothing cuts short.
    if (kills === KILLS) await behaveWell(messages)
    const { port } = relay
    await relay.end('SIGKILL')
    relay = await start(dir.path, messages, port)
  }
  const isMuch = () => (clients.told.length > KILLS / 2 ? true : null)
  await eventually('clients were answered enough messages', isMuch)
  clients.stop()
  // What they write makes the relay look at its own messages, too, more often than every 5 s.
  await settle(api)
  writers.stop()
  await running
  // Where something is missing, the comparison below says what.
  await eventually('all that was written is published', () => {
    return textsIn(announcedBy(receiver.received)) >= textsIn(writers.written) ? true : null
  }).catch(() => null)
  await settle(api)
  const exitCode = await relay.end('SIGTERM')
  const ledgers = readMacLedgers(dir.path, await messages.control.letters(null))
  report(clients, writers, ledgers)

  expect(exitCode).toBe(0)
  expect(announcedBy(receiver.received)).toEqual(writers.written)
  expect({
    ...disagreements(ledgers, clients.told, [receiver.received]),
    notAskedFor: notAskedFor(ledgers, clients.told),
    untrueEvents: untrueEvents(ledgers),
  }).toEqual({
    damaged: [],
    lost: [],
    claimedButNotCarried: [],
    toldSentButNotCarried: [],
    carriedTwice: [],
    carriedButUnknown: [],
    carriedButNotSaid: [],
    withoutEvent: [],
    withoutDelivery: [],
    notReceived: [],
    underTwoIds: [],
    unsigned: [],
    notAskedFor: [],
    untrueEvents: [],
  })
}, 600_000)

function start(dataDir: string, messages: MessagesRig, port: number): Promise<RelayProcess> {
  return RelayProcess.start({ dataDir, port, environment: messages.environment })
}

/** A webhook that wants everything. */
async function subscribe(api: ApiClient, receiver: Receiver): Promise<void> {
  const hook = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', {
    url: receiver.url,
    events: EVENTS,
  })
  receiver.secret = hook.secret
}

function onlineLine(api: ApiClient): Promise<Line> {
  return eventually('the line is online', async () => {
    const { data } = await api.ask<Page<Line>>('GET', '/api/v1/phone-lines')
    return data.find((line) => line.status === 'online') ?? null
  })
}

/** Everyone has written before: people who are new to a line are written to seldom. */
async function prepare({ control }: MessagesRig): Promise<void> {
  await control.setDelays(DELAYS)
  for (const { handle, behaviour } of PEOPLE) {
    await control.receive({ from: handle, text: 'long before the relay' })
    await control.behave({ handle, behaviour })
  }
}

async function behaveWell({ control }: MessagesRig): Promise<void> {
  for (const { handle } of PEOPLE) await control.behave({ handle, behaviour: 'happy' })
}

/** Until no message is under way, none that Messages has is in doubt, and every delivery is done. */
async function settle(api: ApiClient): Promise<void> {
  await comeToRest(api)
  await eventually('no message that Messages has is in doubt', async () => {
    const { data } = await api.ask<Page<Message>>('GET', UNCERTAIN)
    return data.some((message) => message.platform_guid !== null) ? null : true
  })
  await comeToRest(api)
}

function textsIn(all: Readonly<Record<string, readonly string[]>>): number {
  return Object.values(all).flat().length
}

function report(clients: Clients, writers: Writers, ledgers: Ledgers): void {
  const outbound = [...ledgers.messages.values()].filter((one) => one.direction === 'outbound')
  const statuses = Map.groupBy(outbound, (message) => message.status)
  const counts = [...statuses].map(([status, all]) => `${all.length} ${status}`).join(', ')
  process.stdout.write(
    `${KILLS} kills, seed ${SEED}: ${clients.told.length} messages told (${counts}), ` +
      `${clients.repeats} requests repeated, ${ledgers.carried.size} carried, ` +
      `${textsIn(writers.written)} received\n`,
  )
}
