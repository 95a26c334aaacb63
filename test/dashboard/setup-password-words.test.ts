import { expect, test } from 'bun:test'

import { passwordProblem, strengthWords } from '../../src/dashboard/setup-words.ts'
import { isPasswordLength } from '../../src/domain/value-kind.ts'

test('how good a password is, is a matter of its length', () => {
  const lengths = [0, 1, 11, 12, 15, 16, 19, 20, 200]

  expect(lengths.map((length) => strengthWords('x'.repeat(length)))).toEqual([
    'At least 12 characters. A few words in a row work well.',
    'Too short: 11 more needed.',
    'Too short: 1 more needed.',
    'Fair. Longer is harder to guess.',
    'Fair. Longer is harder to guess.',
    'Good.',
    'Good.',
    'Very good.',
    'Very good.',
  ])
})

test('a password is refused beside its field before the relay would refuse it', () => {
  expect(
    ['12345678901', '123456789012', 'x'.repeat(200), 'x'.repeat(201)].map(passwordProblem),
  ).toEqual(['Use at least 12 characters.', null, null, 'Use at most 200 characters.'])
})

test('the page and the relay agree on what a password is', () => {
  const passwords = [
    'é'.repeat(11),
    '😀'.repeat(11),
    '😀'.repeat(12),
    'a'.repeat(200),
    '😀'.repeat(201),
  ]

  expect(passwords.map((password) => passwordProblem(password) === null)).toEqual(
    passwords.map(isPasswordLength),
  )
})
