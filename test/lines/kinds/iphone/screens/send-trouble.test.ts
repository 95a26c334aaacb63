// The point of no return, what an abort and a crash around it leave, and texts that are not ours although
// they read as if they were.

import { describe, expect, test } from 'bun:test'

import { expectationOf, noteText } from '../../../../../src/lines/kinds/iphone/screens/own-sends.ts'
import {
  ACCEPTED,
  FRIEND,
  makeUiRig,
  messageTo,
  notSent,
  unknown,
} from '../../../../support/iphone/ui-rig.ts'

const WITHDRAWN = notSent('withdrawn')

describe('the point of no return', () => {
  const REFUSALS = {
    'is not granted': async () => false,
    'cannot be asked': async () => {
      throw new Error('The disk is full.')
    },
  }
  for (const [what, pass] of Object.entries(REFUSALS)) {
    test(`that ${what}: nothing is touched, and the text is taken back`, async () => {
      const rig = makeUiRig()

      const sent = await rig.send('hello', { pass })

      expect(sent.outcome).toEqual(WITHDRAWN)
      expect(rig.phone.touches).toBe(0)
      expect(rig.phone.chat(FRIEND).draft).toBe('')
    })
  }

  test('an abort before it withdraws the send, and one behind it changes nothing', async () => {
    const rig = makeUiRig()
    const before = new AbortController()
    rig.commands.meddle = (name) => {
      if (name === 'value') before.abort()
      return null
    }
    const withdrawn = await rig.send('first', { signal: before.signal })
    rig.commands.meddle = () => null
    const behind = new AbortController()
    const pass = async () => {
      behind.abort()
      return true
    }

    const sent = await rig.send('second', { signal: behind.signal, pass })

    expect([withdrawn.outcome, sent.outcome]).toEqual([WITHDRAWN, ACCEPTED])
    expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['second'])
  })
})

test('a message that is in the chat at neither of two looks has failed, and one without a note stays open', async () => {
  const rig = makeUiRig()
  const lost = messageTo(FRIEND, 'lost', 'msg_1', rig.clock.now())
  const restored = messageTo(FRIEND, 'restored', 'msg_2', rig.clock.now())
  rig.reader.own.expect(expectationOf({ message: lost, note: noteText(rig.clock.now()) }))
  rig.reader.own.expect(expectationOf({ message: restored, note: null }))

  await rig.poll()
  const afterOne = [...rig.told.settled]
  await rig.clock.advance(15_000)
  await rig.poll()
  await rig.clock.advance(15_000)
  await rig.poll()

  expect(afterOne).toEqual([])
  expect(rig.told.settled).toEqual([
    { messageId: lost.id, outcome: notSent('unconfirmed', 'message') },
  ])
})

test('an equal text of just now is not what became of a touch that nobody saw', async () => {
  const rig = makeUiRig()
  rig.phone.write(FRIEND, 'hello', 60_000)
  rig.commands.meddle = (name) => {
    if (name === 'click') rig.commands.isUnplugged = true
    return null
  }
  const { outcome } = await rig.send('hello')
  rig.commands.isUnplugged = false

  await rig.poll()
  await rig.clock.advance(15_000)
  await rig.poll()

  expect(outcome).toEqual(unknown('no_answer'))
  expect(rig.told.settled.map((end) => end.outcome)).toEqual([notSent('unconfirmed', 'message')])
})

test('a message that stands in the place of an equal one, which was unsent in its minute, has not failed', async () => {
  const rig = makeUiRig()
  await rig.send('hello')
  rig.phone.chat(FRIEND).bubbles = []

  const { outcome } = await rig.send('hello', { id: 'msg_2' })
  for (let looks = 0; looks < 3; looks += 1) {
    await rig.poll()
    await rig.clock.advance(15_000)
  }

  expect(rig.phone.sent(FRIEND, 'hello')).toHaveLength(1)
  expect([outcome, rig.told.settled]).toEqual([unknown('no_bubble'), []])
})

test('an alert that comes while the text is typed stops the send; the text is taken back at the next look', async () => {
  const rig = makeUiRig()
  rig.commands.meddle = (name) => {
    const isTyped = name === 'source' && rig.phone.chat(FRIEND).draft !== ''
    if (isTyped) rig.phone.alerts = [{ text: 'No SIM', buttons: ['OK'] }]
    return null
  }

  const sent = await rig.send('hello')
  rig.commands.meddle = () => null
  rig.phone.alerts = []
  const left = rig.phone.chat(FRIEND).draft
  await rig.poll()

  expect([sent.outcome, left]).toEqual([notSent('alert'), 'hello'])
  expect(rig.phone.touches).toBe(0)
  expect(rig.phone.chat(FRIEND).draft).toBe('')
})
