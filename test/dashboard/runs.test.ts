// Bubbles that belong together, and the faces beside them.

import { expect, test } from 'bun:test'

import type { Message } from '../../src/api/messages.ts'
import { initials } from '../../src/dashboard/people.ts'
import { placesOf } from '../../src/dashboard/runs.ts'
import { message } from './samples.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds)).toISOString()
const sent = (seconds: number, more: Partial<Message> = {}): Message =>
  message({
    direction: 'outbound',
    status: 'read',
    source: 'api',
    created_at: at(seconds),
    ...more,
  })
const received = (seconds: number, more: Partial<Message> = {}) =>
  sent(seconds, { direction: 'inbound', status: 'received', source: 'device', ...more })

/** The runs as a text: `(` begins one, `)` ends one, and a dot is a time and state that is shown. */
function drawn(messages: readonly Message[], dayOf: (each: Message) => string = () => 'today') {
  return placesOf(messages, dayOf)
    .map(
      ({ isFirst, isLast, hasAbout }) =>
        `${isFirst ? '(' : ''}m${hasAbout ? '.' : ''}${isLast ? ')' : ''}`,
    )
    .join('')
}

test('messages of one sender within five minutes are one run, with one time and one state at its end', () => {
  expect(drawn([sent(0), sent(60), sent(300), received(301), received(302)])).toBe('(mmm.)(mm.)')
  expect(drawn([sent(0), sent(300)])).toBe('(m.)(m.)')
})

test('a state that the next message does not have stays shown', () => {
  expect(drawn([sent(0), sent(1, { status: 'delivered' })])).toBe('(m.m.)')
})

test('a run ends where another day, sender, author or service begins', () => {
  const anna = { handle: '+12025550147', name: 'Anna' }
  const ben = { handle: '+12025550148', name: 'Ben' }
  const lena = { sent_by: { id: 'mem_1', name: 'Lena' } } as const

  expect(drawn([sent(0), sent(1)], ({ created_at }) => created_at)).toBe('(m.)(m.)')
  expect(drawn([received(0, { sender: anna }), received(1, { sender: ben })])).toBe('(m.)(m.)')
  expect(drawn([sent(0, lena), sent(1)])).toBe('(m.)(m.)')
  expect(drawn([sent(0), sent(1, { service: 'SMS' })])).toBe('(m.)(m.)')
})

test('a message with something to do or to explain stands alone', () => {
  for (const status of ['failed', 'queued', 'uncertain', 'expired', 'sending'] as const) {
    expect([status, drawn([sent(0), sent(1, { status }), sent(2)])]).toEqual([
      status,
      '(m.)(m.)(m.)',
    ])
  }
})

test('a face has the first letters of the first and the last word that have letters', () => {
  const names = [
    'Maya Fischer',
    'Dr. Jean-Luc de la Tour',
    'zoë',
    '(Work) Ann',
    '李 小龍',
    'é'.normalize('NFD'),
  ]

  expect(names.map(initials)).toEqual(['MF', 'DT', 'Z', 'WA', '李小', 'É'.normalize('NFD')])
  expect(['', '+1 202', '🚲', '007'].map(initials)).toEqual([null, null, null, null])
})
