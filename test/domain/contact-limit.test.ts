import { expect, test } from 'bun:test'

import {
  NO_CONTACT,
  limitLevel,
  placeOf,
  stepContact,
  type LimitLevel,
} from '../../src/domain/contact-limit.ts'

test('one contact takes one place, however many messages wait for it', () => {
  const one = stepContact(NO_CONTACT, 'reserve', 10)
  const two = stepContact(one, 'reserve', 10)

  expect(placeOf(NO_CONTACT)).toBe('none')
  expect(placeOf(one)).toBe('reserved')
  expect(placeOf(two)).toBe('reserved')
  expect(placeOf(stepContact(two, 'release', 10))).toBe('reserved')
})

test('a reserved place is spent on the day on which the message passes', () => {
  const reserved = stepContact(NO_CONTACT, 'reserve', 10)

  expect(placeOf(stepContact(reserved, 'spend', 11))).toBe(11)
})

test('a place comes back when the message is proven not sent', () => {
  const spent = stepContact(stepContact(NO_CONTACT, 'reserve', 10), 'spend', 10)

  expect(placeOf(stepContact(spent, 'return', 10))).toBe('none')
  expect(placeOf(stepContact(spent, 'requeue', 10))).toBe('reserved')
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
