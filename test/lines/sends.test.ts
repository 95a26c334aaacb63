// Whatever a driver does with a message, the supervisor's answer is truthful: what may have left is
// never called unsent, and one hand at a time holds a line.

import { expect, test } from 'bun:test'

import { WITHDRAWN, type SendOutcome } from '../../src/domain/driver.ts'
import {
  MisbehavingDriver,
  accept,
  answerWhenTold,
  neverAnswer,
  neverAsk,
  throwAfterGrant,
  throwAtOnce,
  throwBeforeAsking,
  throwWhileAsking,
  withdrawAfterGrant,
  type Send,
} from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { NO_LINE, messageOf, grant, peek, startRig } from './supervisor-rig.ts'

const FAILED: SendOutcome = { outcome: 'not_sent', reason: 'driver_error', blame: 'line' }
const UNKNOWN: SendOutcome = { outcome: 'unknown', reason: 'driver_error' }
const ENDED: SendOutcome = { outcome: 'unknown', reason: 'session_ended' }
const OFFLINE = { code: 'unplugged', hint: 'Plug it in.' }

async function outcomeOf(sending: Send): Promise<SendOutcome> {
  const driver = new MisbehavingDriver()
  driver.sending = sending
  const rig = await startRig([driver])
  const { outcome, isSessionOver } = await rig.send('hello')
  expect(isSessionOver).toBe(false)
  await rig.stop()
  return outcome
}

test('an accepted message is told with its guid', async () => {
  expect(await outcomeOf(accept)).toEqual({ outcome: 'accepted', guid: 'guid of hello' })
})

test('a driver that throws before its point of no return has sent nothing', async () => {
  expect(await outcomeOf(throwBeforeAsking)).toEqual(FAILED)
  expect(await outcomeOf(throwAtOnce)).toEqual(FAILED)
})

test('a driver that throws after its point of no return leaves it unknown', async () => {
  expect(await outcomeOf(throwAfterGrant)).toEqual(UNKNOWN)
})

test('a driver that withdraws what it was granted leaves it unknown', async () => {
  expect(await outcomeOf(withdrawAfterGrant)).toEqual(UNKNOWN)
})

test('a driver that throws while its question is open is answered no, and then told', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = throwWhileAsking
  const rig = await startRig([driver])
  const asked = Promise.withResolvers<boolean>()

  const answer = rig.send('hello', () => asked.promise)
  const before = await peek(answer)
  asked.resolve(true)

  expect(before).toBe('pending')
  expect(await answer).toEqual({ outcome: FAILED, isSessionOver: false })
  await rig.stop()
})

test('the point of no return is granted once, however often a driver asks', async () => {
  const driver = new MisbehavingDriver()
  const answers: boolean[] = []
  driver.sending = async (_message, pointOfNoReturn) => {
    answers.push(...(await Promise.all([pointOfNoReturn('a'), pointOfNoReturn('b')])))
    answers.push(await pointOfNoReturn('c'))
    return { outcome: 'accepted', guid: null }
  }
  const rig = await startRig([driver])
  const notes: (string | null)[] = []

  const { outcome } = await rig.send('hello', async (note) => {
    notes.push(note)
    return true
  })

  expect(answers).toEqual([true, false, false])
  expect(notes).toEqual(['a'])
  expect(outcome).toEqual({ outcome: 'accepted', guid: null })
  await rig.stop()
})

test('a point of no return that fails is told to the driver, and nothing is sent', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = async (_message, pointOfNoReturn) => {
    const isGranted = await pointOfNoReturn('note').catch(() => false)
    return isGranted ? { outcome: 'accepted', guid: null } : WITHDRAWN
  }
  const rig = await startRig([driver])

  const { outcome } = await rig.send('hello', () => Promise.reject(new Error('disk full')))

  expect(outcome).toEqual(WITHDRAWN)
  await rig.stop()
})

test('nothing passes its point of no return once the session is over', async () => {
  const driver = new MisbehavingDriver()
  const ready = Promise.withResolvers<void>()
  driver.sending = async (message, pointOfNoReturn, signal) => {
    await ready.promise
    return accept(message, pointOfNoReturn, signal)
  }
  const rig = await startRig([driver])
  let asked = 0
  const answer = rig.send('hello', async () => {
    asked += 1
    return true
  })

  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })
  ready.resolve()

  expect(await answer).toEqual({ outcome: WITHDRAWN, isSessionOver: true })
  expect(asked).toBe(0)
  await rig.stop()
})

test('a grant that comes after the session is over is none', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])
  const asked = Promise.withResolvers<boolean>()
  const answer = rig.send('hello', () => asked.promise)

  await driver.visit().listener.onEvent({ type: 'offline', reason: OFFLINE })
  asked.resolve(true)

  expect(await answer).toEqual({ outcome: WITHDRAWN, isSessionOver: true })
  await rig.stop()
})

test('an answer in the 90 seconds after the end of its session counts', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerWhenTold()
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
  const { send, answer } = answerWhenTold()
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
  const { send, answer } = answerWhenTold()
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
  const { send, answer } = answerWhenTold()
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
  const first = answerWhenTold()
  const second = answerWhenTold()
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
  const { send, answer } = answerWhenTold()
  driver.sending = send
  const rig = await startRig([driver])
  let isTold = false
  void rig.send('hello').then(() => {
    isTold = true
  })
  await settle()

  answer()
  for (let tick = 0; tick < 8; tick += 1) await Promise.resolve()

  expect(isTold).toBe(true)
  await rig.stop()
})

test('sends in flight are counted, and a line without a session has no capacity', async () => {
  const driver = new MisbehavingDriver()
  const { send, answer } = answerWhenTold()
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
