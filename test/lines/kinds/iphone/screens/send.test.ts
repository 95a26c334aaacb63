// What a phone line answers to a send, for everything that the screen was seen to do with one; and that the
// button is touched once, whatever happens. Faults at random are in send-faults.test.ts.

import { describe, expect, test } from 'bun:test'

import type { SendOutcome } from '../../../../../src/lines/driver.ts'
import { node } from '../../../../support/iphone/messages-tree.ts'
import {
  ACCEPTED,
  FRIEND,
  makeUiRig,
  messageTo,
  notSent,
  OTHER,
  run,
  unknown,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'
import type { CommandName, Meddling } from '../../../../support/iphone/wda-commands.ts'

type Act = (rig: UiRig) => void

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
  // Three of them for the service of a new person.
  expect(rig.clock.monotonic()).toBeLessThan(5_000)
})

test('the bubble is in the stored memory before the outcome is answered', async () => {
  const rig = makeUiRig()

  const { outcome } = await rig.send('hello')

  const stored = rig.restart().reader.memory.chat(FRIEND)
  expect(stored?.map(({ isReported }) => isReported)).toEqual([true])
  expect(outcome).toEqual({ outcome: 'accepted', guid: stored?.[0]?.guid ?? '' })
})

const SMS = 'SMS'

const touching = (...touches: UiRig['phone']['nextTouches']): Act => {
  return ({ phone }) => {
    phone.nextTouches = touches
  }
}
const reaching = (first: 'iMessage' | 'SMS', settled = first, afterMs = 0): Act => {
  return ({ phone }) => void phone.reach.set(FRIEND, { first, settled, afterMs })
}
/** At every command of that name. */
const meddling = (name: CommandName, how: Meddling): Act => {
  return ({ commands }) => {
    commands.meddle = (other) => (other === name ? how : null)
  }
}
/** `act` happens when a command of that name arrives. */
const at = (name: CommandName, act: Act): Act => {
  return (rig) => {
    rig.commands.meddle = (other) => {
      if (other === name) act(rig)
      return null
    }
  }
}
const unplug: Act = ({ commands }) => {
  commands.isUnplugged = true
}
const alerted = (...buttons: readonly string[]): Act => {
  return ({ phone }) => {
    phone.alerts = [{ text: 'Software Update\nInstall now?', buttons: ['Install', ...buttons] }]
  }
}
const wrongChats = (count: number): Act => {
  return ({ phone }) => {
    phone.receive(OTHER, 'hi')
    phone.wrongChats = Array.from({ length: count }, () => OTHER)
  }
}
/** The same text was written before, and the chat shows it so late; the button does not react. */
const written = (agoMs: number, loadMs: number): Act => {
  return ({ phone }) => {
    phone.write(FRIEND, 'hello', agoMs)
    phone.loadMs = loadMs
    phone.nextTouches = ['nothing']
  }
}
const all = (...acts: readonly Act[]): Act => {
  return (rig) => {
    for (const act of acts) act(rig)
  }
}

/** How far a send has come: nothing was typed, the button was not touched, or it was. */
type Reached = 'nothing' | 'typed' | 'touched'
type Row = readonly [what: string, act: Act, outcome: SendOutcome, reached: Reached]

const NOT_ON_IMESSAGE = notSent('not_on_imessage', 'message')

