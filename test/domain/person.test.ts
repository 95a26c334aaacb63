import { expect, test } from 'bun:test'

import {
  homeOfNumber,
  isSamePerson,
  parseRecipient,
  personOf,
  understandRecipient,
} from '../../src/domain/handle.ts'

const AMERICAN = homeOfNumber('+12025550147')
const GERMAN = homeOfNumber('+493012345678')
const BRITISH = homeOfNumber('+447911123456')

test.each([
  ['5550001111', AMERICAN, '+15550001111'],
  ['15550001111', AMERICAN, '+15550001111'],
  ['1 (555) 000-1111', AMERICAN, '+15550001111'],
  ['(202) 555-0123', AMERICAN, '+12025550123'],
  ['202\u2011555\u20110123', AMERICAN, '+12025550123'],
  ['\u202A+1\u00A0(202)\u00A0555-0123\u202C', null, '+12025550123'],
  ['tel:+12025550123', null, '+12025550123'],
  ['01112025550123', AMERICAN, '+12025550123'],
  ['004915112345678', AMERICAN, '+4915112345678'],
  ['015112345678', GERMAN, '+4915112345678'],
  ['4915112345678', GERMAN, '+4915112345678'],
  ['+49 (0)151 12345678', null, '+4915112345678'],
  ['+49015112345678', null, '+4915112345678'],
  ['07911 123456', BRITISH, '+447911123456'],
  ['+5215512345678', null, '+525512345678'],
  ['+390612345678', null, '+390612345678'],
  ['mailto:Ann@Example.com', null, 'ann@example.com'],
])('%j is one person with %#', (spelling, home, person) => {
  expect(personOf(spelling, home)).toBe(person as never)
  expect(isSamePerson(spelling, person, home)).toBeTrue()
})

test.each([
  ['5550001111', null, 'no country is known'],
  ['2025550123', BRITISH, 'the country has no such number'],
  ['1234567', GERMAN, 'a number of seven digits without its area code is one of many'],
  ['22395', AMERICAN, 'a short code'],
  ['110', GERMAN, 'a short number'],
  ['MyBank', AMERICAN, 'the name of a sender'],
  ['1800FLOWERS', AMERICAN, 'a name that begins with digits'],
  ['5550001111 ext. 7', AMERICAN, 'an extension'],
])('%s stays as the device spells it with %#: %s', (spelling, home) => {
  expect(personOf(spelling, home)).toBe(spelling as never)
  expect(isSamePerson(spelling, '+15550001111', home)).toBeFalse()
})

test('a number that a client gives with a digit too many is the same person as without', () => {
  expect(parseRecipient('+4402012345678')?.handle).toBe('+442012345678' as never)
  expect(parseRecipient('+5215512345678')?.handle).toBe('+525512345678' as never)
  expect(parseRecipient('+390612345678')?.handle).toBe('+390612345678' as never)
})

test('a number copied from Apple’s Contacts is understood although marks of direction are around it', () => {
  for (const written of [
    '\u202A+1 (202) 555-0174\u202C',
    '\u2066+12025550174\u2069',
    '+1 202\u200B5550174',
  ]) {
    expect(understandRecipient(written, null)).toEqual({
      kind: 'phone',
      handle: '+12025550174',
    } as never)
  }
})
