import { expect, test } from 'bun:test'

import { isBacklog, nextSlowSince, type SlowSince } from '../../src/health/queue-watch.ts'

const MINUTE = 60_000

/** The minutes at which a backlog is shown, of one look a minute at how many minutes the oldest has waited. */
function shownAt(waits: readonly number[]): readonly number[] {
  let since: SlowSince = null
  return waits.flatMap((minutes, minute) => {
    since = nextSlowSince(since, minutes * MINUTE, minute * MINUTE)
    return isBacklog(since, minute * MINUTE) ? [minute] : []
  })
}

test('a queue is a backlog when something has waited ten minutes at every look for five', () => {
  expect(shownAt([9, 10, 11, 12, 13, 14, 15])).toEqual([6])
})

test('a queue that an outage left is none while it is worked off within five minutes', () => {
  expect(shownAt([300, 300, 300, 300, 300, 0])).toEqual([])
})

test('one look at which nothing waits for long restarts the five minutes', () => {
  expect(shownAt([10, 11, 12, 1, 10, 11, 12, 13, 14])).toEqual([])
})

test('a backlog that hovers about ten minutes stays one, and ends below five', () => {
  expect(shownAt([10, 10, 10, 10, 10, 10, 9, 6, 4, 9])).toEqual([5, 6, 7])
})
