import { edenGC, heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'

import { PassingMap, PassingSet } from '../../src/system/passing.ts'

/** How many dates the heap holds after `pass` was called often, with small collections in between. */
function datesLeftBehind(pass: (round: number) => void): number {
  for (let round = 0; round < 20_000; round += 1) {
    pass(round)
    if (round % 1_000 === 0) edenGC()
  }
  edenGC()
  return heapStats().objectTypeCounts['Date'] ?? 0
}

const FEW = 4_000

test('a map keeps what was set until it is deleted, in the order in which it came', () => {
  const map = new PassingMap<string, { readonly is: number }>()
  map.set('a', { is: 1 })
  map.set('b', { is: 2 })
  map.set('a', { is: 3 })

  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([{ is: 3 }, { is: 2 }, null])
  expect([map.size, map.firstKey()]).toEqual([2, 'a'])
  expect(map.values()).toEqual([{ is: 3 }, { is: 2 }])

  map.delete('a')
  map.delete('a')
  map.set('c', { is: 4 })
  map.set('d', { is: 5 })

  expect([map.get('a'), map.size, map.firstKey()]).toEqual([null, 3, 'b'])
  expect(map.values()).toEqual([{ is: 2 }, { is: 4 }, { is: 5 }])

  map.clear()

  expect([map.get('b'), map.size, map.firstKey()]).toEqual([null, 0, undefined])
})

test('a set lets go of each thing once, and of no other one', () => {
  const set = new PassingSet<{ readonly is: string }>()
  const leaveA = set.add({ is: 'a' })
  set.add({ is: 'b' })

  leaveA()
  set.add({ is: 'c' })
  leaveA()

  expect(set.size).toBe(2)
  expect(set.values()).toEqual([{ is: 'c' }, { is: 'b' }])
})

test('what passed a map is collected by a small collection', () => {
  const map = new PassingMap<number, Date>()

  const left = datesLeftBehind((round) => {
    map.set(round, new Date(round))
    map.delete(round - 64)
  })

  expect(map.size).toBe(64)
  expect(left).toBeLessThan(FEW)
})

test('what passed a set is collected by a small collection', () => {
  const set = new PassingSet<Date>()
  const leaving: (() => void)[] = []

  const left = datesLeftBehind((round) => {
    leaving.push(set.add(new Date(round)))
    if (leaving.length > 64) leaving.shift()?.()
  })

  expect(set.size).toBe(64)
  expect(left).toBeLessThan(FEW)
})

test('what passed a plain map is not: once it is, these classes are needed no more', () => {
  const map = new Map<number, Date>()

  const left = datesLeftBehind((round) => {
    map.set(round, new Date(round))
    map.delete(round - 64)
  })

  expect(map.size).toBe(64)
  expect(left).toBeGreaterThan(FEW)
})
