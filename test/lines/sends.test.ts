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
import { peek, startRig, WENT_OFFLINE } from './supervisor-rig.ts'

const FAILED: SendOutcome = { outcome: 'not_sent', reason: 'driver_error', blame: 'line' }
const UNKNOWN: SendOutcome = { outcome: 'unknown', reason: 'driver_error' }

const postponeAfterGrant: Send = async (_message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  return { outcome: 'postponed', reason: 'pacing', delayMs: 1_000 }
}

const OUTCOMES: readonly (readonly [what: string, sending: Send, outcome: SendOutcome])[] = [
  ['accepts is told with its guid', accept, { outcome: 'accepted', guid: 'guid of hello' }],
  ['throws before its point of no return has sent nothing', throwBeforeAsking, FAILED],
  ['throws without a promise has sent nothing', throwAtOnce, FAILED],
  ['throws after its point of no return leaves it unknown', throwAfterGrant, UNKNOWN],
  ['withdraws what it was granted leaves it unknown', withdrawAfterGrant, UNKNOWN],
  ['postpones what it was granted leaves it unknown', postponeAfterGrant, UNKNOWN],
]

for (const [what, sending, outcome] of OUTCOMES) {
  test(`a driver that ${what}`, async () => {
    const driver = new MisbehavingDriver()
    driver.sending = sending
    await using rig = await startRig([driver])

    expect(await rig.send('hello')).toEqual({ outcome, isSessionOver: false })
  })
}

test('a driver that throws while its question is open is answered no, and then reported as failed', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = throwWhileAsking
  await using rig = await startRig([driver])
  const asked = Promise.withResolvers<boolean>()

  const answer = rig.send('hello', () => asked.promise)
  const before = await peek(answer)
  asked.resolve(true)

  expect(before).toBe('pending')
  expect(await answer).toEqual({ outcome: FAILED, isSessionOver: false })
})

test('the point of no return is granted once, however often a driver asks', async () => {
  const driver = new MisbehavingDriver()
  const answers: boolean[] = []
  driver.sending = async (_message, pointOfNoReturn) => {
    answers.push(...(await Promise.all([pointOfNoReturn('a'), pointOfNoReturn('b')])))
    answers.push(await pointOfNoReturn('c'))
    return { outcome: 'accepted', guid: null }
  }
  await using rig = await startRig([driver])
  const notes: (string | null)[] = []

  const { outcome } = await rig.send('hello', async (note) => {
    notes.push(note)
    return true
  })

  expect(answers).toEqual([true, false, false])
  expect(notes).toEqual(['a'])
  expect(outcome).toEqual({ outcome: 'accepted', guid: null })
})

test('a point of no return that fails is reported to the driver, and nothing is sent', async () => {
  const driver = new MisbehavingDriver()
  driver.sending = async (_message, pointOfNoReturn) => {
    const isGranted = await pointOfNoReturn('note').catch(() => false)
    return isGranted ? { outcome: 'accepted', guid: null } : WITHDRAWN
  }
  await using rig = await startRig([driver])

  const { outcome } = await rig.send('hello', () => Promise.reject(new Error('disk full')))

  expect(outcome).toEqual(WITHDRAWN)
})

test('nothing passes its point of no return once the session is over', async () => {
  const driver = new MisbehavingDriver()
  const ready = Promise.withResolvers<void>()
  driver.sending = async (message, ...order) => {
    if (message.text === 'asks late') await ready.promise
    return accept(message, ...order)
  }
  await using rig = await startRig([driver])
  const granted = Promise.withResolvers<boolean>()
  const asked: string[] = []
  const answers = ['asks late', 'is granted late'].map((text) =>
    rig.send(text, () => {
      asked.push(text)
      return granted.promise
    }),
  )

  await driver.visit().listener.onEvent(WENT_OFFLINE)
  ready.resolve()
  granted.resolve(true)

  const withdrawn = { outcome: WITHDRAWN, isSessionOver: true }
  expect(await Promise.all(answers)).toEqual([withdrawn, withdrawn])
  expect(asked).toEqual(['is granted late'])
})
