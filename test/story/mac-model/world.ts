// A Mac on which a history happens: Messages with its database, and one relay after the other.

import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { EVENT_NAMES } from '../../../src/domain/webhook.ts'
import { closeDatabase, openDatabase } from '../../../src/storage/database.ts'
import type { Clock } from '../../../src/system/clock.ts'
import type { RunProcess } from '../../../src/system/process.ts'
import type { Post } from '../../../src/webhooks/post.ts'
import { eventually } from '../../support/eventually.ts'
import { ChatDbFile } from '../../support/mac/chat-db-file.ts'
import type { SchemaName } from '../../support/mac/chat-db-schemas.ts'
import { driverOn, fakeMac, type FakeMac } from '../../support/mac/fake-mac.ts'
import { MessagesModel, type ScriptEnd } from '../../support/mac/messages-model.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import { TestClock } from '../../support/test-clock.ts'
import { seededRandom, startRelay, type Json, type TestRelay } from '../../support/test-relay.ts'
import { WebhookSink } from '../../support/webhook-sink.ts'

export type Event = {
  readonly name: string
  readonly messageId: string | null
  readonly body: Json
}

/** Time in which a busy machine lets every timer be late. */
const GRAIN_MS = 1_000
const COARSE_MS = 4_000
/** A longer time passes in coarse grains. */
const LONG_MS = 60_000
const REAL_MS = 1_000
const FIRST_MS = 1_000
const STOP_MS = 120_000

export class MacWorld {
  readonly clock = new TestClock()
  readonly model: WatchedMessages
  readonly #folder = new ScratchFolder()
  readonly #mac: FakeMac
  readonly #sink: WebhookSink
  readonly #timers: { readonly at: number; readonly act: () => void }[] = []
  /** Files that Messages wrote, and how many of them the relay has, or did not take in time. */
  readonly #files = { written: 0, kept: 0, missed: 0 }
  #life = new Life(this.clock)
  #relay: TestRelay | null = null
  #lives = 0

