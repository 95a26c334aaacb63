// What the last four digits of a number mean. What every driver promises is in test/contract.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { createSimulatedDriver } from '../../../src/lines/kinds/simulated/kind.ts'
import { behaviourOf, numberOfLine } from '../../../src/lines/kinds/simulated/people.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { receiptsOf, settledOf } from '../../contract/line-rig.ts'
import { testHost } from '../../support/kind-host.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import { TestClock, settle } from '../../support/test-clock.ts'
import { startWorld } from './simulated-world.ts'

const DAY_MS = 86_400_000

test('lines have the numbers from +12025550101 on, and no ledger is made if no line runs', async () => {
  using folder = new ScratchFolder()
  const options = { lineCount: 3, delayMs: 0, ledgerPath: folder.file('simulated.db') }
  const driver = createSimulatedDriver(testHost({ clock: new TestClock() }), options)

  const found = await driver.discover(NEVER)

  expect(found).toEqual([
    { key: '1', number: '+12025550101' },
    { key: '2', number: '+12025550102' },
    { key: '3', number: '+12025550103' },
  ])
  expect(existsSync(options.ledgerPath)).toBe(false)
})

test('only numbers of persons have special digits', () => {
  const kinds = ['+15550000192', 'a0192@example.org', numberOfLine(92)].map(
    (to) => behaviourOf({ to, partCount: 1 }, 99).kind,
  )

  expect(kinds).toEqual(['not_on_imessage', 'carried', 'carried'])
})

const ACCEPTED = { outcome: 'accepted', guid: expect.any(String) }
const NOT_ON_IMESSAGE = { outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' }
const LINE_REFUSED = { outcome: 'not_sent', reason: 'line_refused', blame: 'line' }

type Person = readonly [to: string, outcome: object, receipts: readonly string[], asked: number]

const PEOPLE: readonly Person[] = [
  ['+15550001234', ACCEPTED, ['delivered +400', 'read +800'], 1],
  ['somebody@example.org', ACCEPTED, ['delivered +400', 'read +800'], 1],
  ['+15550000190', ACCEPTED, [], 1],
  ['+15550000191', ACCEPTED, ['delivered +400'], 1],
  ['+12025550102', ACCEPTED, ['delivered +400', 'read +800'], 1],
  ['+15550000192', NOT_ON_IMESSAGE, [], 0],
  ['+15550000193', LINE_REFUSED, [], 1],
]

for (const [to, outcome, receipts, asked] of PEOPLE) {
  test(`to ${to}: ${Object.values(outcome)[1]}, and then: ${receipts.join(', ') || 'nothing'}`, async () => {
    await using world = await startWorld()
    let questions = 0
    const ask = async () => {
      questions += 1
      return true
    }

    const sent = await world.send(to, { ask })
    await world.clock.advance(3_600_000)

    expect<object>(sent).toEqual(outcome)
    expect(world.timed()).toEqual(receipts)
    expect([questions, world.rig.carried('hello')]).toEqual([asked, outcome === ACCEPTED ? 1 : 0])
  })
}

test('without a delay, that it was read is all that is reported: it says that it was delivered', async () => {
  await using world = await startWorld(0)

  for (const to of ['+15550001234', '+15550000191']) await world.send(to)
  await world.clock.advance(1)

  expect(world.timed()).toEqual(['read +0', 'delivered +0'])
})

test('0194 is unknown, and stays so', async () => {
  await using world = await startWorld()
  const outcome = await world.send('+15550000194')

  const unsettled = [{ message: world.outgoing('+15550000194'), note: null }]
  const second = await world.again({ unsettled })
  await world.clock.advance(DAY_MS)

  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_answer' })
  expect([settledOf(second.events), receiptsOf(second.events)]).toEqual([[], []])
  expect(world.rig.carried('hello')).toBe(1)
})

test('0195 takes 30 seconds to accept', async () => {
  await using world = await startWorld()

  const sent = world.send('+15550000195').then(({ outcome }) => {
    return { outcome, afterMs: world.clock.now() - world.since }
  })
  await world.clock.advance(60_000)

  expect(await sent).toEqual({ outcome: 'accepted', afterMs: 30_000 })
  expect(world.timed()).toEqual(['sent +30000', 'delivered +30400', 'read +30800'])
})

test('0195 is held if nobody can wait, and its receipts settle it', async () => {
  await using world = await startWorld()
  const controller = new AbortController()

  const sent = world.send('+15550000195', { signal: controller.signal })
  await settle()
  controller.abort()
  const outcome = await sent
  const message = world.outgoing('+15550000195')
  const unsettled = [{ message, note: 'whatever' }]
  const second = await world.again({ checkpoint: world.line.checkpoint(), unsettled })
  await world.clock.advance(60_000)

  expect(outcome).toEqual({ outcome: 'held', guid: expect.any(String) })
  const settled = settledOf(second.events)
  expect(settled.map(({ messageId }) => messageId)).toEqual([message.id])
  expect(settled[0]?.outcome).toMatchObject(outcome)
  expect(receiptsOf(second.events).map(({ kind }) => kind)).toEqual(['sent', 'delivered', 'read'])
})

test('0197 goes through, and the line is offline for five seconds', async () => {
  await using world = await startWorld()
  const { line } = world
  const session = line.session()
  const kinds = () => line.events.map(({ type }) => type).filter((type) => type !== 'checkpoint')

  const outcome = await world.send('+15550000197')
  const atOnce = kinds()
  await world.clock.advance(4_999)
  const during = kinds()
  await world.clock.advance(1)

  expect(outcome.outcome).toBe('accepted')
  expect([atOnce, during]).toEqual([['online'], ['online', 'offline']])
  expect(kinds()).toEqual(['online', 'offline', 'online', 'receipt', 'receipt'])
  expect(line.session()).not.toBe(session)
})
