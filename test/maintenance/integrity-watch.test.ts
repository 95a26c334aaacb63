import { expect, test } from 'bun:test'

import { IntegrityWatch } from '../../src/maintenance/storage-watch.ts'
import { Signal } from '../../src/system/signal.ts'
import { recordingLog } from '../support/recording-log.ts'
import { TestClock } from '../support/test-clock.ts'

const HOUR_MS = 3_600_000

test('errors that nobody foresaw have the database checked, once an hour at most', async () => {
  const clock = new TestClock()
  const doubtSignal = new Signal()
  const { log, lines } = recordingLog()
  const checkedAt: number[] = []
  const assertIntact = async () => {
    checkedAt.push(clock.monotonic())
    if (checkedAt.length === 2) throw new Error('The file is damaged.')
  }
  const stop = new AbortController()
  const running = new IntegrityWatch({ clock, log, doubtSignal, assertIntact }).run(stop.signal)

  await clock.advance(5_000)
  doubtSignal.notify()
  await clock.advance(0)
  doubtSignal.notify()
  await clock.advance(HOUR_MS - 1)
  const withinTheHour = checkedAt.length
  await clock.advance(3 * HOUR_MS)
  stop.abort()
  await running

  expect(withinTheHour).toBe(1)
  expect(checkedAt).toEqual([5_000, 5_000 + HOUR_MS])
  expect(lines.map(([, message]) => message)).toEqual(['the database failed its integrity check'])
})