  constructor(schema: SchemaName) {
    const file = ChatDbFile.create(this.#folder.file('chat.db'), schema)
    this.model = new WatchedMessages(file, this.clock)
    this.#mac = fakeMac(this.model)
    this.#sink = new WebhookSink(this.clock)
  }

  get file(): ChatDbFile {
    return this.model.file
  }

  get relay(): TestRelay {
    if (this.#relay === null) throw new Error('The relay is stopped.')
    return this.#relay
  }

  /** Starts a relay on the files that the last one left. */
  async start(): Promise<void> {
    const life = new Life(this.clock)
    this.#life = life
    const path = this.#path(this.#lives)
    const database = openDatabase(path, { version: 'test' })
    // No history cuts the power of the machine.
    database.db.sqlite.run('PRAGMA synchronous = OFF')
    const key = this.#relay?.key ?? null
    const run: RunProcess = async (order, signal) =>
      life.outlive(() => this.#mac.run(order, signal))
    const post: Post = async (request, signal) =>
      life.outlive(() => this.#sink.post(request, signal))
    const mac = { ...this.#mac, run, clock: life }
    const driver = driverOn(mac, this.#folder.file('chat.db'), { random: seededRandom(7) })
    const starting = startRelay({
      clock: life,
      database,
      drivers: [driver],
      post,
      folder: this.#folder.path,
      onClose: () => closeDatabase(database.db),
      key,
    })
    this.#relay = await this.#passing(starting)
    if (key === null) await this.#setUp(this.#relay)
  }

  /** A power cut for the relay alone. */
  async crash(): Promise<void> {
    this.#life.end()
    const [from, to] = [this.#path(this.#lives), this.#path(this.#lives + 1)]
    this.#lives += 1
    copyFileSync(from, to)
    if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`)
    await this.start()
  }

  async stop(): Promise<void> {
    await this.#passing(this.relay[Symbol.asyncDispose]())
    this.#life.end()
  }

  /** The owner switches the line off, or on again. */
  async setLine(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const [line] = await this.relay.lines()
    await this.#passing(this.relay.patch(`/api/v1/phone-lines/${line.id}`, changes))
  }

  /** Does something after a time, whatever happens to the relay meanwhile. */
  later(ms: number, act: () => void): void {
    this.#timers.push({ at: this.clock.monotonic() + ms, act })
  }

  /** How long until nothing is planned any more. */
  get plannedMs(): number {
    return Math.max(0, ...this.#timers.map(({ at }) => at - this.clock.monotonic()))
  }

  async pass(ms: number): Promise<void> {
    const end = this.clock.monotonic() + ms
    await this.#keepFiles()
    for (let due = this.#nextDue; due !== undefined && due <= end; due = this.#nextDue) {
      await this.#elapseTo(due)
      await this.#keepFiles()
    }
    await this.#elapseTo(end)
  }

  get #nextDue(): number | undefined {
    return this.#timers.map(({ at }) => at).toSorted((a, b) => a - b)[0]
  }

  /** Lets time pass, and what is due meanwhile happen in time. */
  async #elapseTo(end: number): Promise<void> {
    for (let due = this.#nextDue; due !== undefined && due <= end; due = this.#nextDue) {
      await this.#elapse(due - this.clock.monotonic())
      const [timer] = this.#timers.splice(
        this.#timers.findIndex(({ at }) => at === due),
        1,
      )
      timer?.act()
    }
    await this.#elapse(end - this.clock.monotonic())
  }

  /** Bytes of a file where Messages keeps what it has received. */
  writeFile(path: string, content: string): void {
    this.#files.written += 1
    const whole = join(this.#folder.path, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, content)
  }

  /** Each event once, however often it was posted. */
  get events(): readonly Event[] {
    const byId = new Map(this.#sink.posts.map(({ id, body }) => [id, body]))
    return [...byId.values()].map((text) => {
      const body: Json = JSON.parse(text)
      return { name: body.event, messageId: body.message?.id ?? null, body }
    })
  }

  async all(path: string): Promise<readonly Json[]> {
    const found: Json[] = []
    for (let cursor = ''; ;) {
      const page = await this.relay.get(`${path}&limit=200${cursor}`)
      found.push(...page.data)
      if (!page.has_more) return found
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.end()
    this.model.close()
    this.#folder[Symbol.dispose]()
  }

  async #setUp(relay: TestRelay): Promise<void> {
    await relay.post('/api/v1/webhooks', { url: 'https://example.test/', events: EVENT_NAMES })
    await this.pass(FIRST_MS)
    await this.setLine({ relay_groups: true, relay_sms: true, daily_contact_limit: 10_000 })
  }

  /** A disk that others use too copies files: its time is not that of the history, which waits for it. */
  async #keepFiles(): Promise<void> {
    const files = this.#files
    if (files.kept + files.missed >= files.written) return
    const sql =
      "SELECT count(*) AS count FROM attachments WHERE state = 'available' AND caller = ''"
    await this.until(() => {
      files.kept = this.count(sql)
      return files.kept + files.missed >= files.written
    })
    files.missed = Math.max(0, files.written - files.kept)
  }

  /** What a query of the relay's database counts. */
  count(sql: string, values: Readonly<Record<string, string>> = {}): number {
    const query = this.relay.db.sqlite.query<{ count: number }, [Record<string, string>]>(sql)
    return query.get({ ...values })?.count ?? 0
  }

  /** Waits for what takes the machine real time; what never happens is a fault that the laws see. */
  async until(isSo: () => boolean): Promise<void> {
    const look = async () => {
      if (isSo()) return true
      await this.#elapseTo(this.clock.monotonic() + 100)
      return null
    }
    await eventually('it happens', look, REAL_MS).catch(() => {})
  }

  async #elapse(ms: number): Promise<void> {
    let left = ms
    for (; left > GRAIN_MS; left -= grainOf(left)) await this.clock.skip(grainOf(left))
    await this.clock.advance(Math.max(left, 0))
  }

  /** A wait for the relay lets time pass. */
  async #passing<T>(waiting: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const waited = waiting.finally(() => {
      state.isOver = true
    })
    for (let ms = 0; !state.isOver && ms < STOP_MS; ms += 10) await this.clock.advance(10)
    return waited
  }

  #path(life: number): string {
    return this.#folder.file(`${life}.db`)
  }
}

/** The clock of one relay: nobody wakes on it after a crash. */
class Life extends TestClock {
  isOver = false
  readonly #world: TestClock

  constructor(world: TestClock) {
    super()
    this.#world = world
  }

  end(): void {
    this.isOver = true
  }

  /** What a process asks of the world; it never hears the answer if it is dead by then. */
  async outlive<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.isOver ? null : await ask()
    if (answer === null || this.isOver) return new Promise(() => {})
    return answer
  }

  override now(): number {
    return this.#world.now()
  }

  override monotonic(): number {
    return this.#world.monotonic()
  }

  override uptime(): number {
    return this.#world.uptime()
  }

  override after(ms: number, act: () => void): () => void {
    return this.#world.after(ms, () => {
      if (!this.isOver) act()
    })
  }

  override advanceUntil(isOver: () => boolean, ms: number): Promise<void> {
    return this.#world.advanceUntil(isOver, ms)
  }
}

/** A line that misses two grains in a row must not think that its Mac was asleep. */
function grainOf(leftMs: number): number {
  return leftMs > LONG_MS ? COARSE_MS : GRAIN_MS
}

type Order = { readonly mode: string; readonly text: string; readonly path: string }

/** Messages as ever, except for texts of which a history says what becomes of them. */
export class WatchedMessages extends MessagesModel {
  /** What a text, or a file with its name, ends in; undefined leaves that to the behaviour of Messages. */
  readonly plans = new Map<string, (clock: Clock) => Promise<ScriptEnd> | undefined>()

  override async handleScript(args: readonly string[], stdin: string): Promise<ScriptEnd> {
    const order = JSON.parse(stdin) as Order // The names of script.ts, as the relay writes them.
    const isSend = order.mode === 'send' || order.mode === 'send_file'
    const name = order.mode === 'send_file' ? (order.path.split('/').at(-1) ?? '') : order.text
    const plan = isSend && this.account.exists ? this.plans.get(name) : undefined
    const planned = plan?.(this.clock)
    return planned ?? super.handleScript(args, stdin)
  }
}