const ROWS: readonly Row[] = [
  ['the cable comes out when the chat is opened', at('url', unplug), notSent('down'), 'nothing'],
  ['the cable comes out when the text is typed', at('value', unplug), notSent('down'), 'typed'],
  ['the cable comes out at the touch', at('click', unplug), unknown('no_answer'), 'typed'],
  [
    'the cable comes out after the bubble was seen',
    at('source', (rig) => {
      if (rig.phone.touches > 0) rig.clock.after(60, () => unplug(rig))
    }),
    ACCEPTED,
    'touched',
  ],
  [
    'the touch fails before it is done',
    meddling('click', { how: 'error', when: 'before' }),
    notSent('not_touched'),
    'typed',
  ],
  [
    'the connection breaks before the touch is done',
    meddling('click', { how: 'drop', when: 'before' }),
    notSent('not_touched'),
    'typed',
  ],
  [
    'the touch fails after it was done',
    meddling('click', { how: 'error', when: 'after' }),
    ACCEPTED,
    'touched',
  ],
  [
    'the connection breaks after the touch was done',
    meddling('click', { how: 'drop', when: 'after' }),
    ACCEPTED,
    'touched',
  ],
  [
    'the bubble has a failure mark',
    touching('fails'),
    notSent('not_delivered', 'message'),
    'touched',
  ],
  ['the button does not react', touching('nothing'), notSent('not_touched'), 'touched'],
  ['the bubble takes five seconds', touching('late_bubble'), ACCEPTED, 'touched'],
  ['an equal text is an hour old', written(3_600_000, 0), notSent('not_touched'), 'touched'],
  ['it shows late', written(3_600_000, 2_500), notSent('not_touched'), 'touched'],
  ['it shows very late', written(3_600_000, 7_000), notSent('not_touched'), 'touched'],
  ['an equal text is a minute old', written(60_000, 0), notSent('not_touched'), 'touched'],
  ['it shows late, too', written(60_000, 2_500), notSent('not_touched'), 'touched'],
  ['the recipient is not on iMessage', reaching(SMS), NOT_ON_IMESSAGE, 'nothing'],
  ['that is seen after two seconds', reaching('iMessage', SMS, 2_000), NOT_ON_IMESSAGE, 'nothing'],
  ['it is iMessage after two seconds', reaching(SMS, 'iMessage', 2_000), ACCEPTED, 'touched'],
  ['it changes while the text is typed', at('value', reaching(SMS)), NOT_ON_IMESSAGE, 'typed'],
  [
    'it is named in words that nobody knows',
    all(reaching(SMS), ({ phone }) => {
      phone.words = { iMessage: 'iMessage', SMS: 'Textnachricht' }
    }),
    notSent('ui_unknown'),
    'nothing',
  ],
  ['the wrong chat is opened twice', wrongChats(2), ACCEPTED, 'touched'],
  ['the wrong chat is opened again and again', wrongChats(3), notSent('wrong_chat'), 'nothing'],
  ['an alert can be put off', alerted('Later'), ACCEPTED, 'touched'],
  ['an alert can be refused', alerted('Not Now'), ACCEPTED, 'touched'],
  ['an alert offers to come again', alerted('Remind Me Later'), ACCEPTED, 'touched'],
  ['an alert can be closed', alerted('Close'), ACCEPTED, 'touched'],
  ['an alert wants an answer', alerted('OK'), notSent('alert'), 'nothing'],
  [
    'the phone is locked',
    ({ phone }) => {
      phone.isLocked = true
    },
    ACCEPTED,
    'touched',
  ],
  [
    'it is locked with a passcode, and its lock screen is none that is known',
    ({ phone }) => {
      Object.assign(phone, { isLocked: true, hasPasscode: true })
      phone.tree = () => node('Application', null)
    },
    notSent('locked'),
    'nothing',
  ],
  [
    'a draft stands in the composer',
    ({ phone }) => {
      phone.chat(FRIEND).draft = 'an old draft'
    },
    ACCEPTED,
    'touched',
  ],
  [
    'the bubbles of the chat cannot be stored',
    (rig) => {
      rig.phone.write(FRIEND, 'before', 60_000)
      rig.told.refuses = true
    },
    notSent('withdrawn'),
    'typed',
  ],
]

describe('a send where', () => {
  test.each(ROWS)('%s', async (_what, act, outcome, reached) => {
    const rig = makeUiRig()
    act(rig)
    const before = rig.phone.carried('hello')

    const sent = await rig.send('hello')
    const clicks = rig.commands.names.filter((name) => name === 'click').length
    rig.commands.isUnplugged = false
    rig.told.refuses = false
    // What the cable has left behind is taken back at the next look.
    if (outcome.outcome !== 'unknown') await rig.poll().catch(() => {})

    const hasBubble =
      outcome.outcome === 'accepted' || ('reason' in outcome && outcome.reason === 'not_delivered')
    expect(sent.outcome).toEqual(outcome)
    expect(clicks).toBeLessThanOrEqual(reached === 'nothing' ? 0 : 1)
    expect(rig.phone.touches).toBe(reached === 'touched' ? 1 : 0)
    expect(rig.commands.names.includes('value')).toBe(reached !== 'nothing')
    expect(rig.phone.carried('hello') - before).toBe(hasBubble ? 1 : 0)
    if (outcome.outcome !== 'unknown') expect(rig.phone.chat(FRIEND).draft).toBe('')
  })
})

