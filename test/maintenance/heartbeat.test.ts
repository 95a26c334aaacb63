import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { Heartbeat, type Beat, type BeatResult } from '../../src/maintenance/heartbeat.ts'
import { insertAlert, updateAlert } from '../../src/storage/alerts.ts'
import { recordingLog } from '../support/recording-log.ts'
import { openTestStorage } from '../support/test-storage.ts'

const URL_A = 'https://monitor.example/ping/s3cret?key=s3cret'
const URL_B = 'http://192.168.1.5:3001/api/push/s3cret'
const MINUTE_MS = 60_000

/** A heartbeat that runs, with a monitor that notes the seconds of each call and answers as the test asks. */
async function openHeartbeat(url = URL_A) {
  const { core, clock } = openTestStorage()
  const { writer, ids } = core
  const { settings } = core
  await settings.set('heartbeat_url', url, COMMAND_LINE)
  const calls: (readonly [seconds: number, url: string])[] = []
  const monitor = {
    answer: (_signal: AbortSignal): Promise<BeatResult> => answers(200),
    isRelayWell: true,
  }
  const beat: Beat = ({ url: called }, signal) => {
    calls.push([clock.monotonic() / 1_000, called])
    return monitor.answer(signal)
  }
  const { log, lines } = recordingLog()
  const isWell = () => monitor.isRelayWell
  const heartbeat = new Heartbeat({ ...core, log }, { isWell, beat })
  const stop = new AbortController()
  const running = heartbeat.run(stop.signal)
  const end = async () => {
    stop.abort()
    await running
  }
  const line = { cause: 'line_off', aboutKind: 'line', aboutId: 'line_a', lineId: null } as const
  const alert = { ...line, id: ids.id('alert'), title: 'Off', since: ids.now() }
  const lasting = {
    begin: () => writer.write((tx) => insertAlert(tx, { ...alert, raisedAt: null, ...NOT_OVER })),
    raise: () => writer.write((tx) => updateAlert(tx, alert.id, { raisedAt: ids.now() })),
    resolve: () => writer.write((tx) => updateAlert(tx, alert.id, { resolvedAt: ids.now() })),
  }
  return { clock, settings, calls, monitor, lines, heartbeat, lasting, end }
}

const NOT_OVER = { resolvedAt: null, lastedMs: null }

async function answers(statusCode: number): Promise<BeatResult> {
  return { result: 'answered', statusCode }
}

test('the monitor is called half a minute after the start, and then every five minutes', async () => {
  const { clock, calls, end } = await openHeartbeat()

  await clock.advance(12 * MINUTE_MS)
  await end()
  await clock.advance(60 * MINUTE_MS)

  expect(calls).toEqual([
    [30, URL_A],
    [330, URL_A],
    [630, URL_A],
  ])
})

test('where no address is set nobody is called', async () => {
  const { clock, calls, heartbeat, end } = await openHeartbeat('none')

  await clock.advance(60 * MINUTE_MS)
  await end()

  expect([calls, heartbeat.findings()]).toEqual([[], []])
})

test('a new address is called within ten seconds, and the old one no more', async () => {
  const { clock, settings, calls, end } = await openHeartbeat()
  await clock.advance(MINUTE_MS)

  await settings.set('heartbeat_url', URL_B, COMMAND_LINE)
  await clock.advance(10 * MINUTE_MS)
  await settings.set('heartbeat_url', 'none', COMMAND_LINE)
  await clock.advance(60 * MINUTE_MS)
  await end()

  expect(calls).toEqual([
    [30, URL_A],
    [70, URL_B],
    [370, URL_B],
  ])
})

test('a relay that is not well is silent, and speaks soon after it is well again', async () => {
  const { clock, calls, monitor, heartbeat, end } = await openHeartbeat()
  await clock.advance(MINUTE_MS)

  monitor.isRelayWell = false
  await clock.advance(30 * MINUTE_MS)
  const silent = [...calls]
  monitor.isRelayWell = true
  await clock.advance(10_000)
  await end()

  expect(silent).toEqual([[30, URL_A]])
  expect(calls.slice(1)).toEqual([[31 * 60 + 10, URL_A]])
  expect(heartbeat.findings()).toEqual([])
})

