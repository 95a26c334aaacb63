// What a phone line answers to a send, for everything that the screen was seen to do with one; and that the
// button is touched once, whatever happens. Faults at random are in ui-send-faults.test.ts.

import { describe, expect, test } from 'bun:test'

import type { SendOutcome } from '../../../../../src/lines/driver.ts'
import {
  ACCEPTED,
  FRIEND,
  makeUiRig,
  messageTo,
  notSent,
  run,
  unknown,
} from '../../../../support/iphone/ui-rig.ts'
import type { CommandName } from '../../../../support/iphone/wda-commands.ts'

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

describe('the length', () => {
  const TEXTS = {
    '512 letters': 'a'.repeat(512),
    '513 letters': 'a'.repeat(513),
    '257 Cyrillic letters': '\u0436'.repeat(257),
    '171 Chinese characters': '\u5b57'.repeat(171),
    '200 emoji': '😀'.repeat(200),
    '20,000 letters in words': 'words in a row, '.repeat(1_250),
    'two lines of 400 letters': `${'b'.repeat(400)}\n${'c'.repeat(400)}`,
  }

  test.each(Object.entries(TEXTS))('of %s is no obstacle', async (_name, text) => {
    const rig = makeUiRig()

    const sent = await rig.send(text)

    expect(sent.outcome).toEqual(ACCEPTED)
    expect(rig.phone.chat(FRIEND).bubbles.map((bubble) => bubble.text)).toEqual([text])
  })

  test('of a text whose end reads otherwise is: nothing is touched', async () => {
    const rig = makeUiRig()
    rig.phone.typed = (text) => `${text.slice(0, -1)}!`
    rig.phone.linked = (text) => `${text.slice(0, -1)}!`

    const sent = await rig.send('a'.repeat(600))

    expect(sent.outcome).toEqual(notSent('compose_mismatch', 'line'))
    expect(rig.commands.names).not.toContain('click')
  })
})

describe('the service', () => {
  test('of somebody who is not on iMessage: nothing is typed', async () => {
    const rig = makeUiRig()
    rig.phone.reach.set(FRIEND, { first: 'SMS', settled: 'SMS', afterMs: 0 })

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(notSent('not_on_imessage', 'message'))
    expect(rig.commands.names).not.toContain('value')
  })

  test('in words that nobody knows says nothing of the recipient: nothing is typed', async () => {
    const rig = makeUiRig()
    rig.phone.words = { iMessage: 'iMessage', SMS: 'Textnachricht' }
    rig.phone.reach.set(FRIEND, { first: 'SMS', settled: 'SMS', afterMs: 0 })

    const sent = await rig.send('hello')

    expect(sent).toEqual({ outcome: notSent('ui_unknown'), service: null, trouble: 'ui_unknown' })
    expect(rig.commands.names).not.toContain('value')
  })

  test('that turns out to be iMessage after two seconds is waited for', async () => {
    const rig = makeUiRig()
    rig.phone.reach.set(FRIEND, { first: 'SMS', settled: 'iMessage', afterMs: 2_000 })

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(ACCEPTED)
  })

  test('that turns out to be a text message after two seconds is waited for as well', async () => {
    const rig = makeUiRig()
    rig.phone.reach.set(FRIEND, { first: 'iMessage', settled: 'SMS', afterMs: 2_000 })

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(notSent('not_on_imessage', 'message'))
    expect(rig.commands.names).not.toContain('value')
  })

  test('of somebody who was on iMessage is looked at twice', async () => {
    const rig = makeUiRig()
    await rig.send('before')
    await rig.clock.advance(60_000)
    rig.phone.reach.set(FRIEND, { first: 'iMessage', settled: 'SMS', afterMs: 500 })
    rig.phone.back()
    const before = rig.commands.names.length

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(notSent('not_on_imessage', 'message'))
    expect(rig.commands.names.slice(before)).not.toContain('value')
  })

  test('that changes while the text is typed: the text is taken back', async () => {
    const rig = makeUiRig()
    rig.commands.meddle = (name) => {
      if (name === 'value')
        rig.phone.reach.set(FRIEND, { first: 'SMS', settled: 'SMS', afterMs: 0 })
      return null
    }

    const sent = await rig.send('hello')

    expect(sent.outcome).toEqual(notSent('not_on_imessage', 'message'))
    expect(rig.phone.chat(FRIEND).draft).toBe('')
    expect(rig.phone.touches).toBe(0)
  })

  test('of the bubble is told, whatever the composer said', async () => {
    const rig = makeUiRig()
    rig.phone.nextTouches = ['as_text']

    const sent = await rig.send('hello')

    expect(sent).toEqual({ outcome: ACCEPTED, service: 'SMS', trouble: null })
  })
})

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['emoji', '👩‍👩‍👧‍👦 🇩🇪 👋🏽'],
  ['lines', 'one\ntwo\n\nthree'],
  ['right-to-left letters', 'שלום עולם'],
  ['2,000 characters', 'word '.repeat(400).trim()],
  ['the words of the placeholder', 'iMessage'],
  ['the look of a label', 'Your iMessage, hi, 1:30 PM'],
  ['commas, quotes and percent signs', '"100%", she said, & more'],
  // Lines come by the link, in which all of these mean something else.
  ['lines and the signs of a link', 'a&body=b\n100% #a + b = c?\n%41 👋🏽'],
]

for (const [what, text] of TEXTS) {
  test(`a text with ${what} arrives as it is`, async () => {
    const rig = makeUiRig()

    const sent = await rig.send(text)

    expect(sent.outcome).toEqual(ACCEPTED)
    expect(rig.phone.chat(FRIEND).bubbles.map((bubble) => bubble.text)).toEqual([text])
  })
}

test('the end of a line is never typed, because it might send the first line', async () => {
  const rig = makeUiRig()

  await rig.send('one\ntwo')

  expect(rig.commands.names).not.toContain('value')
})

test('a long text comes by the link, which takes no time to type', async () => {
  const rig = makeUiRig()

  await rig.send('word '.repeat(400).trim())

  expect(rig.commands.names).not.toContain('value')
})

test('a text that cannot be typed is refused before anything is touched', async () => {
  const rig = makeUiRig()

  const sent = await rig.send('a\u0007b')

  expect(sent.outcome).toEqual(notSent('unsupported_characters', 'message'))
  expect(rig.commands.names).toEqual([])
})

test('a keyboard that makes something else of the text is got around, or nothing is sent', async () => {
  const rig = makeUiRig()
  rig.phone.typed = (text) => text.replaceAll("'", '’')
  const around = await rig.send("it's")
  rig.commands.meddle = (name, ordinal) =>
    name === 'url' && rig.commands.requests[ordinal - 1]?.name !== 'alert_text'
      ? { how: 'error', when: 'before' }
      : null

  const stopped = await rig.send("that's")

  expect([around.outcome, stopped.outcome.outcome]).toEqual([ACCEPTED, 'not_sent'])
  expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(["it's"])
  expect(rig.phone.chat(FRIEND).draft).toBe('')
})
