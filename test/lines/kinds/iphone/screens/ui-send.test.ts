// What a phone line answers to a send, for everything that the screen was seen to do with one; and that the
// button is touched once, whatever happens. Faults at random are in ui-send-faults.test.ts.

import { describe, expect, test } from 'bun:test'

import type { SendOutcome } from '../../../../../src/lines/driver.ts'
import { ACCEPTED, notSent, unknown } from '../../../../support/iphone/expected-sends.ts'
import { FRIEND, makeUiRig, messageTo, run } from '../../../../support/iphone/ui-rig.ts'
import type { CommandName } from '../../../../support/iphone/wda-routes.ts'

test('a message is typed, sent by one touch, and known by its bubble', async () => {
  const rig = makeUiRig()
  const notes: (string | null)[] = []
  const pass = async (note: string | null) => {
    notes.push(note)
    return true
  }

  const sent = await rig.send('hello', { pass })

  expect(sent).toEqual({ outcome: ACCEPTED, service: 'iMessage', trouble: null })
  expect(notes.map((note) => Object.keys(JSON.parse(note ?? '{}')))).toEqual([['at']])
  expect(rig.phone.touches).toBe(1)
  expect(rig.phone.sent(FRIEND, 'hello')).toHaveLength(1)
  // Three of them for the service of somebody new.
  expect(rig.clock.monotonic()).toBeLessThan(5_000)
})

test('the bubble is in the stored memory before the outcome is answered', async () => {
  const rig = makeUiRig()

  const { outcome } = await rig.send('hello')

  const stored = rig.restart().tools.memory.chat(FRIEND)
  expect(stored?.map(({ isReported }) => isReported)).toEqual([true])
  expect(outcome).toEqual({ outcome: 'accepted', guid: stored?.[0]?.guid ?? '' })
})

describe('the cable comes out', () => {
  const OUTCOMES: readonly (readonly [when: CommandName, outcome: SendOutcome])[] = [
    ['url', notSent('down')],
    ['value', notSent('down')],
    ['click', unknown('no_answer')],
  ]
  for (const [when, outcome] of OUTCOMES) {
    test(`at ${when}: ${outcome.outcome}`, async () => {
      const rig = makeUiRig()
      rig.commands.meddle = (name) => {
        if (name === when) rig.commands.isUnplugged = true
        return null
      }

      const sent = await rig.send('hello')

      expect(sent.outcome).toEqual(outcome)
      expect(rig.phone.touches).toBe(0)
    })
  }

  test('after the bubble was seen: sent', async () => {
    const rig = makeUiRig()
    rig.commands.meddle = (name) => {
      if (name === 'source' && rig.phone.touches > 0) void rig.clock.after(60, unplug)
      return null
    }
    const unplug = () => {
      rig.commands.isUnplugged = true
    }

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(ACCEPTED)
  })
})

for (const when of ['before', 'after'] as const) {
  for (const how of ['error', 'drop'] as const) {
    test(`a touch with an ${how} ${when} it is settled by the bubble alone`, async () => {
      const rig = makeUiRig()
      rig.commands.meddle = (name) => (name === 'click' ? { how, when } : null)

      const sent = await rig.send('hello')

      expect(sent.outcome).toEqual(when === 'after' ? ACCEPTED : notSent('not_touched'))
      expect(rig.phone.sent(FRIEND, 'hello')).toHaveLength(when === 'after' ? 1 : 0)
      expect(rig.commands.names.filter((name) => name === 'click')).toHaveLength(1)
      expect(rig.phone.chat(FRIEND).draft).toBe('')
    })
  }
}

test('a touch that takes half a minute is waited for no longer, and its bubble found later', async () => {
  const rig = makeUiRig()
  rig.commands.meddle = (name) => (name === 'click' ? { how: 'slow', ms: 80_000 } : null)

  const sent = await rig.send('hello')
  await rig.clock.advance(60_000)
  await rig.poll()

  expect(sent.outcome).toEqual(unknown('no_answer'))
  expect(rig.told.settled).toEqual([
    { messageId: messageTo(FRIEND, '', 'msg_1', 0).id, outcome: ACCEPTED },
  ])
  expect(rig.told.messages).toEqual([])
})

test('a failure mark blames the message', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['fails']

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(notSent('not_delivered', 'message'))
})

test('a button that does not react: the text is taken back, and only then was nothing sent', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['nothing']

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(notSent('not_touched'))
  expect(rig.phone.chat(FRIEND).draft).toBe('')
  expect(rig.clock.monotonic()).toBeGreaterThan(8_000)
})

test('a text that cannot be taken back leaves the outcome open', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['nothing']
  rig.phone.canClear = false

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(unknown('not_cleared'))
})

test('a bubble that takes five seconds is waited for', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['late_bubble']

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(ACCEPTED)
})

test('a bubble that takes longer leaves the outcome open, and settles it when it is seen', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['late_bubble']
  rig.phone.lateBubbleMs = 12_000

  const sent = await rig.send('hello')
  await rig.clock.advance(12_000)
  await rig.poll()

  expect(sent.outcome).toEqual(unknown('no_bubble'))
  expect(rig.told.settled.map(({ outcome }) => outcome)).toEqual([ACCEPTED])
  expect(rig.told.messages).toEqual([])
})

test('two sends at once go one after the other', async () => {
  const rig = makeUiRig()

  const both = Promise.all([rig.send('one', { id: 'msg_1' }), rig.send('two', { id: 'msg_2' })])
  const outcomes = await run(rig.clock, both)

  expect(outcomes.map(({ outcome }) => outcome)).toEqual([ACCEPTED, ACCEPTED])
  expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(rig.commands.overlaps).toBe(0)
})
