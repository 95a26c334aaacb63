// What the simulated network can prove of a message whose relay ended after the point of no return, and
// what it cannot.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type LineId, type MessageId } from '../../src/domain/ids.ts'
import type { LineDriver, LineEvent } from '../../src/lines/driver.ts'
import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { systemRandom } from '../../src/system/random.ts'
import { copyDatabase, startOn } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import type { TestRelay } from '../support/test-relay.ts'

const TO = '+15550001234'
const ASYNC = { Prefer: 'respond-async' }

type Wrapped = { readonly driver: LineDriver; readonly late: { carry: () => void } }

/** A simulated driver whose sends stop between the point of no return and the network. */
function stoppingDriver(folder: ScratchFolder, clock: TestClock): Wrapped {
  const real = simulatedDriver(folder, clock)
  const late = Promise.withResolvers<boolean>()
  const run: LineDriver['run'] = (line, listener, signal) => {
    const onEvent = (event: LineEvent) => {
      if (event.type !== 'online') return listener.onEvent(event)
      const { session } = event
      const send: typeof session.send = (message, pass, end) =>
        session.send(message, async (note) => (await pass(note)) && late.promise, end)
      return listener.onEvent({ ...event, session: { ...session, send } })
    }
    return real.run(line, { onEvent }, signal)
  }
  return { driver: { ...real, run }, late: { carry: () => late.resolve(true) } }
}

function simulatedDriver(folder: ScratchFolder, clock: TestClock): LineDriver {
  const options = { lineCount: 1, delayMs: 400, ledgerPath: folder.file('simulated.db') }
  return createSimulatedDriver({ relayClock: clock, random: systemRandom }, options)
}

/** A relay with a simulated line, ended after the point of no return of a message. */
async function endBeforeCarried(folder: ScratchFolder, key: TestRelay['key'] = null) {
  const clock = new TestClock()
  const { driver, late } = stoppingDriver(folder, clock)
  const relay = await startOn(folder.file('a.db'), { clock, driver, key })
  const { body } = await relay.send({ to: TO, text: 'hello' }, ASYNC)
  await clock.advance(10)
  copyDatabase(folder, 'a.db', 'b.db')
  const startAgain = (name: string) => {
    const again = simulatedDriver(folder, clock)
    return startOn(folder.file(name), { clock, driver: again, key: relay.key })
  }
  return { id: body.id as string, clock, late, startAgain }
}

test('the simulated network proves that a message was never carried, and carries it once', async () => {
  using folder = new ScratchFolder()
  const { id, clock, late, startAgain } = await endBeforeCarried(folder)

  await using relay = await startAgain('b.db')
  const settled = await relay.message(id)
  // The send of the life before goes on, as one that hung might: it is fenced off.
  late.carry()
  await clock.advance(5_000)

  expect([settled.status, settled.queued_reason]).toEqual(['queued', 'retry'])
  expect((await relay.message(id)).status).toBe('read')
  expect(carriedTexts(folder)).toEqual(['hello'])
})

test('ends during the start take nothing from the proof', async () => {
  using folder = new ScratchFolder()
  const { id, clock, startAgain } = await endBeforeCarried(folder)
  // It ends before what it found is durable: only a session of the network is left of it.
  using db = new Database(folder.file('b.db'))
  const row = db.query<{ note: string }, []>('SELECT note FROM messages').get()
  const message = { id: id as MessageId, to: deviceHandle(TO), text: 'hello', platformGuid: null }
  const open = { message: { ...message, createdAt: timestamp(clock.now()) }, note: row?.note ?? '' }
  const line = {
    id: 'line_any' as LineId, // Drivers only hand it on.
    key: '1',
    number: '+12025550101',
    checkpoint: null,
    unsettled: [open],
    open: [],
  }
  const onEvent = () => new Promise<void>(() => {})
  const end = new AbortController()
  void simulatedDriver(folder, clock).run(line, { onEvent }, end.signal)

  await using relay = await startAgain('b.db')
  await clock.advance(5_000)

  expect((await relay.message(id)).status).toBe('read')
  expect(carriedTexts(folder)).toEqual(['hello'])
})

const LOSSES: Readonly<Record<string, (folder: ScratchFolder) => void>> = {
  'is gone': (folder) => {
    for (const end of ['', '-wal', '-shm'])
      rmSync(folder.file(`simulated.db${end}`), { force: true })
  },
  'was put back': (folder) => copyDatabase(folder, 'earlier.db', 'simulated.db'),
  'was cut back': (folder) => changeLedger(folder, 'DELETE FROM carried'),
  'has forgotten something': (folder) => changeLedger(folder, 'UPDATE carried SET seq = 9'),
}

for (const [loss, lose] of Object.entries(LOSSES)) {
  test(`a ledger that ${loss} proves nothing`, async () => {
    using folder = new ScratchFolder()
    const clock = new TestClock()
    const first = await startOn(folder.file('a.db'), {
      clock,
      driver: simulatedDriver(folder, clock),
    })
    await first.send({ to: TO, text: 'before' })
    await first[Symbol.asyncDispose]()
    copyDatabase(folder, 'simulated.db', 'earlier.db')
    const { id, startAgain, clock: later } = await endBeforeCarried(folder, first.key)
    lose(folder)

    await using relay = await startAgain('b.db')
    await later.advance(5_000)

    expect((await relay.message(id)).status).toBe('uncertain')
    expect(carriedTexts(folder)).not.toContain('hello')
  })
}

test('a relay file of an earlier time proves nothing', async () => {
  using folder = new ScratchFolder()
  const { id, clock, startAgain } = await endBeforeCarried(folder)
  copyDatabase(folder, 'b.db', 'copy.db')
  const later = await startAgain('b.db')
  await clock.advance(5_000)
  await later[Symbol.asyncDispose]()
  changeLedger(folder, 'DELETE FROM carried')

  await using relay = await startAgain('copy.db')
  await clock.advance(5_000)

  expect((await relay.message(id)).status).toBe('uncertain')
  expect(carriedTexts(folder)).toEqual([])
})

function changeLedger(folder: ScratchFolder, sql: string): void {
  using db = new Database(folder.file('simulated.db'))
  db.run(sql)
}

/** The texts that the simulated network carried, in order. */
function carriedTexts(folder: ScratchFolder): readonly string[] {
  using db = new Database(folder.file('simulated.db'), { readonly: true })
  const rows = db.query<{ text: string }, []>('SELECT text FROM carried ORDER BY seq').all()
  return rows.map((row) => row.text)
}
