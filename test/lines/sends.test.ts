// Whatever a driver does with a message, the supervisor's answer is truthful: what may have left is
// never called unsent.

import { expect, test } from 'bun:test'

import { WITHDRAWN, type SendOutcome } from '../../src/lines/driver.ts'
import {
  MisbehavingDriver,
  accept,
  throwAfterGrant,
  throwAtOnce,
  throwBeforeAsking,
  throwWhileAsking,
  withdrawAfterGrant,
  type Send,
} from '../support/misbehaving-driver.ts'
import { peek, startRig } from './supervisor-rig.ts'

const FAILED: SendOutcome = { outcome: 'not_sent', reason: 'driver_error', blame: 'line' }
const UNKNOWN: SendOutcome = { outcome: 'unknown', reason: 'driver_error' }
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

test('a driver that postpones what it was granted leaves it unknown', async () => {
  const postpone: Send = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return { outcome: 'postponed', reason: 'pacing', delayMs: 1_000 }
  }

  expect(await outcomeOf(postpone)).toEqual(UNKNOWN)
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
