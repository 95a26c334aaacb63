// What the last four digits of a number mean. What every driver promises is in test/contract.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { createSimulatedDriver } from '../../../src/lines/kinds/simulated/kind.ts'
import { behaviourOf, numberOfLine } from '../../../src/lines/kinds/simulated/people.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { systemRandom } from '../../../src/system/random.ts'
import { messageOf, messagesOf, receiptsOf, settledOf, runLine } from '../../contract/line-rig.ts'
import { makeSimulatedRig } from '../../contract/simulated-rig.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'
import { TestClock, settle } from '../../support/test-clock.ts'
import { grant, sendTo, timed } from './simulated-sends.ts'

const DAY_MS = 86_400_000

test('lines have the numbers from +12025550101 on', async () => {
  const options = { lineCount: 3, delayMs: 0, ledgerPath: ':memory:' }
  const driver = createSimulatedDriver(options, { clock: new TestClock(), random: systemRandom })

  const found = await driver.discover(NEVER)

  expect(found).toEqual([
    { key: '1', number: '+12025550101' },
    { key: '2', number: '+12025550102' },
    { key: '3', number: '+12025550103' },
  ])
})

test('no ledger is made where no line is attended', async () => {
  using folder = new ScratchFolder()
  const simulatedLedgerPath = folder.file('simulated.db')
  const options = { lineCount: 0, delayMs: 0, ledgerPath: simulatedLedgerPath }
  const driver = createSimulatedDriver(options, { clock: new TestClock(), random: systemRandom })

  const found = await driver.discover(NEVER)

  expect([found, existsSync(simulatedLedgerPath)]).toEqual([[], false])
})

test('only numbers of persons have special digits', () => {
  const kinds = ['+15550000192', 'a0192@example.org', numberOfLine(92)].map(
    (to) => behaviourOf({ to, partCount: 1 }, 99).kind,
  )

  expect(kinds).toEqual(['not_on_imessage', 'carried', 'carried'])
})

const RECEIPTS: Readonly<Record<string, readonly string[]>> = {
  '+15550001234': ['delivered +400', 'read +800'],
  'somebody@example.org': ['delivered +400', 'read +800'],
  '+15550000190': [],
  '+15550000191': ['delivered +400'],
  '+12025550102': ['delivered +400', 'read +800'],
}

for (const [to, receipts] of Object.entries(RECEIPTS)) {
  test(`${to} takes a message, and then: ${receipts.join(', ') || 'nothing'}`, async () => {
    using rig = makeSimulatedRig()
    await using line = await runLine(rig, rig.driver)
    const since = rig.clock.now()

    const outcome = await sendTo(rig, line, to)
    await rig.clock.advance(3_600_000)

    expect(outcome.outcome).toBe('accepted')
    expect(timed(line, since)).toEqual(receipts)
  })
}

test('without a delay, that it was read is all that is told: it says that it was delivered', async () => {
  using rig = makeSimulatedRig(0)
  await using line = await runLine(rig, rig.driver)
  const since = rig.clock.now()

  for (const to of ['+15550001234', '+15550000191']) await sendTo(rig, line, to)
  await rig.clock.advance(1)

  expect(timed(line, since)).toEqual(['read +0', 'delivered +0'])
})

test('0192 is not on iMessage: the message is to blame, and nothing is asked or carried', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  let asked = 0

  const message = { ...messageOf(rig, 'hello'), to: deviceHandle('+15550000192') }
  const ask = async () => {
    asked += 1
    return true
  }
  const outcome = await line.session().send(message, ask, NEVER)

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  expect([asked, rig.carried('hello')]).toEqual([0, 0])
})

test('0193 is refused by the line, and nothing is carried', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)

  const outcome = await sendTo(rig, line, '+15550000193')

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'line_refused', blame: 'line' })
  expect(rig.carried('hello')).toBe(0)
})

test('0194 is unknown, and stays so', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  const outcome = await sendTo(rig, first, '+15550000194')
  await first.end()

  const message = { ...messageOf(rig, 'hello'), to: deviceHandle('+15550000194') }
  await using second = await runLine(rig, rig.restart(), { unsettled: [{ message, note: null }] })
  await rig.clock.advance(DAY_MS)

  expect(outcome).toEqual({ outcome: 'unknown', reason: 'no_answer' })
  expect([settledOf(second.events), receiptsOf(second.events)]).toEqual([[], []])
  expect(rig.carried('hello')).toBe(1)
})

test('0195 takes 30 seconds to accept', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const since = rig.clock.now()

  const sent = sendTo(rig, line, '+15550000195').then(({ outcome }) => {
    return { outcome, afterMs: rig.clock.now() - since }
  })
  await rig.clock.advance(60_000)

  expect(await sent).toEqual({ outcome: 'accepted', afterMs: 30_000 })
  expect(timed(line, since)).toEqual(['sent +30000', 'delivered +30400', 'read +30800'])
})

test('0195 is held where nobody can wait, and its receipts settle it', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  const controller = new AbortController()
  const message = { ...messageOf(rig, 'hello'), to: deviceHandle('+15550000195') }

  const sent = first.session().send(message, grant, controller.signal)
  await settle()
  controller.abort()
  const outcome = await sent
  const checkpoint = first.checkpoint()
  await first.end()
  const unsettled = [{ message, note: 'whatever' }]
  await using second = await runLine(rig, rig.restart(), { checkpoint, unsettled })
  await rig.clock.advance(60_000)

  expect(outcome).toEqual({ outcome: 'held', guid: expect.any(String) })
  const settled = settledOf(second.events)
  expect(settled.map(({ messageId }) => messageId)).toEqual([message.id])
  expect(settled[0]?.outcome).toMatchObject(outcome)
  expect(receiptsOf(second.events).map(({ kind }) => kind)).toEqual(['sent', 'delivered', 'read'])
})

test('0196 answers with the same text', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)

  await sendTo(rig, line, '+15550000196', 'anybody there?')
  await rig.clock.advance(800)

  const published = messagesOf(line.events).map(({ handle, text }) => ({ handle, text }))
  expect(published).toEqual([{ handle: deviceHandle('+15550000196'), text: 'anybody there?' }])
})

test('0197 goes through, and the line is offline for five seconds', async () => {
  using rig = makeSimulatedRig()
  await using line = await runLine(rig, rig.driver)
  const session = line.session()
  const kinds = () => line.events.map(({ type }) => type).filter((type) => type !== 'checkpoint')

  const outcome = await sendTo(rig, line, '+15550000197')
  const atOnce = kinds()
  await rig.clock.advance(4_999)
  const during = kinds()
  await rig.clock.advance(1)

  expect(outcome.outcome).toBe('accepted')
  expect([atOnce, during]).toEqual([['online'], ['online', 'offline']])
  expect(kinds()).toEqual(['online', 'offline', 'online', 'receipt', 'receipt'])
  expect(line.session()).not.toBe(session)
})

test('a message to another simulated line arrives there', async () => {
  using rig = makeSimulatedRig()
  await using first = await runLine(rig, rig.driver)
  await using second = await runLine(rig, rig.driver, { key: '2', number: '+12025550102' })

  await sendTo(rig, first, '+12025550102', 'hello neighbour')
  await rig.clock.advance(400)

  const [published] = messagesOf(second.events)
  expect([published?.handle, published?.text]).toEqual([
    deviceHandle('+12025550101'),
    'hello neighbour',
  ])
  expect(messagesOf(first.events)).toEqual([])
})
