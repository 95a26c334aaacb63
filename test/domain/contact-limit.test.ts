import { expect, test } from 'bun:test'

import {
  NO_CONTACT,
  endOfUtcDay,
  placeOf,
  stepContact,
  utcDayOf,
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

test('a place stays spent while another message to the contact may have left', () => {
  const two = stepContact(stepContact(NO_CONTACT, 'reserve', 10), 'reserve', 10)
  const spent = stepContact(stepContact(two, 'spend', 10), 'spend', 10)

  expect(placeOf(stepContact(spent, 'return', 10))).toBe(10)
})

test('a contact that became known keeps the place it spent', () => {
  const spent = stepContact(stepContact(NO_CONTACT, 'reserve', 10), 'spend', 10)
  const known = { ...spent, knownAt: 1 }

  expect(placeOf(stepContact(known, 'return', 10))).toBe(10)
})

test('days are UTC days', () => {
  const lastMs = Date.parse('2026-11-21T23:59:59.999Z')

  expect(endOfUtcDay(lastMs)).toBe(Date.parse('2026-11-22T00:00:00.000Z'))
  expect(utcDayOf(lastMs) + 1).toBe(utcDayOf(lastMs + 1))
})
