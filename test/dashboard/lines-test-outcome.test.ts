import { expect, test } from 'bun:test'

import { testOutcome } from '../../src/dashboard/line-words.ts'
import { message, phoneLine } from './samples.ts'

const LINE = phoneLine()

test('a text with the code from another number has arrived', () => {
  const other = message({ id: 'msg_2', text: 'Hello' })
  const wanted = message({ text: 'Hookline test 482913 ' })

  expect(testOutcome([other, wanted], LINE, '482913')).toEqual({
    outcome: 'arrived',
    message: wanted,
  })
})

test('without the code nothing has come', () => {
  const messages = [message({ text: 'Hookline test 111111' })]

  expect(testOutcome(messages, LINE, '482913')).toEqual({ outcome: 'waiting' })
})

test('what the relay itself sends with the code is not the answer', () => {
  const sent = message({ direction: 'outbound', source: 'dashboard', text: '482913' })

  expect(testOutcome([sent], LINE, '482913')).toEqual({ outcome: 'waiting' })
})

test('a text from the own number, or typed on the device, says only that reading works', () => {
  const received = message({ handle: LINE.phone_number, text: '482913' })
  const typed = message({ direction: 'outbound', source: 'device', text: '482913' })

  expect(testOutcome([received], LINE, '482913')).toEqual({ outcome: 'own' })
  expect(testOutcome([typed], LINE, '482913')).toEqual({ outcome: 'own' })
})

test('a text from another number counts, also after one from the own number', () => {
  const own = message({ id: 'msg_2', handle: LINE.phone_number, text: '482913' })
  const wanted = message({ text: '482913' })

  expect(testOutcome([own, wanted], LINE, '482913')).toEqual({
    outcome: 'arrived',
    message: wanted,
  })
})
