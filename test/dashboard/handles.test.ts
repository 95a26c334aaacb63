import { expect, test } from 'bun:test'

import { isWhole, tidyHandle } from '../../src/dashboard/outbox.ts'

test('a handle is taken as people write it', () => {
  const typed = [' +1 (202) 555-0147 ', '0049 30 123/456', '+1.202.555.0147', ' Ann@Example.COM ']

  expect(typed.map(tidyHandle)).toEqual([
    '+12025550147',
    '+4930123456',
    '+12025550147',
    'ann@example.com',
  ])
})

test('a part of a handle is not asked about', () => {
  expect(['', '+1202', '2025550147', 'ann@', 'ann@example'].map(isWhole)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ])
  expect(['+12025550147', 'ann@example.com'].map(isWhole)).toEqual([true, true])
})
