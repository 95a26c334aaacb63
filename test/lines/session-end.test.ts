// Sends and the end of their session: how long they may go on, what holds the next session back, and
// in which order and turn answers come.

import { expect, test } from 'bun:test'

import { WITHDRAWN, type SendOutcome } from '../../src/lines/driver.ts'
import {
  MisbehavingDriver,
  answerOnDemand,
  neverAnswer,
  neverAsk,
} from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { NO_LINE, grant, messageOf, peek, startRig, WENT_OFFLINE } from './supervisor-rig.ts'

const ENDED: SendOutcome = { outcome: 'unknown', reason: 'session_ended' }

/** A line whose sends are answered when the test says so, the first of which is in hand. */
async function startSend() {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()
  const goOffline = () => driver.visit().listener.onEvent(WENT_OFFLINE)
  const stop = () => rig[Symbol.asyncDispose]()
  return { driver, rig, sent, answer, goOffline, [Symbol.asyncDispose]: stop }
}

test('an answer in the 90 seconds after the end of its session counts', async () => {
  await using line = await startSend()

  await line.goOffline()
  await line.rig.clock.advance(89_000)
  line.answer()

  const outcome = { outcome: 'accepted', guid: 'guid of hello' } as const
  expect(await line.sent).toEqual({ outcome, isSessionOver: true })
})

test('a send that has not returned 90 seconds after its session is unknown', async () => {
  await using line = await startSend()
  await line.goOffline()

  await line.rig.clock.advance(89_999)
  const before = await peek(line.sent)
  await line.rig.clock.advance(1)
  const after = await line.sent
  line.answer()
  await settle()

  expect(before).toBe('pending')
  expect(after).toEqual({ outcome: ENDED, isSessionOver: true })
})

test('a line is run again only after every send of the session before has returned', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const crash = Promise.withResolvers<void>()
  driver.attending = async (visit) => {
    await Promise.race([driver.stayOnline(visit), crash.promise])
    if (driver.visits.length === 1) throw new Error('unplugged')
    await driver.stayOnline(visit)
  }
  await using rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()

  crash.resolve()
  await rig.clock.advance(30_000)
  const visitsBefore = driver.visits.length
  answer()
  await sent
  await rig.clock.advance(2_000)

  expect([visitsBefore, driver.visits.length]).toEqual([1, 2])
})

test('a new session takes nothing while an old one has a send in hand', async () => {
  await using line = await startSend()
  const { rig, driver } = line
  const { listener, line: attended } = driver.visit()

  await line.goOffline()
  await listener.onEvent(driver.online(attended.number))
  const during = { reason: rig.reason(), second: (await rig.send('two')).outcome }
  line.answer()
  await line.sent
  await settle()

  expect(during).toEqual({ reason: 'starting', second: WITHDRAWN })
  expect(rig.reason()).toBeNull()
})

test('two answers reach the caller in the order in which the driver gave them', async () => {
  const driver = new MisbehavingDriver()
  const first = answerOnDemand()
  const second = answerOnDemand()
  driver.sending = (message, ...order) =>
    message.text === 'one' ? first.send(message, ...order) : second.send(message, ...order)
  await using rig = await startRig([driver])
  const told: string[] = []
  const sends = ['one', 'two'].map((text) => rig.send(text).then(() => told.push(text)))
  await settle()

  second.answer()
  first.answer()
  await Promise.all(sends)

  expect(told).toEqual(['two', 'one'])
})

test('an answer is reported in the turn in which the driver gives it', async () => {
  await using line = await startSend()
  const told: string[] = []
  const sent = line.sent.then(({ outcome }) => told.push(outcome.outcome))

  line.answer()
  for (let tick = 0; tick < 8; tick += 1) await Promise.resolve()

  expect(told).toEqual(['accepted'])
  await sent
})

test('sends in flight are counted, and a line without a session has no capacity', async () => {
  await using line = await startSend()
  const counts = () => [line.rig.line().inFlight, line.rig.line().capacity]

  const busy = counts()
  await line.goOffline()
  const ending = counts()
  line.answer()
  await line.sent

  expect([busy, ending, counts()]).toEqual([
    [1, 2],
    [1, 0],
    [0, 0],
  ])
})

test('a message for a line that is not there is withdrawn', async () => {
  await using rig = await startRig([new MisbehavingDriver()])

  const answer = await rig.supervisor.send(NO_LINE, messageOf('hello'), grant)

  expect(answer).toEqual({ outcome: WITHDRAWN, isSessionOver: true })
})

const STOPS = [
  ['60 seconds for sends past their point of no return', neverAnswer, 60_000, ENDED],
  ['10 seconds for a driver that has nothing past it', neverAsk, 10_000, WITHDRAWN],
] as const

for (const [what, sending, ms, outcome] of STOPS) {
  test(`a stop waits ${what}`, async () => {
    const driver = new MisbehavingDriver()
    driver.sending = sending
    await using rig = await startRig([driver])
    const sent = rig.send('hello')
    await settle()

    const stopped = rig.stop()
    await rig.clock.advance(ms - 1)
    const before = await peek(stopped.then(() => 'stopped' as const))
    await rig.clock.advance(1)
    await stopped

    expect(before).toBe('pending')
    expect(await sent).toEqual({ outcome, isSessionOver: true })
  })
}

test('a device is asked whom it knows for 100 milliseconds', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line
  const { to } = messageOf('hello')
  const knows = () => rig.supervisor.knows(id, to)

  driver.knowing = async () => true
  const inTime = await knows()
  driver.knowing = () => Promise.reject(new Error('locked'))
  const failed = await knows()
  driver.knowing = () => new Promise(() => {})
  const hanging = knows()
  await rig.clock.advance(100)
  await driver.visit().listener.onEvent(WENT_OFFLINE)
  const offline = await knows()

  expect([inTime, failed, await hanging, offline]).toEqual([true, null, null, null])
})