test('a touch that takes half a minute is waited for no longer, and its bubble found later', async () => {
  const rig = makeUiRig()
  meddling('click', { how: 'slow', ms: 80_000 })(rig)

  const sent = await rig.send('hello')
  await rig.clock.advance(60_000)
  await rig.poll()

  expect(sent.outcome).toEqual(unknown('no_answer'))
  expect(rig.told.settled).toEqual([
    { messageId: messageTo(FRIEND, '', 'msg_1', 0).id, outcome: ACCEPTED },
  ])
  expect(rig.told.messages).toEqual([])
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

test('a text that cannot be taken back leaves the outcome open', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['nothing']
  rig.phone.canClear = false

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(unknown('not_cleared'))
})

test('a draft that cannot be cleared stops the send', async () => {
  const rig = makeUiRig()
  rig.phone.chat(FRIEND).draft = 'stubborn'
  rig.phone.canClear = false

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(notSent('composer_dirty'))
  expect(rig.phone.touches).toBe(0)
})

test('two sends at once go one after the other', async () => {
  const rig = makeUiRig()

  const both = Promise.all([rig.send('one', { id: 'msg_1' }), rig.send('two', { id: 'msg_2' })])
  const outcomes = await run(rig.clock, both)

  expect(outcomes.map(({ outcome }) => outcome)).toEqual([ACCEPTED, ACCEPTED])
  expect(rig.phone.chat(FRIEND).bubbles.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(rig.commands.overlaps).toBe(0)
})

test('the service of a person who was on iMessage is looked at twice', async () => {
  const rig = makeUiRig()
  await rig.send('before')
  await rig.clock.advance(60_000)
  reaching('iMessage', SMS, 500)(rig)
  rig.phone.back()
  const before = rig.commands.names.length

  const sent = await rig.send('hello')

  expect(sent.outcome).toEqual(NOT_ON_IMESSAGE)
  expect(rig.commands.names.slice(before)).not.toContain('value')
})

test('the service of the bubble is reported, whatever the composer said', async () => {
  const rig = makeUiRig()
  rig.phone.nextTouches = ['as_text']

  const sent = await rig.send('hello')

  const outcome = { ...ACCEPTED, service: 'SMS' }
  expect(sent).toEqual({ outcome, service: 'SMS', trouble: null })
})

/** A long text comes by the link, and so do lines: typed, their end might send the first one. */
const TEXTS: readonly (readonly [what: string, text: string, by: 'keyboard' | 'link'])[] = [
  ['emoji', '👩‍👩‍👧‍👦 🇩🇪 👋🏽', 'keyboard'],
  ['right-to-left letters', 'שלום עולם', 'keyboard'],
  ['the words of the placeholder', 'iMessage', 'keyboard'],
  ['the look of a label', 'Your iMessage, hi, 1:30 PM', 'keyboard'],
  ['commas, quotes and percent signs', '"100%", she said, & more', 'keyboard'],
  ['lines', 'one\ntwo\n\nthree', 'link'],
  // All of them mean something else in a link.
  ['lines and the signs of a link', 'a&body=b\n100% #a + b = c?\n%41 👋🏽', 'link'],
  ['512 letters', 'a'.repeat(512), 'link'],
  ['513 letters', 'a'.repeat(513), 'link'],
  ['257 Cyrillic letters', '\u0436'.repeat(257), 'keyboard'],
  ['171 Chinese characters', '\u5b57'.repeat(171), 'keyboard'],
  ['200 emoji', '😀'.repeat(200), 'link'],
  ['20,000 letters in words', 'words in a row, '.repeat(1_250), 'link'],
  ['two lines of 400 letters', `${'b'.repeat(400)}\n${'c'.repeat(400)}`, 'link'],
]

test.each(TEXTS)('a text with %s arrives as it is', async (_what, text, by) => {
  const rig = makeUiRig()

  const sent = await rig.send(text)

  expect(sent.outcome).toEqual(ACCEPTED)
  expect(rig.phone.chat(FRIEND).bubbles.map((bubble) => bubble.text)).toEqual([text])
  expect(rig.commands.names.includes('value')).toBe(by === 'keyboard')
})

test('a long text whose end reads otherwise is not sent', async () => {
  const rig = makeUiRig()
  rig.phone.typed = rig.phone.linked = (text) => `${text.slice(0, -1)}!`

  const sent = await rig.send('a'.repeat(600))

  expect(sent.outcome).toEqual(notSent('compose_mismatch', 'line'))
  expect(rig.commands.names).not.toContain('click')
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
