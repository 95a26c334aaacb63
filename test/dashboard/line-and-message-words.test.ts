// Words for the state of the relay, its lines and its messages.

import { expect, test } from 'bun:test'

import { isReady, kindName, lineState, testOutcome } from '../../src/dashboard/words/line-states.ts'
import { stateSentence, whyNot } from '../../src/dashboard/words/message-states.ts'
import { KINDS, message, phoneLine } from './samples.ts'

test("the state of the relay is one sentence, with the day's messages once they are known", () => {
  const state = {
    tone: 'ok',
    title: '',
    lines: 'The line is ready',
    webhooks: 'no webhooks',
    snoozed: [],
  } as const
  const day = { date: '2026-11-21', sent: 0, received: 0, failed: 3, uncertain: 0, lines: [] }
  const days = [null, day, { ...day, sent: 1 }, { ...day, sent: 10_000, received: 2, uncertain: 1 }]

  const sentences = days.map((today) => stateSentence({ ...state, findings: [] }, today))

  expect(sentences).toEqual([
    'The line is ready, no webhooks.',
    'The line is ready, no messages today, no webhooks.',
    'The line is ready, 1 message today, no webhooks.',
    'The line is ready, 10,003 messages today, no webhooks.',
  ])
})

test('a line says in a word whether a message could go out by it', () => {
  const lines = [
    phoneLine(),
    phoneLine({ status: 'offline' }),
    phoneLine({ is_enabled: false }),
    phoneLine({ imessage_active: false }),
    phoneLine({ new_contacts_today: 50 }),
    phoneLine({ new_contacts_today: 3, daily_contact_limit: 0 }),
  ]

  expect(lines.map((line) => lineState(line).text)).toEqual([
    'Online',
    'Offline',
    'Paused',
    'No iMessage',
    'Online, limit reached',
    'Online',
  ])
  expect(lines.map(isReady)).toEqual([true, false, false, false, true, true])
})

test('every kind of line has words', () => {
  const kinds = ['mac', 'iphone', 'shortcuts', 'simulated']

  expect(kinds.map((driver) => kindName(phoneLine({ driver }), KINDS))).toEqual([
    'Messages on this Mac',
    'iPhone',
    'iPhone via Shortcuts',
    'Simulated: nothing leaves this machine',
  ])
})

test('a message that is not on its way has a reason, and no other has one', () => {
  const error = { code: 'not_on_imessage', message: 'The recipient is not on iMessage.' }

  const reasons = [
    message({ status: 'queued', queued_reason: 'line_offline' }),
    // Refused by its line, or proven unsent after a crash.
    message({ status: 'queued', queued_reason: 'retry' }),
    message({ status: 'failed', error }),
    message({ status: 'uncertain' }),
    message({ status: 'delivered' }),
  ].map(whyNot)

  expect(reasons).toEqual([
    'The line is offline. It will be sent once the line is back.',
    "The last attempt didn't send anything. It will be retried automatically.",
    'The recipient is not on iMessage.',
    "We handed this to the device but couldn't confirm it was sent.",
    null,
  ])
})

const LINE = phoneLine()

const CODE = '482913'
const wanted = message({ text: 'Hookline test 482913 ' })
const own = message({ id: 'msg_2', handle: LINE.phone_number, text: CODE })
const OUTCOMES = [
  ['a text with the code', [message({ text: 'Hello' }), wanted], 'arrived'],
  ['a text with the code, also after one from the own number', [own, wanted], 'arrived'],
  ['a text with another code', [message({ text: 'Hookline test 111111' })], 'waiting'],
  [
    'what the relay itself sends',
    [message({ direction: 'outbound', source: 'dashboard', text: CODE })],
    'waiting',
  ],
  ['a text from the own number', [own], 'own'],
  [
    'a text typed on the device',
    [message({ direction: 'outbound', source: 'device', text: CODE })],
    'own',
  ],
] as const

for (const [what, messages, outcome] of OUTCOMES) {
  test(`the test of a line is ${outcome} by ${what}`, () => {
    const expected = outcome === 'arrived' ? { outcome, message: wanted } : { outcome }

    expect(testOutcome(messages, LINE, CODE)).toEqual(expected)
  })
}