test('an alert of a chosen cause stops the heartbeat while it lasts, and no other does', async () => {
  const { clock, settings, calls, lasting, end } = await openHeartbeat()
  await settings.set('heartbeat_stops_for', 'disk', COMMAND_LINE)
  await lasting.begin()
  await lasting.raise()
  await clock.advance(8 * MINUTE_MS)
  const ofOthers = calls.length

  await settings.set('heartbeat_stops_for', 'disk,line_off', COMMAND_LINE)
  await clock.advance(30 * MINUTE_MS)
  const stopped = calls.length
  await lasting.resolve()
  await clock.advance(10_000)
  await end()

  expect([ofOthers, stopped, calls.length]).toEqual([2, 2, 3])
})

test('a cause that is no alert yet does not stop the heartbeat', async () => {
  const { clock, settings, calls, lasting, end } = await openHeartbeat()
  await settings.set('heartbeat_stops_for', 'line_off', COMMAND_LINE)
  await lasting.begin()

  await clock.advance(8 * MINUTE_MS)
  await end()

  expect(calls).toHaveLength(2)
})

test('three failed calls in a row are a finding, which the first success clears', async () => {
  const { clock, monitor, heartbeat, lines, end } = await openHeartbeat()
  monitor.answer = () => answers(500)

  await clock.advance(9 * MINUTE_MS)
  const two = heartbeat.findings()
  await clock.advance(9 * MINUTE_MS)
  const four = heartbeat.findings()
  monitor.answer = () => answers(204)
  await clock.advance(5 * MINUTE_MS)
  await end()

  expect(two).toEqual([])
  expect(four).toEqual([
    {
      code: 'heartbeat_failed',
      severity: 'warning',
      title: 'Heartbeat is failing',
      why: 'The last 4 calls to monitor.example failed (returned 500).',
      fix: 'Check the monitor and the heartbeat URL in the settings. If the monitor is on your own network and Hookline runs on a Mac, also allow it in System Settings, Privacy & Security, Local Network.',
      key: null,
      depends_on: null,
    },
  ])
  expect(heartbeat.findings()).toEqual([])
  expect(lines).toEqual([
    ['warn', 'heartbeat is failing', { host: 'monitor.example', why: 'returned 500' }],
    ['info', 'heartbeat works again', { host: 'monitor.example' }],
  ])
})

test('a success in between starts the count again', async () => {
  const { clock, monitor, heartbeat, lines, end } = await openHeartbeat()
  const codes = [500, 500, 200, 500, 500]
  monitor.answer = () => answers(codes.shift() ?? 200)

  await clock.advance(23 * MINUTE_MS)
  await end()

  expect([codes, heartbeat.findings(), lines]).toEqual([[], [], []])
})

const FAILED: readonly (readonly [BeatResult, string])[] = [
  [{ result: 'answered', statusCode: 199 }, 'returned 199'],
  [{ result: 'answered', statusCode: 301 }, 'returned 301'],
  [{ result: 'failed', error: 'connection_refused' }, 'connection_refused'],
]

for (const [result, why] of FAILED) {
  test(`a call has failed where ${JSON.stringify(result)}`, async () => {
    const { clock, monitor, heartbeat, end } = await openHeartbeat(URL_B)
    monitor.answer = async () => result

    await clock.advance(11 * MINUTE_MS)
    await end()

    expect(heartbeat.findings().map((finding) => finding.why)).toEqual([
      `The last 3 calls to 192.168.1.5:3001 failed (${why}).`,
    ])
  })
}

test('failures of an address that was changed are reported no more, nor counted on', async () => {
  const { clock, settings, monitor, heartbeat, end } = await openHeartbeat()
  monitor.answer = () => answers(500)
  await clock.advance(14 * MINUTE_MS)

  const before = heartbeat.findings().length
  await settings.set('heartbeat_url', URL_B, COMMAND_LINE)
  const after = heartbeat.findings().length
  await clock.advance(6 * MINUTE_MS)
  const afterTwo = heartbeat.findings().length
  await end()

  expect([before, after, afterTwo]).toEqual([1, 0, 0])
})

test('a stop ends a call at once and is no failure', async () => {
  const { clock, monitor, heartbeat, lines, end } = await openHeartbeat()
  monitor.answer = () => answers(500)
  await clock.advance(6 * MINUTE_MS)
  monitor.answer = (signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ result: 'aborted' }))
    })
  await clock.advance(275_000)

  await end()

  expect([heartbeat.findings(), lines]).toEqual([[], []])
})
