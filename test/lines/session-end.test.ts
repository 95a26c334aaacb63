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
import { NO_LINE, grant, messageOf, peek, startRig } from './supervisor-rig.ts'

const ENDED: SendOutcome = { outcome: 'unknown', reason: 'session_ended' }
const OFFLINE = { code: 'unplugged', hint: 'Plug it in.' }

test('an answer in the 90 seconds after the end of its session counts', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()

  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })
  await rig.clock.advance(89_000)
  answer()

  const outcome = { outcome: 'accepted', guid: 'guid of hello' } as const
  expect(await sent).toEqual({ outcome, isSessionOver: true })
  await rig.stop()
})

test('a send that has not returned 90 seconds after its session is unknown', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()
  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })

  await rig.clock.advance(89_999)
  const before = await peek(sent)
  await rig.clock.advance(1)
  const after = await sent
  answer()
  await settle()

  expect(before).toBe('pending')
  expect(after).toEqual({ outcome: ENDED, isSessionOver: true })
  await rig.stop()
})

test('a line is attended again only after every send of the session before has returned', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const crash = Promise.withResolvers<void>()
  driver.attending = async (visit) => {
    await Promise.race([driver.stayOnline(visit), crash.promise])
    if (driver.visits.length === 1) throw new Error('unplugged')
    await driver.stayOnline(visit)
  }
  const rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()

  crash.resolve()
  await rig.clock.advance(30_000)
  const visitsBefore = driver.visits.length
  answer()
  await sent
  await rig.clock.advance(2_000)

  expect([visitsBefore, driver.visits.length]).toEqual([1, 2])
  await rig.stop()
})

test('a new session takes nothing while an old one has a send in hand', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const { listener, line } = driver.visit()
  const sent = rig.send('one')
  await settle()

  await listener.onEvent({ type: 'offline', reason: OFFLINE })
  await listener.onEvent(driver.online(line.number))
  const during = { reason: rig.reason(), second: (await rig.send('two')).outcome }
  answer()
  await sent
  await settle()

  expect(during).toEqual({ reason: 'starting', second: WITHDRAWN })
  expect(rig.reason()).toBeNull()
  await rig.stop()
})

test('two answers reach the caller in the order in which the driver gave them', async () => {
  const driver = new MisbehavingDriver()
  const first = answerOnDemand()
  const second = answerOnDemand()
  driver.sending = (message, ...order) =>
    message.text === 'one' ? first.send(message, ...order) : second.send(message, ...order)
  const rig = await startRig([driver])
  const told: string[] = []
  const sends = ['one', 'two'].map((text) => rig.send(text).then(() => told.push(text)))
  await settle()

  second.answer()
  first.answer()
  await Promise.all(sends)

  expect(told).toEqual(['two', 'one'])
  await rig.stop()
})

test('an answer is told in the turn in which the driver gives it', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const told: string[] = []
  const sent = rig.send('hello').then(({ outcome }) => told.push(outcome.outcome))
  await settle()

  answer()
  for (let tick = 0; tick < 8; tick += 1) await Promise.resolve()

  expect(told).toEqual(['accepted'])
  await sent
  await rig.stop()
})

test('sends in flight are counted, and a line without a session has no capacity', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerOnDemand()
  driver.sending = send
  const rig = await startRig([driver])
  const counts = () => [rig.line().inFlight, rig.line().capacity]
  const idle = counts()

  const sent = rig.send('hello')
  const busy = counts()
  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })
  const ending = counts()
  answer()
  await sent

  expect([idle, busy, ending, counts()]).toEqual([
    [0, 2],
    [1, 2],
    [1, 0],
    [0, 0],
  ])
  await rig.stop()
})

test('a message for a line that is not there is withdrawn', async () => {
  const rig = await startRig([new MisbehavingDriver()])

  const answer = await rig.supervisor.send(NO_LINE, messageOf('hello'), grant)

  expect(answer).toEqual({ outcome: WITHDRAWN, isSessionOver: true })
  await rig.stop()
})

test('a stop waits 60 seconds for sends past their point of no return', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = neverAnswer
  const rig = await startRig([driver])
  const sent = rig.send('hello')
  await settle()

  const stopped = rig.stop()
  await rig.clock.advance(59_999)
  const before = await peek(stopped.then(() => 'stopped' as const))
  await rig.clock.advance(1)
  await stopped

  expect(before).toBe('pending')
  expect(await sent).toEqual({ outcome: ENDED, isSessionOver: true })
})

test('a stop waits 10 seconds for a driver that has nothing past its point of no return', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = neverAsk
  const rig = await startRig([driver])
  const sent = rig.send('hello')

  const stopped = rig.stop()
  await rig.clock.advance(10_000)
  await stopped

  expect(await sent).toEqual({ outcome: WITHDRAWN, isSessionOver: true })
})

test('a device is asked whom it knows for 100 milliseconds', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])
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
  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })
  const offline = await knows()

  expect([inTime, failed, await hanging, offline]).toEqual([true, null, null, null])
  await rig.stop()
})
