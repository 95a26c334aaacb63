// The simulated network does not forget: receipts after a crash, a clock that steps back, a ledger that
// is lost, full or old.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { WITHDRAWN } from '../../../src/lines/driver.ts'
import { NEVER } from '../../../src/system/clock.ts'
import {
  carry,
  guidOf,
  messageOf,
  messagesOf,
  receiptsOf,
  settledOf,
  runLine,
} from '../../contract/line-rig.ts'
import { makeSimulatedRig } from '../../contract/simulated-rig.ts'
import { sendTo, timed } from './simulated-sends.ts'

const DAY_MS = 86_400_000

test('receipts come after a crash, when they are due', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  const since = rig.clock.now()
  const checkpoint = first.checkpoint()
  await sendTo(rig, first, '+15550001234')
  await first.end()

  await using second = await runLine(rig, rig.restart(), { checkpoint })
  await rig.clock.advance(400)
  const early = timed(second, since)
  await rig.clock.advance(400)

  expect([early, timed(second, since)]).toEqual([
    ['delivered +400'],
    ['delivered +400', 'read +800'],
  ])
})

test('a wall clock that steps back delays no receipt', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)

  await sendTo(rig, line, '+15550001234')
  rig.clock.step(-3_600_000)
  await rig.clock.advance(800)

  expect(receiptsOf(line.events).map(({ kind }) => kind)).toEqual(['delivered', 'read'])
})

test('after a step back the network goes on in whole milliseconds', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  rig.clock.step(-3_600_000)

  await rig.clock.advance(0.5)
  const outcome = await sendTo(rig, line, '+15550001234')

  expect(outcome.outcome).toBe('accepted')
})

test('a wall clock that steps back while nobody attends loses nothing', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  await sendTo(rig, first, '+15550001234')
  await rig.clock.advance(800)
  const checkpoint = first.checkpoint()
  await first.end()

  rig.clock.step(-3_600_000)
  await using second = await runLine(rig, rig.restart(), { checkpoint })
  await rig.receive('later')
  await rig.clock.advance(800)

  expect(messagesOf(second.events).map(({ text }) => text)).toEqual(['later'])
})

test('a note of another ledger proves nothing', async () => {
  using rig = makeSimulatedRig()
  const unsettled = [{ message: messageOf(rig, 'hello'), note: 'AN-OTHER-LEDGER' }]

  await using line = await runLine(rig, rig.driver, { unsettled })

  expect(settledOf(line.events)).toEqual([])
})

test('a message that was carried twice is seen twice in the ledger', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)

  await carry(rig, line, 'hello')
  await carry(rig, line, 'hello')

  expect(rig.carried('hello')).toBe(2)
})

test('a new ledger is read from its beginning', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  for (const text of ['one', 'two', 'three']) await rig.receive(text)
  await rig.clock.advance(800)
  const checkpoint = first.checkpoint()
  await first.end()

  for (const end of ['', '-wal', '-shm']) rmSync(`${rig.ledgerPath}${end}`, { force: true })
  await using second = await runLine(rig, rig.restart(), { checkpoint })
  await rig.receive('four')
  await rig.clock.advance(800)

  const published = messagesOf(second.events).map(({ text, isHistory }) => ({ text, isHistory }))
  expect(published).toEqual([{ text: 'four', isHistory: false }])
})

test('a ledger that cannot be written carries nothing, and says so', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const db = new Database(rig.ledgerPath)
  db.run("CREATE TRIGGER full BEFORE INSERT ON pending BEGIN SELECT raise(ABORT, 'full'); END")
  db.close()

  const outcome = await sendTo(rig, line, '+15550001234')
  const refused = await line.send('withdrawn', async () => false)

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'network_failed', blame: 'line' })
  expect(refused).toEqual(WITHDRAWN)
  expect(rig.carried('hello')).toBe(0)
})

test('whom a line could not write to first, and could later, is known to it', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  const db = new Database(rig.ledgerPath)
  db.run("CREATE TRIGGER full BEFORE INSERT ON pending BEGIN SELECT raise(ABORT, 'full'); END")
  await sendTo(rig, first, '+15550001234')
  db.run('DROP TRIGGER full')
  db.close()
  await sendTo(rig, first, '+15550001234')
  await sendTo(rig, first, '+15550001234')
  await first.end()

  await using second = await runLine(rig, rig.restart())

  expect(await second.session().knows(deviceHandle('+15550001234'))).toBe(true)
})

