import { expect, test } from 'bun:test'

import {
  NO_CONTACT,
  limitLevel,
  placeOf,
  stepContact,
  type LimitLevel,
} from '../../src/domain/contact-limit.ts'

test('one contact takes one place, which is spent on the day on which its message passes, or comes back', () => {
  const one = stepContact(NO_CONTACT, 'reserve', 10)
  const two = stepContact(one, 'reserve', 10)
  const spent = stepContact(one, 'spend', 11)

  expect([NO_CONTACT, one, two].map(placeOf)).toEqual(['none', 'reserved', 'reserved'])
  expect(placeOf(stepContact(two, 'release', 10))).toBe('reserved')
  expect(placeOf(spent)).toBe(11)
  // Proven not sent.
  expect(placeOf(stepContact(spent, 'return', 11))).toBe('none')
  expect(placeOf(stepContact(spent, 'requeue', 11))).toBe('reserved')
})

test('a place stays spent while another message may have left, or once the contact is known', () => {
  const one = stepContact(stepContact(NO_CONTACT, 'reserve', 10), 'spend', 10)
  const two = stepContact(stepContact(one, 'reserve', 10), 'spend', 10)

  expect(placeOf(stepContact(two, 'return', 10))).toBe(10)
  expect(placeOf(stepContact({ ...one, knownAt: 1 }, 'return', 10))).toBe(10)
})

const LEVELS: readonly (readonly [number, number, before: LimitLevel, after: LimitLevel])[] = [
  [0, 0, 'room', 'room'],
  [3, 0, 'room', 'room'],
  [39, 50, 'room', 'room'],
  [40, 50, 'room', 'near'],
  [49, 50, 'room', 'near'],
  [50, 50, 'room', 'reached'],
  [7_185, 50, 'room', 'reached'],
  [1, 1, 'room', 'reached'],
  // One place given back is soon taken again.
  [49, 50, 'reached', 'reached'],
  [48, 50, 'reached', 'near'],
  [1, 2, 'reached', 'reached'],
  [0, 1, 'reached', 'room'],
  [35, 50, 'near', 'near'],
  [34, 50, 'near', 'room'],
  [34, 50, 'reached', 'room'],
]

test.each(LEVELS)('%d new contacts of %d, after "%s": %s', (used, limit, before, after) => {
  expect(limitLevel({ used, limit }, before)).toBe(after)
})
