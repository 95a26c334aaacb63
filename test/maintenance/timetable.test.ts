import { expect, test } from 'bun:test'

import { Timetable, type Job } from '../../src/maintenance/timetable.ts'
import { silentLog } from '../../src/system/log.ts'
import { recordingLog } from '../support/recording-log.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const HOUR_MS = 3_600_000

/** A job at a quarter past each hour that notes when it ran, in minutes from the start. */
function hourly(clock: TestClock, ran: number[], more: Partial<Job> = {}): Job {
  return {
    name: 'some-job',
    finding: 'statistics_failed',
    pattern: '15 * * * *',
    fix: 'Fix it.',
    firstAfterMs: null,
    run: async () => void ran.push((clock.now() - TEST_START) / 60_000),
    ...more,
  }
}

/** Runs a timetable while `act` lasts. */
async function during(
  timetable: Timetable,
  clock: TestClock,
  act: () => Promise<void>,
): Promise<void> {
  const stop = new AbortController()
  const running = timetable.run(stop.signal)
  await clock.advance(0)
  await act()
  stop.abort()
  await running
}

test('a job runs whenever its pattern fits', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const timetable = new Timetable([hourly(clock, ran)], { clock, log: silentLog })

  await during(timetable, clock, () => clock.advance(3 * HOUR_MS))

  expect(ran).toEqual([15, 75, 135])
})

test('a job that should run soon after the start does so once, then by its pattern', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const job = hourly(clock, ran, { firstAfterMs: 60_000 })
  const timetable = new Timetable([job], { clock, log: silentLog })

  await during(timetable, clock, () => clock.advance(HOUR_MS))

  expect(ran).toEqual([1, 15])
})

test('a job that fails is reported, shown until it succeeds, and keeps no other from running', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const { log, lines } = recordingLog()
  let isBroken = true
  const broken = hourly(clock, [], {
    name: 'broken-job',
    finding: 'backup_failed',
    async run() {
      if (isBroken) throw new Error('no room')
    },
  })
  const timetable = new Timetable([broken, hourly(clock, ran)], { clock, log })

  await during(timetable, clock, async () => {
    await clock.advance(2 * HOUR_MS)
    expect(timetable.findings()).toEqual([
      {
        code: 'backup_failed',
        severity: 'warning',
        title: 'Scheduled job "broken-job" is failing',
        why: 'Since 2026-11-21T10:15:00.000Z: Error: no room',
        fix: 'Fix it.',
        key: null,
        depends_on: null,
      },
    ])
    isBroken = false
    await clock.advance(HOUR_MS)
  })

  expect(timetable.findings()).toEqual([])
  expect(ran).toEqual([15, 75, 135])
  expect(lines.filter(([level]) => level === 'error').map(([, message]) => message)).toEqual([
    'job failed',
    'job failed',
  ])
})

test('a clock that is set back by a day delays no job by a day', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const timetable = new Timetable([hourly(clock, ran)], { clock, log: silentLog })

  await during(timetable, clock, async () => {
    await clock.advance(60_000)
    clock.step(-24 * HOUR_MS)
    await clock.advance(HOUR_MS)
  })

  expect(ran).toEqual([15 - 24 * 60])
})

test('a machine that slept through the time of a job runs it when it wakes', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const timetable = new Timetable([hourly(clock, ran)], { clock, log: silentLog })

  await during(timetable, clock, async () => {
    await clock.advance(60_000)
    clock.step(5 * HOUR_MS)
    await clock.advance(60_000)
  })

  expect(ran.map(Math.floor)).toEqual([301])
})

test('nothing runs once it has stopped, and a job hears of the stop', async () => {
  const clock = new TestClock()
  const ran: number[] = []
  const heard: boolean[] = []
  const job = hourly(clock, ran, {
    async run(signal) {
      await clock.sleep(HOUR_MS * 9, signal)
      heard.push(signal.aborted)
    },
  })
  const timetable = new Timetable([job, hourly(clock, ran)], { clock, log: silentLog })

  await during(timetable, clock, () => clock.advance(HOUR_MS))
  await clock.advance(24 * HOUR_MS)

  expect([heard, ran]).toEqual([[true], []])
})