test('messages that leave in one turn are carried together, or none of them', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const db = new Database(rig.ledgerPath)
  db.run(`CREATE TRIGGER full BEFORE INSERT ON carried WHEN new.recipient = '+15550001235'
    BEGIN SELECT raise(ABORT, 'full'); END`)
  db.close()

  const outcomes = await Promise.all([
    sendTo(rig, line, '+15550001234'),
    sendTo(rig, line, '+15550001235'),
  ])

  const failed = { outcome: 'not_sent', reason: 'network_failed', blame: 'line' } as const
  expect(outcomes).toEqual([failed, failed])
  expect(rig.carried('hello')).toBe(0)
})

test('a line that is telling already tells no receipt before its outcome went through all hands', async () => {
  using rig = makeSimulatedRig(0)
  await using line = await runLine(rig, rig.driver)
  line.hold()
  await sendTo(rig, line, '+15550001234', 'first')
  await rig.clock.advance(0)
  const pass = Promise.withResolvers<boolean>()
  const message = messageOf(rig, 'second')
  const sending = line.session().send(message, () => pass.promise, NEVER)
  const early = sending.then(async (outcome) => {
    for (let hands = 0; hands < 20; hands += 1) await Promise.resolve()
    return receiptsOf(line.events).filter(({ guid }) => guid === guidOf(outcome))
  })

  pass.resolve(true)
  line.letGo()

  expect(await early).toEqual([])
  await rig.clock.advance(0)
  expect(receiptsOf(line.events).map(({ guid }) => guid)).toContain(guidOf(await sending) ?? '')
})

test('what happens while a checkpoint is written is told, but for the next checkpoint', async () => {
  using rig = makeSimulatedRig(0)
  await using line = await runLine(rig, rig.driver)
  const sendBoth = async (text: string) => {
    await Promise.all(['4', '5'].map((end) => sendTo(rig, line, `+1555000123${end}`, text)))
    await rig.clock.advance(0)
  }
  const published = () => ({
    receipts: receiptsOf(line.events).length,
    checkpoints: line.events.filter(({ type }) => type === 'checkpoint').length,
  })
  const before = published()

  line.hold(({ type }) => type === 'checkpoint')
  await sendBoth('first')
  await sendBoth('second')
  const meanwhile = published()
  line.letGo()
  await rig.clock.advance(0)

  expect(meanwhile).toEqual({ receipts: 4, checkpoints: before.checkpoints + 1 })
  expect(published()).toEqual({ receipts: 4, checkpoints: before.checkpoints + 2 })
})

test('after 30 days the ledger forgets what was told, and keeps what was not', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  await using second = await runLine(rig, rig.driver, { key: '2', number: '+12025550102' })
  const checkpoint = second.checkpoint()
  second.refuse(() => true)
  await sendTo(rig, first, '+12025550102', 'still there?')

  await rig.clock.advance(31 * DAY_MS)
  await sendTo(rig, first, '+15550000190')
  await rig.clock.advance(DAY_MS)

  expect([rig.carried('still there?'), countEvents(rig.ledgerPath)]).toEqual([0, 1])
  const neighbour = { key: '2', number: '+12025550102', checkpoint }
  await using again = await runLine(rig, rig.driver, neighbour)
  expect(messagesOf(again.events).map(({ text }) => text)).toEqual(['still there?'])
})

test('what was forgotten is not given its position again, by a new start neither; the newest message stays', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  await sendTo(rig, first, '+15550001234')
  await rig.clock.advance(31 * DAY_MS)
  const left = countEvents(rig.ledgerPath)
  const kept = rig.carried('hello')
  const checkpoint = first.checkpoint()
  await first.end()

  await using second = await runLine(rig, rig.restart(), { checkpoint })
  await rig.receive('new')
  await rig.clock.advance(800)

  expect([left, kept]).toEqual([0, 1])
  expect(messagesOf(second.events).map(({ text }) => text)).toEqual(['new'])
})

function countEvents(ledgerPath: string): number {
  using db = new Database(ledgerPath, { readonly: true })
  const row = db.query<{ count: number }, []>('SELECT count(*) AS count FROM events').get()
  return row?.count ?? 0
}
