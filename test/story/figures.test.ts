// Figures against a ledger: in random lives of two lines and a webhook every message and every attempt is noted
// one by one, and the API, the charts and what retention leaves must say the same, in days of any zone.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { timestamp } from '../../src/domain/ids.ts'
import type { Tx } from '../../src/storage/database.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { asOwner } from '../support/control-socket.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { type Answer, WebhookSink } from '../support/webhook-sink.ts'
import { STEP, type Step, take } from './line-lives.ts'

/** Clocks are moved in Berlin and in Lord Howe, by half an hour there, within days of these. */
const STARTS = ['2026-10-24T20:10:00Z', '2026-03-28T21:50:00Z', '2026-10-03T10:00:00Z']
const ZONES = ['UTC', 'Asia/Kolkata', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns']
const HALF_HOUR_MS = 1_800_000

const failed = (error: 'dns_error' | 'tls_error' | 'connection_refused'): Answer => ({
  result: 'failed',
  error,
  isPrivateTarget: false,
})
const ANSWERS: readonly (readonly [Answer, outcome: string])[] = [
  [200, 'delivered'],
  [{ afterMs: 180 }, 'delivered'],
  [{ afterMs: 2_000 }, 'delivered'],
  [404, 'http_4xx'],
  [503, 'http_5xx'],
  [302, 'http_other'],
  ['hang', 'timeout'],
  [failed('dns_error'), 'dns'],
  [failed('tls_error'), 'tls'],
  [failed('connection_refused'), 'refused'],
]

type Noted = Step | { readonly do: 'hook'; readonly answer: number } | { readonly do: 'purge' }

const NOTED: fc.Arbitrary<Noted> = fc.oneof(
  { weight: 14, arbitrary: STEP },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('hook' as const),
      answer: fc.nat({ max: ANSWERS.length - 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const) }) },
)

const LIFE = fc.record({
  start: fc.constantFrom(...STARTS),
  zone: fc.constantFrom(...ZONES),
  steps: fc.array(NOTED, { minLength: 10, maxLength: 40 }),
})

test(
  'figures of every zone, pictures and headline are the count of the ledger, whatever happened and was deleted',
  async () => {
    await fc.assert(fc.asyncProperty(LIFE, live), {
      numRuns: 10 * SCALE,
      seed: 20_261_122 + SEED,
    })
  },
  240_000 * SCALE,
)

type LedgerMessage = {
  readonly id: string
  readonly line: string
  readonly status: string
  readonly source: string
  readonly created: number
  readonly sent: number | null
}
type LedgerAttempt = {
  readonly id: string
  readonly started: number
  readonly ms: number
  readonly code: number | null
  readonly error: string | null
}

