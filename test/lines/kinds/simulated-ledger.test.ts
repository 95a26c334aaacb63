// The simulated network does not forget: receipts after a crash, a clock that steps back, a ledger that
// is lost, full or old.

import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { WITHDRAWN } from '../../../src/lines/driver.ts'
import {
  carry,
  guidOf,
  messageOf,
  messagesOf,
  receiptsOf,
  settledOf,
} from '../../contract/line-rig.ts'
import { startWorld } from './simulated-world.ts'

const DAY_MS = 86_400_000
const PERSON = '+15550001234'
const FAILED = { outcome: 'not_sent', reason: 'network_failed', blame: 'line' } as const
const FULL = `CREATE TRIGGER full BEFORE INSERT ON pending
  BEGIN SELECT raise(ABORT, 'full'); END`

const textsOf = (line: Parameters<typeof messagesOf>[0]) => messagesOf(line).map(({ text }) => text)

test('receipts come after a crash, when they are due', async () => {
  await using world = await startWorld()
  const checkpoint = world.line.checkpoint()
  await world.send(PERSON)

  const second = await world.again({ checkpoint })
  await world.clock.advance(400)
  const early = world.timed(second)
  await world.clock.advance(400)

  expect([early, world.timed(second)]).toEqual([
    ['delivered +400'],
    ['delivered +400', 'read +800'],
  ])
})

test('a wall clock that steps back delays no receipt, and the network goes on in whole milliseconds', async () => {
  await using world = await startWorld()

  await world.send(PERSON)
  world.clock.step(-3_600_000)
  await world.clock.advance(0.5)
  const outcome = await world.send('+15550000190')
  await world.clock.advance(800)

  expect(outcome.outcome).toBe('accepted')
  expect(receiptsOf(world.line.events).map(({ kind }) => kind)).toEqual(['delivered', 'read'])
})

test('a wall clock that steps back while nobody runs the line loses nothing', async () => {
  await using world = await startWorld()
  await world.send(PERSON)
  await world.clock.advance(800)
  const checkpoint = world.line.checkpoint()
  await world.line.end()

  world.clock.step(-3_600_000)
  const second = await world.again({ checkpoint })
  await world.rig.receive('later')
  await world.clock.advance(800)

  expect(textsOf(second.events)).toEqual(['later'])
})

test('a note of another ledger proves nothing', async () => {
  await using world = await startWorld()
  const unsettled = [{ message: messageOf(world.rig, 'hello'), note: 'AN-OTHER-LEDGER' }]

  const second = await world.again({ unsettled })

  expect(settledOf(second.events)).toEqual([])
})

test('a message that was carried twice is seen twice in the ledger', async () => {
  await using world = await startWorld()

  await carry(world.rig, world.line, 'hello')
  await carry(world.rig, world.line, 'hello')

  expect(world.rig.carried('hello')).toBe(2)
})

test('a new ledger is read from its beginning', async () => {
  await using world = await startWorld()
  for (const text of ['one', 'two', 'three']) await world.rig.receive(text)
  await world.clock.advance(800)
  const checkpoint = world.line.checkpoint()
  await world.line.end()

  for (const end of ['', '-wal', '-shm']) rmSync(`${world.rig.ledgerPath}${end}`, { force: true })
  const second = await world.again({ checkpoint })
  await world.rig.receive('four')
  await world.clock.advance(800)

  const published = messagesOf(second.events).map(({ text, isHistory }) => ({ text, isHistory }))
  expect(published).toEqual([{ text: 'four', isHistory: false }])
})

test('a ledger that cannot be written carries nothing, and says so', async () => {
  await using world = await startWorld()
  world.changeLedger(FULL)

  const outcome = await world.send(PERSON)
  const refused = await world.line.send('withdrawn', async () => false)

  expect(outcome).toEqual(FAILED)
  expect(refused).toEqual(WITHDRAWN)
  expect(world.rig.carried('hello')).toBe(0)
})

test('whom a line could not write to first, and could later, is known to it', async () => {
  await using world = await startWorld()
  world.changeLedger(FULL)
  await world.send(PERSON)
  world.changeLedger('DROP TRIGGER full')
  await world.send(PERSON)
  await world.send(PERSON)

  const second = await world.again()

  expect(await second.session().knows(deviceHandle(PERSON))).toBe(true)
})

test('messages that leave in one turn are carried together, or none of them', async () => {
  await using world = await startWorld()
  world.changeLedger(`CREATE TRIGGER full BEFORE INSERT ON carried
    WHEN new.recipient = '+15550001235' BEGIN SELECT raise(ABORT, 'full'); END`)

  const outcomes = await Promise.all([world.send(PERSON), world.send('+15550001235')])

  expect(outcomes).toEqual([FAILED, FAILED])
  expect(world.rig.carried('hello')).toBe(0)
})

test('a line that is reporting already reports no receipt before its outcome was stored', async () => {
  await using world = await startWorld(0)
  const { line } = world
  line.hold()
  await world.send(PERSON, { text: 'first' })
  await world.clock.advance(0)
  const pass = Promise.withResolvers<boolean>()
  const sending = world.send('+15550001111', { text: 'second', ask: () => pass.promise })
  const early = sending.then(async (outcome) => {
    for (let hands = 0; hands < 20; hands += 1) await Promise.resolve()
    return receiptsOf(line.events).filter(({ guid }) => guid === guidOf(outcome))
  })

  pass.resolve(true)
  line.letGo()

  expect(await early).toEqual([])
  await world.clock.advance(0)
  expect(receiptsOf(line.events).map(({ guid }) => guid)).toContain(guidOf(await sending) ?? '')
})

test('what happens while a checkpoint is written is reported, but for the next checkpoint', async () => {
  await using world = await startWorld(0)
  const { line } = world
  const sendBoth = async (text: string) => {
    await Promise.all(['4', '5'].map((end) => world.send(`+1555000123${end}`, { text })))
    await world.clock.advance(0)
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
  await world.clock.advance(0)

  expect(meanwhile).toEqual({ receipts: 4, checkpoints: before.checkpoints + 1 })
  expect(published()).toEqual({ receipts: 4, checkpoints: before.checkpoints + 2 })
})

test('after 30 days the ledger forgets what was reported, and keeps what was not', async () => {
  await using world = await startWorld()
  const second = await world.neighbor()
  const checkpoint = second.checkpoint()
  second.refuse(() => true)
  await world.send('+12025550102', { text: 'still there?' })

  await world.clock.advance(31 * DAY_MS)
  await world.send('+15550000190')
  await world.clock.advance(DAY_MS)

  expect([world.rig.carried('still there?'), world.eventCount()]).toEqual([0, 1])
  expect(textsOf((await world.neighbor({ checkpoint })).events)).toEqual(['still there?'])
})

test('what was forgotten is not given its position again, by a new start neither; the newest message stays', async () => {
  await using world = await startWorld()
  await world.send(PERSON)
  await world.clock.advance(31 * DAY_MS)
  const [left, kept] = [world.eventCount(), world.rig.carried('hello')]

  const second = await world.again({ checkpoint: world.line.checkpoint() })
  await world.rig.receive('new')
  await world.clock.advance(800)

  expect([left, kept]).toEqual([0, 1])
  expect(textsOf(second.events)).toEqual(['new'])
})
