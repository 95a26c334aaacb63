// What the home page says in words: the state of the relay, lines, messages, and how many of them
// there were today.

import { expect, test } from 'bun:test'

import { kindName } from '../../src/dashboard/line-kinds.ts'
import { isReady, lineState } from '../../src/dashboard/line-words.ts'
import { stateSentence, whyNot } from '../../src/dashboard/message-words.ts'
import { message, phoneLine } from './samples.ts'

test('the state of the relay is told in one sentence, with how busy the day is once that is known', () => {
  const state = {
    tone: 'ok',
    title: '',
    lines: 'The line is ready',
    webhooks: 'no webhooks',
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

  expect(kinds.map((driver) => kindName(phoneLine({ driver })))).toEqual([
    'Messages on this Mac',
    'iPhone',
    'iPhone via Shortcuts',
    'Simulated: nothing leaves this machine',
  ])
})

test('why a message is not on its way is told, and nothing where there is nothing to tell', () => {
  const error = { code: 'not_on_imessage', message: 'The recipient is not on iMessage.' }

  const told = [
    message({ status: 'queued', queued_reason: 'line_offline' }),
    // Refused by its line, or proven unsent after a crash.
    message({ status: 'queued', queued_reason: 'retry' }),
    message({ status: 'failed', error }),
    message({ status: 'uncertain' }),
    message({ status: 'delivered' }),
  ].map(whyNot)

  expect(told).toEqual([
    'The line is offline. It will be sent once the line is back.',
    "The last attempt didn't send anything. It will be retried automatically.",
    'The recipient is not on iMessage.',
    "We handed this to the device but couldn't confirm it was sent.",
    null,
  ])
})
