// Nothing but storage runs between BEGIN and COMMIT: no driver is called there, and what refuses a send
// leaves no trace.

import { expect, test } from 'bun:test'

import type { DriverLine, LineDriver, LineListener } from '../../src/lines/driver.ts'
import { openDatabase, type Db } from '../../src/storage/database.ts'
import { asOwner } from '../support/control-socket.ts'
import {
  accepts,
  ends,
  guidOf,
  ScriptedDriver,
  type SendScript,
} from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

const TO = '+12025550700'
const OTHER = '+12025550701'
const ASYNC = { Prefer: 'respond-async' }

/** A driver that throws if it is called while a transaction of the database is open. */
class GuardedDriver extends ScriptedDriver implements LineDriver {
  calls = 0
  readonly #db: Db

  constructor(db: Db) {
    super()
    this.#db = db
  }

  override discover() {
    this.#guard('discover')
    return super.discover()
  }

  override checkup() {
    this.#guard('checkup')
    return super.checkup()
  }

  override async run(line: DriverLine, listener: LineListener, signal: AbortSignal) {
    this.#guard('run')
    await super.run(line, listener, signal)
    this.#guard('run, as it ends')
  }

  /** A device of which every call is guarded, and every answer too. */
  addGuarded(number: string) {
    const device = this.add(number)
    device.capacity = 4
    device.knows = () => {
      this.#guard('knows')
      return true
    }
    this.script(device, accepts)
    return device
  }

  script(device: { script: SendScript }, script: SendScript): void {
    device.script = async (message, pointOfNoReturn, signal) => {
      this.#guard('send')
      const guarded = async (note: string | null) => {
        const isGranted = await pointOfNoReturn(note)
        this.#guard('send, past its point of no return')
        return isGranted
      }
      return script(message, guarded, signal)
    }
  }

  #guard(call: string): void {
    this.calls += 1
    if (this.#db.sqlite.inTransaction) throw new Error(`${call} was called in a transaction.`)
  }
}

/** The device is still trying. */
const holds: SendScript = (message, ...more) =>
  ends({ outcome: 'held', guid: guidOf(Number(message.text)) })(message, ...more)

test('no driver is called while a transaction is open: sends, intake, settled, restart', async () => {
  const clock = new TestClock()
  const database = openDatabase(':memory:', { version: 'test' })
  const driver = new GuardedDriver(database.db)
  const device = driver.addGuarded('+12025550801')
  let key
  {
    await using relay = await startRelay({ clock, database, drivers: [driver] })
    key = relay.key
    const people = Array.from({ length: 6 }, (_, n) => `+1202555071${n}`)
    const sent = await Promise.all(people.map((to) => relay.send({ to, text: 'hello' })))
    driver.script(device, holds)
    const held = await relay.send({ to: TO, text: '70' }, ASYNC)
    await clock.advance(10)
    await Promise.all([
      relay.send({ to: OTHER, text: '71' }, ASYNC),
      device.receive({ guid: guidOf(80) }),
      device.report(guidOf(70), 'delivered', clock.now()),
      device.settle(held.body.id, { outcome: 'accepted', guid: guidOf(70) }),
    ])
    await clock.advance(10)
    expect(sent.map(({ status }) => status)).toEqual(people.map(() => 200))
    expect((await relay.message(held.body.id)).status).toBe('delivered')
  }

  await using relay = await startRelay({ clock, database, drivers: [driver], key })
  driver.script(device, accepts)
  await clock.advance(100)
  const { data } = await relay.get('/api/v1/messages?limit=100')

  expect(driver.calls).toBeGreaterThan(25)
  expect(data.filter((message: Json) => message.error !== null)).toEqual([])
  expect(await relay.send({ to: TO, text: 'after' })).toMatchObject({ status: 200 })
})

/** Every row of every table. */
function dump({ sqlite }: Db): string {
  const tables = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all()
  const rows = tables.map(({ name }) => [name, sqlite.query(`SELECT * FROM "${name}"`).all()])
  return JSON.stringify(rows)
}

type Refusal = {
  readonly code: string
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
  prepare?(relay: ScriptedRelay): Promise<unknown>
}

const KEY = { 'Idempotency-Key': 'order-1' }

/** Whatever speaks against a send within its transaction. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  'the key was used with other values': {
    code: 'idempotency_conflict',
    headers: KEY,
    prepare: (relay) => relay.send({ to: TO, text: 'first' }, KEY),
  },
  'the message of the key was deleted': {
    code: 'not_found',
    headers: KEY,
    async prepare(relay) {
      await relay.send({ to: OTHER, text: 'hello' }, KEY)
      relay.db.sqlite.run("UPDATE idempotency SET answer = NULL, body = NULL WHERE key = 'order-1'")
      relay.db.sqlite.run('DELETE FROM messages')
    },
  },
  'no line has a conversation with the address': {
    code: 'invalid_recipient',
    body: { to: 'nobody@example.com', text: 'hello' },
  },
  'the recipient is a line of the relay': {
    code: 'invalid_recipient',
    body: { to: '+12025550801', text: 'hello' },
  },
  'there is no such line': {
    code: 'phone_line_not_found',
    body: { to: OTHER, text: 'hello', phone_line_id: 'line_01k0000000e00000000000000a' },
  },
  'the line is disabled': {
    code: 'no_phone_line',
    prepare: (relay) => relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { is_enabled: false }),
  },
  'a person answers the conversation': {
    code: 'automation_paused',
    async prepare(relay) {
      await asOwner(relay, 'PUT', '/settings/enforce_automation_pause', { body: { value: 'on' } })
      const { body } = await relay.send({ to: OTHER, text: 'before' })
      await relay.patch(`/api/v1/conversations/${body.conversation_id}`, {
        automation_paused: true,
      })
    },
  },
  'the day is full, and the device does not know the recipient after all': {
    code: 'rate_limit_exceeded',
    headers: KEY,
    async prepare(relay) {
      relay.device.knows = () => false
      await relay.limit(1)
      await relay.send({ to: TO, text: 'the first' })
    },
  },
  'two programs seem to answer each other': {
    code: 'rate_limit_exceeded',
    async prepare(relay) {
      for (let sent = 0; sent < 30; sent += 1) await relay.send({ to: OTHER, text: `${sent}` })
    },
  },
}

for (const [why, refusal] of Object.entries(REFUSALS)) {
  test(`a refusal leaves no trace, though the device knew the recipient: ${why}`, async () => {
    await using relay = await startScripted()
    relay.device.knows = () => true // So that an accepted send first notes that.
    await refusal.prepare?.(relay)
    await relay.clock.advance(10)
    relay.db.sqlite.run('UPDATE contacts SET known_at = NULL')
    const before = dump(relay.db)

    const body = refusal.body ?? { to: OTHER, text: 'hello' }
    const answer = await relay.send(body, refusal.headers)

    expect(answer.body.error.code).toBe(refusal.code)
    expect(dump(relay.db)).toBe(before)
  })
}
