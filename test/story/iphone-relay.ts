// The whole relay with iPhones of which only the screens are played: its files are real, and time is the
// test's. The way from usbmuxd to the screen is in the driver's tests and in test/executable.

import { cpSync, existsSync } from 'node:fs'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import type { Post } from '../../src/webhooks/post.ts'
import { NUMBER, OTHER_UDID, UDID } from '../support/iphone/fake-phones.ts'
import type { MessagesPhone } from '../support/iphone/messages-phone.ts'
import { PhoneLineRig } from '../support/iphone/phone-line-rig.ts'
import type { WdaCommands } from '../support/iphone/wda-commands.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

export const FRIEND = '+12025550123'
export const OTHER_FRIEND = '+12025550177'
const NUMBERS: Readonly<Record<string, string>> = { [UDID]: NUMBER, [OTHER_UDID]: '+15551230002' }
const STEP_MS = 250
const EVENTS = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
]

export class PhoneBox implements AsyncDisposable {
  readonly rig: PhoneLineRig
  readonly sink: WebhookSink
  /** The first phone, as in the rig. */
  readonly commands: WdaCommands
  readonly screen: MessagesPhone
  readonly #folder = new ScratchFolder()
  readonly #relays = new Set<TestRelay>()
  #relay: TestRelay | null = null
  #starts = 0
  #lives = 0
  #isCutOff = { now: false }

  constructor(rig = new PhoneLineRig(Object.keys(NUMBERS))) {
    this.rig = rig
    this.sink = new WebhookSink(rig.clock)
    this.commands = rig.of(UDID).commands
    this.screen = rig.of(UDID).phone
    this.rig.launcher.isLeftToOwner = true
    for (const { phone } of this.rig.phones) phone.readAfterMs = 600
  }

  /** A relay with so many phones on the cable, all of them lines. */
  static async online(count = 1): Promise<PhoneBox> {
    const box = new PhoneBox()
    for (const udid of Object.keys(NUMBERS).slice(0, count)) box.plugIn(udid)
    await box.start()
    await box.isOnline(count)
    return box
  }

  /** The relay of now. */
  get relay(): TestRelay {
    if (this.#relay === null) throw new Error('There is no relay.')
    return this.#relay
  }

  plugIn(udid = UDID): void {
    this.rig.plugIn(udid, { number: NUMBERS[udid] ?? null })
  }

  /** Starts a relay on the data that the last one left. */
  async start(): Promise<void> {
    const { clock } = this.rig
    this.#starts += 1
    const database = openDatabase(this.#file(), { version: 'test' })
    const isCutOff = this.#isCutOff
    const post: Post = (request, signal) =>
      isCutOff.now ? Promise.resolve({ result: 'unreachable' }) : this.sink.post(request, signal)
    const starting = startRelay({
      clock,
      database,
      onClose: () => closeDatabase(database.db),
      drivers: [this.rig.driver()],
      post,
      seed: this.#starts,
      key: this.#relay?.key,
    })
    const isFirst = this.#relay === null
    this.#relay = await this.during(starting)
    this.#relays.add(this.#relay)
    if (isFirst) {
      await this.relay.post('/api/v1/webhooks', { url: 'https://example.test/', events: EVENTS })
    }
  }

  async stop(relay = this.relay): Promise<void> {
    this.#relays.delete(relay)
    await this.during(relay.app.stop())
  }

  /** A power cut for the relay: its files stay as they are, and it reaches nobody any more. */
  async crash(): Promise<void> {
    const from = this.#file()
    this.#lives += 1
    for (const end of ['', '-wal'].filter((one) => existsSync(from + one))) {
      cpSync(from + end, this.#file() + end)
    }
    this.#isCutOff.now = true
    this.#isCutOff = { now: false }
    this.rig.cutOff()
  }

  async passes(ms: number): Promise<void> {
    await this.rig.clock.advance(ms)
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
    stepMs = STEP_MS,
  ): Promise<void> {
    const until = this.rig.clock.monotonic() + 60_000
    while (!(await isTrue())) {
      if (this.rig.clock.monotonic() >= until) throw new Error(`It did not come to this: ${what}.`)
      await this.passes(stepMs)
    }
  }

  async isOnline(count = 1): Promise<void> {
    await this.comesTo(`${count} lines are online`, async () => {
      const lines = await this.relay.lines()
      return lines.filter(({ status }) => status === 'online').length === count
    })
  }

  /** Until a message has one of these states; gives the message. */
  async becomes(id: string, ...statuses: readonly string[]): Promise<Json> {
    let message: Json = null
    await this.comesTo(`a message is ${statuses.join(' or ')}`, async () => {
      message = await this.relay.message(id)
      return statuses.includes(message.status)
    })
    return message
  }

  /** What was announced of messages with this text, each event once. */
  eventsOf(text: string): readonly string[] {
    const bodies = new Map(
      this.sink.posts.map(({ id, body }): [string, Json] => [id, JSON.parse(body)]),
    )
    return [...bodies.values()]
      .filter(({ message }) => message.text === text)
      .map(({ event }) => event as string)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const relay of this.#relays) await this.stop(relay)
    this.#folder[Symbol.dispose]()
  }

  #file(): string {
    return this.#folder.file(`life-${this.#lives}.db`)
  }
}
