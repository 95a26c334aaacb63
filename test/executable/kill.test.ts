// Kills the executable again and again under load, and asks three ledgers what became of each message:
// what clients were told, what the simulated network carried, what the receiver of webhooks got.

import { expect, test } from 'bun:test'

import { systemRandom } from '../../src/system/random.ts'
import { Receiver } from '../support/receiver.ts'
import {
  ApiClient,
  createKey,
  eventually,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'
import { disagreements, failedUnrefused, readLedgers, type Told } from './ledgers.ts'

const KILLS = Number(process.env['HOOKLINE_KILLS'] ?? '100')
const CLIENTS = 8
const LIFE_MS_MIN = 150
const LIFE_MS_MAX = 700
const EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]
const ENVIRONMENT = {
  HOOKLINE_SIMULATED_LINES: '2',
  HOOKLINE_SIMULATED_DELAY_MS: '30',
  HOOKLINE_WEBHOOK_RETRY_SCHEDULE: '50ms,100ms,200ms,400ms,1s,1s,2s,2s,5s,5s,5s',
}

type Line = { readonly id: string; readonly phone_number: string; readonly status: string }
type Page<T> = { readonly data: readonly T[]; readonly has_more: boolean }

test(`after ${KILLS} kills under load nothing is lost and nothing is sent twice`, async () => {
  using dir = temporaryDataDir()
  using receiver = new Receiver()
  const key = await createKey(dir.path)
  let relay = await start(dir.path, 0)
  const api = new ApiClient(() => relay.url, key)
  const lines = await prepare(api, receiver)

  const clients = new Clients(api, key, lines)
  const running = clients.run()
  for (let kills = 0; kills < KILLS; kills += 1) {
    await Bun.sleep(LIFE_MS_MIN + systemRandom.chance() * (LIFE_MS_MAX - LIFE_MS_MIN))
    const { port } = relay
    await relay.end('SIGKILL')
    relay = await start(dir.path, port)
  }
  clients.stop()
  await running
  await comeToRest(api)
  const exitCode = await relay.end('SIGTERM')
  const ledgers = readLedgers(dir.path)
  report(clients, ledgers.carried.size, receiver.received.length)

  expect(exitCode).toBe(0)
  expect(clients.contradictions).toEqual([])
  expect(clients.told.length).toBeGreaterThan(KILLS)
  expect(failedUnrefused(ledgers)).toEqual([])
  expect(disagreements(ledgers, clients.told, receiver.received)).toEqual({
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
  })
}, 600_000)

function start(dataDir: string, port: number): Promise<RelayProcess> {
  return RelayProcess.start({ dataDir, port, environment: ENVIRONMENT })
}

/** Lines without a limit, and a webhook that wants everything. */
async function prepare(api: ApiClient, receiver: Receiver): Promise<readonly Line[]> {
  const lines = await eventually('both lines are online', async () => {
    const { data } = await api.ask<Page<Line>>('GET', '/api/v1/phone-lines')
    return data.filter((line) => line.status === 'online').length === 2 ? data : null
  })
  for (const line of lines) {
    await api.ask('PATCH', `/api/v1/phone-lines/${line.id}`, { daily_contact_limit: 100_000 })
  }
  const hook = await api.ask<{ secret: string }>('POST', '/api/v1/webhooks', {
    url: receiver.url,
    events: EVENTS,
  })
  receiver.secret = hook.secret
  return lines
}

/** Until no message is under way and every delivery is done. */
async function comeToRest(api: ApiClient): Promise<void> {
  const { data: hooks } = await api.ask<Page<{ id: string }>>('GET', '/api/v1/webhooks')
  const busy = [
    ...['queued', 'sending', 'sent', 'delivered'].map(
      (status) => `/api/v1/messages?direction=outbound&limit=1&status=${status}`,
    ),
    ...hooks.map(({ id }) => `/api/v1/webhooks/${id}/deliveries?limit=1&status=pending`),
  ]
  await eventually(
    'everything comes to rest',
    async () => {
      const pages = await Promise.all(busy.map((path) => api.ask<Page<unknown>>('GET', path)))
      return pages.every((page) => page.data.length === 0) ? true : null
    },
    90_000,
  )
}

/** Several clients that send one message after another, each until it has an answer. */
class Clients {
  readonly told: Told[] = []
  /** Keys that were answered with two messages. */
  readonly contradictions: string[] = []
  repeats = 0
  readonly #api: ApiClient
  readonly #name: string
  readonly #lines: readonly Line[]
  #isStopped = false

  constructor(api: ApiClient, key: ApiKey, lines: readonly Line[]) {
    this.#api = api
    this.#name = key.id
    this.#lines = lines
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => this.#runOne(number)))
  }

  stop(): void {
    this.#isStopped = true
  }

  async #runOne(client: number): Promise<void> {
    for (let count = 0; !this.#isStopped; count += 1) {
      const text = `client ${client}, message ${count}`
      const told = await this.#sendUntilAnswered(text, this.#partyOf(client, count))
      this.told.push(told)
      // Now and then a client asks twice although it was answered.
      if (count % 7 !== 0) continue
      const again = await this.#sendUntilAnswered(text, this.#partyOf(client, count))
      if (again.messageId !== told.messageId) this.contradictions.push(text)
    }
  }

  /** Simulated people, each other's lines, pinned and not pinned. */
  #partyOf(client: number, count: number): { to: string; phone_line_id?: string } {
    const [first, second] = this.#lines
    const person = `+1202556${String(1_000 + client * 100 + (count % 97)).padStart(4, '0')}`
    if (first === undefined || second === undefined || count % 4 === 0) return { to: person }
    if (count % 4 === 1) return { to: person, phone_line_id: second.id }
    if (count % 4 === 2) return { to: second.phone_number, phone_line_id: first.id }
    return { to: first.phone_number, phone_line_id: second.id }
  }

  async #sendUntilAnswered(
    text: string,
    party: { to: string; phone_line_id?: string },
  ): Promise<Told> {
    for (;;) {
      const told = await this.#sendOnce(text, party)
      if (told !== null) return told
      this.repeats += 1
      await Bun.sleep(15)
    }
  }

  /** Null where the answer got lost, or asks to come again. */
  async #sendOnce(text: string, party: { to: string }): Promise<Told | null> {
    const answer = await this.#api
      .request('POST', '/api/v1/messages/send', {
        body: { ...party, text },
        headers: { 'Idempotency-Key': `${this.#name} ${text}` },
      })
      .catch(() => null)
    if (answer === null || answer.status === 503) return null
    return toldBy(answer.status, answer.body, text)
  }
}

type SendBody = {
  readonly id?: string
  readonly status?: string
  readonly error?: { readonly code: string; readonly details?: { readonly message_id?: string } }
}

function toldBy(status: number, body: unknown, text: string): Told {
  const answer = body as SendBody // Any other shape throws below.
  if (status === 200 || status === 202) {
    return { messageId: answer.id ?? '', text, status: answer.status ?? '' }
  }
  const messageId = answer.error?.details?.message_id
  if (status === 422 && messageId !== undefined) return { messageId, text, status: 'failed' }
  throw new Error(`A send was answered ${status}: ${JSON.stringify(body)}`)
}

function report(clients: Clients, carried: number, received: number): void {
  const failed = clients.told.filter((one) => one.status === 'failed').length
  process.stdout.write(
    `${KILLS} kills: ${clients.told.length} messages told (${failed} of them failed), ` +
      `${clients.repeats} requests repeated, ${carried} carried, ${received} posts received\n`,
  )
}