async function live({ start, zone, steps }: typeof LIFE extends fc.Arbitrary<infer T> ? T : never) {
  const driver = new ScriptedDriver()
  const devices = [driver.add('+12025550801'), driver.add('+12025550802')] as const
  const clock = new TestClock(Date.parse(start))
  const sink = new WebhookSink(clock)
  await using relay = await startDashboard({ drivers: [driver], clock, post: sink.post })
  const browser = await relay.claim()
  const events = ['message.received', 'message.sent', 'message.failed', 'message.read']
  const hook = await relay.post('/api/v1/webhooks', { url: 'https://shop.example/', events })
  await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: zone } })
  const { messages, attempts, note } = openLedger(relay)
  const world = { relay, devices, guids: [] as string[], count: 0 }
  for (const step of steps) {
    if (step.do === 'hook') sink.answer = () => ANSWERS[step.answer]?.[0] ?? 200
    else if (step.do !== 'purge') await take(world, step)
    await clock.advance(0)
    note()
    if (step.do !== 'purge') continue
    deleteOldMessages({ ...relay.db, changes: null } as Tx, timestamp(clock.now() + 1), 1_000)
    relay.db.sqlite.run("DELETE FROM deliveries WHERE status <> 'pending'")
  }
  await clock.advance(11_000)
  note()

  const all = [...messages.values()]
  for (const each of ZONES) {
    const query = `days=60&time_zone=${encodeURIComponent(each)}`
    const { data } = await relay.get(`/api/v1/stats?${query}`)
    expectDays(data, all, each)
  }
  const old = await relay.get('/api/v1/stats?days=60')
  const { body: home } = await browser.get('/dashboard/pictures/home')
  const dates = old.data.map((day: Json) => day.date)
  const days = home.days.map((day: Json) => day.day)
  expect(old.data.map(figures)).toEqual(daysOf(all, 'UTC', dates))
  expect(home.days.map(figures)).toEqual(daysOf(all, zone, days))
  expect(home.days.map(newContacts)).toEqual(contactsOf(relay, days))
  const own = await relay.get(`/api/v1/stats?days=14&time_zone=${encodeURIComponent(zone)}`)
  expect(own.data.map(newContacts)).toEqual(contactsOf(relay, days))
  const { body: strip } = await browser.get(`/dashboard/pictures/webhook/${hook.body.id}`)
  expectHook(strip, [...attempts.values()], clock.now())
  expect(strip).toMatchObject(home.webhooks[0])
  for (const { id } of await relay.lines()) {
    const { body: line } = await browser.get(`/dashboard/pictures/line/${id}`)
    const ofLine = all.filter((row) => row.line === id)
    expect(line.days.map(figures)).toEqual(daysOf(ofLine, zone, days))
  }
  expect(home.queue.at(-1)).toMatchObject(waiting(relay))
}

/** Notes every message and attempt as it is; what is deleted later stays noted. */
function openLedger(relay: Relay) {
  const messages = new Map<string, LedgerMessage>()
  const attempts = new Map<string, LedgerAttempt>()
  const note = () => {
    const { sqlite } = relay.db
    const rows = sqlite.query<LedgerMessage, []>(
      `SELECT m.id, l.id AS line, status, source, m.created_at AS created, sent_at AS sent
       FROM messages m JOIN lines l ON l.seq = m.line_seq`,
    )
    for (const row of rows.all()) messages.set(row.id, row)
    const made = sqlite.query<LedgerAttempt, []>(
      `SELECT d.id || '/' || number AS id, started_at AS started, duration_ms AS ms,
         status_code AS code, error FROM attempts a JOIN deliveries d ON d.seq = a.delivery_seq`,
    )
    for (const row of made.all()) attempts.set(row.id, row)
  }
  return { messages, attempts, note }
}

const isSent = ({ status }: LedgerMessage) => ['sent', 'delivered', 'read'].includes(status)

const figures = ({ sent, received, failed, uncertain }: Json) => [sent, received, failed, uncertain]
const newContacts = ({ new_contacts }: Json) => new_contacts

function dayIn(zone: string, at: number): string {
  // Sweden writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' }).format(at)
}

function countOf(rows: readonly LedgerMessage[]): readonly number[] {
  const count = (is: (row: LedgerMessage) => boolean) => rows.filter(is).length
  return [
    count(isSent),
    count(({ status }) => status === 'received'),
    count(({ status }) => status === 'failed' || status === 'expired'),
    count(({ status }) => status === 'uncertain'),
  ]
}

function daysOf(all: readonly LedgerMessage[], zone: string, days: readonly string[]) {
  return days.map((day) => countOf(all.filter((row) => dayIn(zone, row.created) === day)))
}

function expectDays(data: readonly Json[], all: readonly LedgerMessage[], zone: string): void {
  for (const day of data) {
    const rows = all.filter((row) => dayIn(zone, row.created) === day.date)
    const times = rows.filter((row) => isSent(row) && row.source !== 'device')
    const latencies = times.map(({ sent, created }) => (sent ?? 0) - created)
    expect([day.date, ...figures(day)]).toEqual([day.date, ...countOf(rows)])
    expect(day.send_p50_ms).toBe(bucketOf(latencies, 0.5, [1_000, 5_000, 30_000, 300_000]))
    expect(day.send_p95_ms).toBe(bucketOf(latencies, 0.95, [1_000, 5_000, 30_000, 300_000]))
    for (const line of day.lines) {
      const own = rows.filter((row) => row.line === line.phone_line_id)
      expect(figures(line)).toEqual(countOf(own) as number[])
    }
    const ofLines = rows.filter(({ line }) => {
      return day.lines.some((one: Json) => one.phone_line_id === line)
    })
    expect(countOf(ofLines)).toEqual(countOf(rows))
  }
  expect(
    data.reduce((sum, day) => sum + figures(day).reduce((a: number, b: number) => a + b), 0),
  ).toBe(countOf(all).reduce((a, b) => a + b))
}

