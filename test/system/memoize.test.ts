import { expect, test } from 'bun:test'

import { dropOldest, memoize } from '../../src/system/memoize.ts'

test('a text is read once, even if it reads as nothing, and again once too many were read', () => {
  const read: string[] = []
  const lengthOf = memoize(2, (text) => {
    read.push(text)
    return text === '' ? null : text.length
  })

  const told = ['a', '', 'a', '', 'bb', 'a'].map(lengthOf)

  expect(told).toEqual([1, null, 1, null, 2, 1])
  expect(read).toEqual(['a', '', 'bb', 'a'])
})

test('the oldest entry is dropped of a map or set that has become too large', () => {
  const set = new Set(['a', 'b'])
  const map = new Map(Object.entries({ a: 1, b: 2, c: 3 }))

  dropOldest(set, 2)
  dropOldest(map, 2)

  expect([[...set], [...map.keys()]]).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ])
})
