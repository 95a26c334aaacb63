// The whole relay on a Mac of the test's: Messages and its database outlive every relay that is started
// on them, as on a real one.

import { copyFileSync, existsSync } from 'node:fs'

import type { LineDriver } from '../../src/lines/driver.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import type { RunProcess } from '../../src/system/process.ts'
import { ChatDbFile } from '../support/mac/chat-db-file.ts'
import { type SchemaName } from '../support/mac/chat-db-schemas.ts'
import { driverOn, fakeMac } from '../support/mac/fake-mac.ts'
import { MessagesModel } from '../support/mac/messages-model.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { seededRandom, startRelay, type TestRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

export const FRIEND = '+15550001111'

export class MacBox {
  readonly clock = new TestClock()
  readonly model: MessagesModel
  readonly #folder = new ScratchFolder()
  readonly #mac: ReturnType<typeof fakeMac>
  #count = 0
  #key: TestRelay['key'] = null
  /** What no process of a relay that crashed may do any more. */
  #isAlive = { value: true }

  constructor(schema: SchemaName = 'macos26a') {
    const file = ChatDbFile.create(this.#folder.file('chat.db'), schema)
    this.model = new MessagesModel(file, this.clock)
    this.#mac = fakeMac(this.model)
  }

  /** Folder of Messages, and of the relay. */
  get folder(): string {
    return this.#folder.path
  }

  /** Starts a relay on the files that the last one left. */
  async start() {
    this.#isAlive = { value: true }
    const sink = new WebhookSink(this.clock)
    const path = this.#folder.file(`${this.#count}.db`)
    const database = openDatabase(path, { version: 'test' })
    const relay = await this.#passing(
      startRelay({
        clock: this.clock,
        database,
        drivers: [this.#driver()],
        post: sink.post,
        folder: this.#folder.path,
        onClose: () => closeDatabase(database.db),
        key: this.#key,
      }),
    )
    if (this.#count === 0 && this.#key === null) {
      await relay.post('/api/v1/webhooks', { url: 'https://example.test/', events: EVENTS })
    }
    this.#key = relay.key
    return { relay, sink }
  }

  /** A power cut for the relay alone: its files stay as they are now, and it does nothing any more. */
  crash(): void {
    this.#isAlive.value = false
    const [from, to] = [this.#count, this.#count + 1].map((n) => this.#folder.file(`${n}.db`))
    this.#count += 1
    copyFileSync(from ?? '', to ?? '')
    if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`)
  }

  [Symbol.dispose](): void {
    this.#isAlive.value = false
    this.model.close()
    this.#folder[Symbol.dispose]()
  }

  /** A start waits for its lines, and a Mac takes a moment to answer. */
  async #passing<T>(starting: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const started = starting.finally(() => {
      state.isOver = true
    })
    while (!state.isOver) await this.clock.advance(10)
    return started
  }

  #driver(): LineDriver {
    const alive = this.#isAlive
    const run: RunProcess = (order, signal) =>
      alive.value ? this.#mac.run(order, signal) : new Promise(() => {})
    const path = this.#folder.file('chat.db')
    return driverOn({ ...this.#mac, run }, path, { random: seededRandom(7) })
  }
}

const EVENTS = ['message.received', 'message.sent', 'message.delivered', 'message.read']