/** The smallest bound below which that share of the samples lies. */
function bucketOf(samples: readonly number[], share: number, bounds: readonly number[]) {
  if (samples.length === 0) return null
  const within = (bound: number) => samples.filter((ms) => ms <= bound).length
  return bounds.find((bound) => within(bound) >= share * samples.length) ?? null
}

function outcomeOf({ code, error }: LedgerAttempt): string {
  const answer = ANSWERS.find(([given]) =>
    code === null
      ? typeof given === 'object' && 'error' in given && given.error === error
      : given === code,
  )
  return answer?.[1] ?? (error === 'timeout' ? 'timeout' : 'other')
}

function expectHook(strip: Json, all: readonly LedgerAttempt[], now: number): void {
  const from = (Math.floor(now / HALF_HOUR_MS) - 47) * HALF_HOUR_MS
  const day = all.filter(({ started }) => started >= from)
  const ok = day.filter((attempt) => outcomeOf(attempt) === 'delivered')
  const causes = Object.groupBy(day, outcomeOf)
  const cells = Array.from({ length: 48 }, (_, place) => {
    const isIn = ({ started }: LedgerAttempt) =>
      Math.floor((started - from) / HALF_HOUR_MS) === place
    return { ok: ok.filter(isIn).length, failed: day.filter(isIn).length - ok.filter(isIn).length }
  })
  const durations = ok.map(({ ms }) => ms)
  const week = all.filter(
    ({ started }) => started >= Math.floor(now / 900_000) * 900_000 - 7 * 86_400_000,
  )
  const lost = week.filter((attempt) => outcomeOf(attempt) !== 'delivered').length
  expect(strip.success_share).toBe(day.length === 0 ? null : ok.length / day.length)
  expect(strip.causes_7_days.reduce((sum: number, { count }: Json) => sum + count, 0)).toBe(lost)
  expect(strip.cells).toEqual(cells)
  expect(strip.p50_ms).toBe(bucketOf(durations, 0.5, [50, 250, 1_000, 5_000]))
  expect(strip.p95_ms).toBe(bucketOf(durations, 0.95, [50, 250, 1_000, 5_000]))
  expect(Object.fromEntries(strip.causes.map(({ cause, count }: Json) => [cause, count]))).toEqual(
    Object.fromEntries(
      Object.entries(causes).flatMap(([cause, rows]) =>
        cause === 'delivered' ? [] : [[cause, rows?.length]],
      ),
    ),
  )
}

type Relay = Pick<Awaited<ReturnType<typeof startDashboard>>, 'db'>

/** The places of a day that contacts say they have; those of waiting messages are of the last day. */
function contactsOf({ db }: Relay, days: readonly string[]): readonly number[] {
  const rows = db.sqlite
    .query<{ readonly spent: number | null }, []>(
      `SELECT spent_day AS spent FROM contacts
       WHERE spent_day IS NOT NULL OR (queued > 0 AND known_at IS NULL)`,
    )
    .all()
  return days.map((day) => {
    const number = Date.parse(`${day}T00:00:00Z`) / 86_400_000
    const isLast = day === days.at(-1)
    return rows.filter(({ spent }) => spent === number || (isLast && spent === null)).length
  })
}

function waiting({ db }: Relay): object {
  const sql = `SELECT (SELECT count(*) FROM messages WHERE status = 'queued') AS messages,
    (SELECT count(*) FROM deliveries WHERE status = 'pending') AS deliveries`
  return db.sqlite.query<object, []>(sql).get() ?? {}
}
