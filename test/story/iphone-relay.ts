// The whole relay with iPhones on its cable: usbmuxd, lockdown in TLS and WebDriverAgent answer over real
// sockets, files are real, and time is the test's. It moves on only while nobody waits for a socket.

import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { BackupWorker } from '../../src/storage/backup.ts'
import { openData } from '../../src/storage/data.ts'
import type { Clock } from '../../src/system/clock.ts'
import { jsonLog } from '../../src/system/log.ts'
import { CablePhone } from '../support/iphone/cable-phone.ts'
import { FakeMux } from '../support/iphone/fake-mux.ts'
import { OTHER_UDID } from '../support/iphone/fake-phones.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import { seededRandom, startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink, type Posted } from '../support/webhook-sink.ts'

export const FRIEND = '+12025550123'
export const OTHER_FRIEND = '+12025550177'
const OTHER_NUMBER = '+15551230002'
/** As long as a command of the agent takes, and a step where none is under way. */
const STEP_MS = 50
const IDLE_STEP_MS = 250
/** How long real sockets may take for what they do between two steps. */
const SOCKETS_MS_MAX = 5_000
const FILES = ['hookline.db', 'hookline.db-wal', 'secret.key']
const EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]

export class PhoneBox implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly sink = new WebhookSink(this.clock)
  /** All that its relays have logged, at the level debug. */
  readonly logged: string[] = []
  readonly #folder = new ScratchFolder()
  readonly #phones: CablePhone[] = []
  readonly #relays = new Set<TestRelay>()
  #mux: FakeMux | null = null
  #lives = 0
  #key: TestRelay['key'] = null
  /** Commands that the phones are at: they wait for the clock, and nobody need wait for them. */
  #commands = 0

  /** Where the relay of now keeps its data. */
  get dataFolder(): string {
    return this.#folder.file(`data-${this.#lives}`)
  }

  /** Begins with one phone on the cable. */
  static async with(serial: string, number: string) {
    const box = new PhoneBox()
    await box.#plugIn()
    return { box, phone: await box.phone(serial, number) }
  }

  /** One more phone, plugged in, whose messages are read within a second. */
  async phone(serial: string, number: string): Promise<CablePhone> {
    const phone = await CablePhone.start({ serial, number, clock: this.#phoneClock })
    phone.screen.readAfterMs = 600
    phone.plugIn(this.mux)
    this.#phones.push(phone)
    return phone
  }

  get mux(): FakeMux {
    if (this.#mux === null) throw new Error('There is no usbmuxd.')
    return this.#mux
  }

  /** Starts a relay on the data that the last one left. */
  async start(): Promise<TestRelay> {
    const { clock, logged } = this
    const random = seededRandom(this.#lives + 1)
    const log = jsonLog((line) => logged.push(line), clock.now.bind(clock), 'debug')
    const place = { dataDir: this.dataFolder, host: '127.0.0.1', port: 0 }
    const data = openData(place, { clock, random, log, version: 'test' })
    const starting = startRelay({
      clock,
      database: { db: data.db, migratedFrom: null, backupPath: null },
      drivers: 'own',
      post: this.sink.post,
      key: this.#key,
      environment: {
        HOOKLINE_IPHONE_LINES: 'all',
        HOOKLINE_MAC: 'off',
        USBMUXD_SOCKET_ADDRESS: `UNIX:${this.mux.path}`,
      },
      parts: { data, random, log, backupWorker: new BackupWorker() },
    })
    const relay = await this.during(starting)
    this.#relays.add(relay)
    if (this.#key === null) {
      await relay.post('/api/v1/webhooks', { url: 'https://example.test/', events: EVENTS })
    }
    this.#key = relay.key
    return relay
  }

  async stop(relay: TestRelay): Promise<void> {
    this.#relays.delete(relay)
    await this.during(relay.app.stop())
  }

  /**
   * A power cut for the relay alone: its files stay as they are now, for the next one, and it reaches no
   * phone any more. What an agent has begun it ends.
   */
  async crash(): Promise<void> {
    const from = this.dataFolder
    this.#lives += 1
    mkdirSync(this.dataFolder, { mode: 0o700 })
    for (const name of FILES.filter((file) => existsSync(join(from, file)))) {
      cpSync(join(from, name), join(this.dataFolder, name))
    }
    await this.#plugIn()
  }

  /** Moves on, always only so far that no answer is late that is on its way. */
  async passes(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms
    while (this.clock.monotonic() < until) {
      await this.clock.advance(this.#commands > 0 ? STEP_MS : IDLE_STEP_MS)
      await this.#socketsRest()
    }
  }

  /** Time passes until `promise` has come to its end. */
  async during<T>(promise: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const over = promise.finally(() => {
      state.isOver = true
    })
    over.catch(() => {})
    while (!state.isOver) await this.passes(STEP_MS)
    return over
  }

  /** Time passes until something has come true, for a minute at most. */
  async comesTo(
    what: string,
    isTrue: () => boolean | Promise<boolean>,
    msMax = 60_000,
  ): Promise<void> {
    const until = this.clock.monotonic() + msMax
    while (!(await isTrue())) {
      if (this.clock.monotonic() >= until) throw new Error(`It did not come to this: ${what}.`)
      await this.passes(STEP_MS)
    }
  }

  async isOnline(relay: TestRelay, count = 1): Promise<void> {
    await this.comesTo(`${count} lines are online`, async () => {
      const lines = await relay.lines()
      return lines.filter(({ status }) => status === 'online').length === count
    })
  }

  /** Until a message has one of these states; gives the message. */
  async becomes(relay: TestRelay, id: string, ...statuses: readonly string[]): Promise<Json> {
    let message: Json = null
    await this.comesTo(`a message is ${statuses.join(' or ')}`, async () => {
      message = await relay.message(id)
      return statuses.includes(message.status)
    })
    return message
  }

  /** What was announced of messages with this text, each event once. */
  eventsOf(text: string): readonly string[] {
    const bodies = [...new Map(this.sink.posts.map((post) => [post.id, bodyOf(post)])).values()]
    return bodies.filter(({ message }) => message.text === text).map(({ event }) => event as string)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.#relays) await this.stop(relay)
    for (const phone of this.#phones) phone[Symbol.dispose]()
    await this.#mux?.stop()
    this.#folder[Symbol.dispose]()
  }

  /** Another usbmuxd in the place of the one before, with the same phones. */
  async #plugIn(): Promise<void> {
    const before = this.#mux
    this.#mux = await FakeMux.start(this.#folder.file(`usbmuxd-${this.#lives}`))
    for (const phone of this.#phones.filter((one) => one.isPluggedIn)) phone.plugIn(this.#mux)
    await before?.stop()
  }

  /** A connection on which an agent is at work is as quiet as the phone. */
  async #socketsRest(): Promise<void> {
    const until = performance.now() + SOCKETS_MS_MAX
    do await settle()
    while (this.mux.busyCount > this.#commands && performance.now() < until)
  }

  readonly #phoneClock: Clock = {
    now: () => this.clock.now(),
    monotonic: () => this.clock.monotonic(),
    uptime: () => this.clock.uptime(),
    after: (ms, act) => this.clock.after(ms, act),
    sleep: async (ms, signal) => {
      this.#commands += 1
      await this.clock.sleep(ms, signal)
      this.#commands -= 1
    },
  }
}

/** A relay with two lines; the first one is what routing takes. */
export async function startTwo({ box, phone }: Awaited<ReturnType<typeof PhoneBox.with>>) {
  const other = await box.phone(OTHER_UDID, OTHER_NUMBER)
  const relay = await box.start()
  await box.isOnline(relay, 2)
  const [line] = await relay.lines()
  const [first, second] = line.phone_number === OTHER_NUMBER ? [other, phone] : [phone, other]
  return { relay, line, first, second }
}

function bodyOf({ body }: Posted): Json {
  return JSON.parse(body)
}
