import { expect, test } from 'bun:test'

import { DiskWatch, FREE_BYTES_MIN, integrityWatch } from '../../src/maintenance/storage-watch.ts'
import { Signal } from '../../src/system/signal.ts'
import { recordingLog } from '../support/recording-log.ts'
import { TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

function openWatch(free: number) {
  const disk = { free, isLost: false, log: 0 }
  const lost: unknown[] = []
  const clock = new TestClock()
  const { log, lines } = recordingLog()
  const changes: boolean[] = []
  const watched = {
    freeBytes: () => {
      if (Number.isNaN(disk.free)) throw new Error('no such directory')
      return disk.free
    },
    logBytes: () => disk.log,
    requireInPlace: () => {
      if (disk.isLost) throw new Error('moved away')
    },
  }
  const watch = new DiskWatch(watched, {
    clock,
    log,
    onLost: (error) => lost.push(error),
    onChange: (isLow) => changes.push(isLow),
  })
  return { disk, clock, lines, changes, lost, watch }
}

test('below 256 MiB the disk counts as full, and not at it', () => {
  expect(openWatch(256 * 1024 * 1024).watch.isLow).toBe(false)
  expect(openWatch(256 * 1024 * 1024 - 1).watch.isLow).toBe(true)
})

test('the disk is looked at every 10 seconds, and each change is reported once', async () => {
  const { watch, disk, clock, changes, lines } = openWatch(FREE_BYTES_MIN)
  const stop = new AbortController()
  const running = watch.run(stop.signal)

  disk.free = 1
  await clock.advance(9_999)
  const before = watch.isLow
  await clock.advance(1)
  const after = watch.isLow
  await clock.advance(60_000)
  disk.free = FREE_BYTES_MIN
  await clock.advance(10_000)
  stop.abort()
  await running

  expect([before, after, watch.isLow]).toEqual([false, true, false])
  expect(changes).toEqual([true, false])
  expect(lines.map(([level]) => level)).toEqual(['error', 'info'])
})

test('after a write that failed it can be asked at once', () => {
  const { watch, disk } = openWatch(FREE_BYTES_MIN)
  disk.free = 1

  watch.check()

  expect(watch.isLow).toBe(true)
})

test('a full disk is a finding for as long as it is full', () => {
  const { watch, disk } = openWatch(10 * 1024 * 1024)

  const found = watch.findings().map(({ code, severity, why }) => [code, severity, why])
  disk.free = FREE_BYTES_MIN
  watch.check()

  expect(found).toEqual([['storage_full', 'error', '10 MiB are free. Hookline needs 256 MiB.']])
  expect(watch.findings()).toEqual([])
})

test('a log above 256 MiB is a finding until it is emptied, and to blame for a full disk', () => {
  const { watch, disk, lines } = openWatch(FREE_BYTES_MIN)
  const look = () => {
    watch.check()
    return watch.findings().map(({ code, depends_on }) => [code, depends_on])
  }

  disk.log = 256 * 1024 * 1024
  expect(look()).toEqual([])
  disk.log += 1
  expect(look()).toEqual([['log_held', null]])
  disk.free = 1
  expect(look()).toEqual([
    ['log_held', null],
    ['storage_full', 'log_held'],
  ])
  expect(watch.findings()[1]?.fix).toContain('Close that program')
  disk.log = 0
  expect(look()).toEqual([['storage_full', null]])
  expect(lines.map(([level, message]) => [level, message])).toEqual([
    ['warn', 'another program holds the log of the database'],
    ['error', 'disk almost full: nothing is accepted'],
    ['info', 'the log of the database was emptied'],
  ])
})

test('a disk that cannot be asked counts as full until it can', () => {
  const { watch, disk } = openWatch(FREE_BYTES_MIN)

  disk.free = Number.NaN
  watch.check()
  const whileGone = watch.isLow
  disk.free = FREE_BYTES_MIN
  watch.check()

  expect([whileGone, watch.isLow]).toEqual([true, false])
})

test('an idle relay sees within 10 seconds that its files are gone', async () => {
  const { watch, disk, clock, lost } = openWatch(FREE_BYTES_MIN)
  const stop = new AbortController()
  const running = watch.run(stop.signal)

  await clock.advance(1_000)
  disk.isLost = true
  await clock.advance(9_000)
  stop.abort()
  await running

  expect(lost).toEqual([new Error('moved away')])
})

const HOUR_MS = 3_600_000

test('errors that nobody foresaw have the database checked, once an hour at most', async () => {
  const { core, clock } = openTestStorage()
  const doubtSignal = new Signal()
  const { log, lines } = recordingLog()
  const checkedAt: number[] = []
  const assertIntact = async () => {
    checkedAt.push(clock.monotonic())
    if (checkedAt.length === 2) throw new Error('The file is damaged.')
  }
  const stop = new AbortController()
  const watch = integrityWatch({ ...core, log }, { doubtSignal, assertIntact })
  const running = watch.run(stop.signal)

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
