// The data of the dashboard's charts, and the API's daily statistics.

import type * as api from '../api/stats.ts'
import { type Day, dayName, dayOf, startOfDay } from '../domain/days.ts'
import { RelayError } from '../domain/errors.ts'
import { type LineId, timestamp, type WebhookId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import { DAY_MS, HOUR_MS, QUARTER_MS } from '../domain/time.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { contactUsage, daysOf, firstContacts } from '../storage/daily-contacts.ts'
import {
  type AttemptCounts,
  attemptQuarters,
  contactDays,
  type MessageCounts,
  messageCounts,
  queueNow,
  queueSamples,
  relayRuns,
  stateChanges,
} from '../storage/stats.ts'
import { listWebhooks } from '../storage/webhooks.ts'
import { isoTime } from '../system/iso-time.ts'
import { uptimeCells } from './uptime.ts'

const DAYS = 14
const HALF_HOURS = 48
const HALF_HOUR_MS = 2 * QUARTER_MS
/** 30 days in thirds of a day, and 7 days in hours. */
const THIRDS = 90
const HOURS = 168

type LineList = { lines(): readonly { readonly line: Line }[] }

export class Charts {
  readonly #core: Core
  readonly #directory: LineList

  constructor(core: Core, { lines }: { readonly lines: LineList }) {
    this.#core = core
    this.#directory = lines
  }

  /**
   * Statistics of the last `count` days, today last. Only callers that name a zone or a site get the newer fields;
   * `ofSite` is the zone of the site of all lines.
   */
  stats(
    count: number,
    { zone, ofSite }: { readonly zone: string | null; readonly ofSite: string | null },
    limit: LineLimit,
  ): readonly api.DayStats[] {
    const isOwn = zone === (ofSite ?? this.#core.settings.get('time_zone'))
    return this.#daysOf(count, zone ?? 'UTC', limit).map((day) => {
      const { name, lines, counts, contacts } = day
      const added = (of: readonly LineId[]) =>
        isOwn ? { new_contacts: sum(of, (id) => contacts.get(id) ?? 0) } : {}
      return {
        date: name,
        ...figuresOf(counts),
        ...(zone === null ? {} : { ...added([...contacts.keys()]), ...latencyOf(counts) }),
        lines: lines.map((id) => ({
          phone_line_id: id,
          ...figuresOf(counts.filter(({ lineId }) => lineId === id)),
          ...added([id]),
        })),
      }
    })
  }

  /** The people to whom each line wrote first; null for days of another zone than the relay's. */
  firstContacts(zone: string | null, limit: LineLimit): readonly api.LineFirstContacts[] | null {
    if (zone !== this.#core.settings.get('time_zone')) return null
    return this.#lines().flatMap(({ id }) => (includesLine(limit, id) ? this.#firstOf(id) : []))
  }

  #firstOf(id: LineId): api.LineFirstContacts {
    const { db, clock, settings } = this.#core
    const today = dayOf(clock.now(), settings.get('time_zone'))
    const last = (days: number) => firstContacts(db, id, today - days)
    return { phone_line_id: id, days_7: last(7), days_28: last(28) }
  }

  home(limit: LineLimit): api.HomeChartData {
    const { db, clock, settings } = this.#core
    const now = clock.now()
    const zone = settings.get('time_zone')
    const bounds = thirdsUntil(now, zone)
    const attempts = Map.groupBy(attemptQuarters(db, firstHalfHour(now)), (row) => row.webhookId)
    return {
      time_zone: zone,
      days: this.#daysOf(DAYS, zone, limit).map((day) => ({
        ...chartDay(day),
        lines: day.lines.map((id) => ({
          phone_line_id: id,
          ...figuresWithoutCanceled(day.counts.filter(({ lineId }) => lineId === id)),
          new_contacts: day.contacts.get(id) ?? 0,
        })),
      })),
      uptime: this.#lines()
        .filter(({ id }) => includesLine(limit, id))
        .map(({ id }) => ({ phone_line_id: id, cells: this.#uptimeOf(id, bounds) })),
      queue: [...queueSamples(db, now - DAY_MS), { at: timestamp(now), ...queueNow(db) }].map(
        (sample) => ({ ...sample, at: isoTime(sample.at) }),
      ),
      webhooks: listWebhooks(db, WEBHOOKS_MAX, null).map(({ id }) =>
        stripOf(id, attempts.get(id) ?? [], now),
      ),
    }
  }

  line(id: string): api.LineChartData {
    const { clock } = this.#core
    const line = this.#lines().find((one) => one.id === id)
    if (line === undefined)
      throw new RelayError('not_found', 'There is no phone line with this id.')
    const zone = daysOf(this.#core).zone(line.id)
    const end = Math.floor(clock.now() / HOUR_MS + 1) * HOUR_MS
    const bounds = Array.from({ length: HOURS + 1 }, (_, place) => end - (HOURS - place) * HOUR_MS)
    const days = this.#daysOf(DAYS, zone, null).map((day) => onlyOf(line.id, day))
    return {
      phone_line_id: line.id,
      time_zone: zone,
      daily_contact_limit: line.dailyContactLimit,
      first_contacts: this.#firstOf(line.id),
      uptime: this.#uptimeOf(line.id, bounds),
      days: days.map(chartDay),
      ...latencyOf(days.flatMap(({ counts }) => counts)),
    }
  }

  webhook(id: string): api.WebhookChartData {
    const { db, clock } = this.#core
    const webhook = listWebhooks(db, WEBHOOKS_MAX, null).find((one) => one.id === id)
    if (webhook === undefined)
      throw new RelayError('not_found', 'There is no webhook with this id.')
    const now = clock.now()
    const week = attemptQuarters(db, now - 7 * DAY_MS).filter((row) => row.webhookId === id)
    const first = firstHalfHour(now) / QUARTER_MS
    const day = week.filter(({ quarter }) => quarter >= first)
    const all = sum(day, ({ attempts }) => attempts)
    return {
      ...stripOf(webhook.id, day, now),
      success_share: all === 0 ? null : sum(day.filter(isDelivered), (row) => row.attempts) / all,
      causes_7_days: causesOf(week),
    }
  }

  /** The last `count` days, oldest first. Today's contacts include those whose messages still wait. */
  #daysOf(count: number, zone: string, limit: LineLimit): readonly CountedDay[] {
    const { db, clock } = this.#core
    const days = daysOf(this.#core)
    const today = dayOf(clock.now(), zone)
    const first = today - count + 1
    const isIn = ({ lineId }: { readonly lineId: LineId }) => includesLine(limit, lineId)
    const contacts = Map.groupBy(contactDays(db, first).filter(isIn), ({ day }) => day)
    return Array.from({ length: count }, (_, place) => {
      const day: Day = first + place
      const counts = messageCounts(db, startOfDay(day, zone), startOfDay(day + 1, zone)).filter(
        isIn,
      )
      const spent = (contacts.get(day) ?? []).map((row) => [row.lineId, row.spent] as const)
      const shown = this.#lines().filter(({ id }) => includesLine(limit, id))
      const used = shown.map(({ id }) => {
        const usage = contactUsage(db, id, days.of(clock.now(), id))
        return [id, usage.spent + usage.reserved] as const
      })
      const all = new Map([...spent, ...(day === today ? used : [])])
      const named = [...counts.map(({ lineId }) => lineId), ...all.keys()]
      const isUsed = (id: LineId) =>
        (all.get(id) ?? 0) > 0 || counts.some((row) => row.lineId === id)
      return {
        name: dayName(day),
        counts,
        contacts: all,
        lines: [...new Set(named)].filter(isUsed),
      }
    })
  }

  #uptimeOf(id: LineId, bounds: readonly number[]) {
    const { db, clock } = this.#core
    const since = bounds[0] ?? 0
    const log = { changes: stateChanges(db, id, since), runs: relayRuns(db, since) }
    return uptimeCells(bounds, log, clock.now())
  }

  #lines(): readonly Line[] {
    return this.#directory.lines().map(({ line }) => line)
  }
}

type CountedDay = {
  readonly name: string
  readonly counts: readonly MessageCounts[]
  readonly contacts: ReadonlyMap<LineId, number>
  readonly lines: readonly LineId[]
}

function onlyOf(id: LineId, day: CountedDay): CountedDay {
  const counts = day.counts.filter(({ lineId }) => lineId === id)
  return { ...day, counts, contacts: new Map([[id, day.contacts.get(id) ?? 0]]), lines: [id] }
}

function chartDay({ name, counts, contacts }: CountedDay): api.ChartDay {
  const new_contacts = sum([...contacts.values()], (count) => count)
  return { day: name, ...figuresWithoutCanceled(counts), ...latencyOf(counts), new_contacts }
}

function figuresOf(counts: readonly MessageCounts[]): api.MessageFigures {
  return {
    sent: sum(counts, ({ sent }) => sent),
    received: sum(counts, ({ received }) => received),
    failed: sum(counts, ({ failed }) => failed),
    uncertain: sum(counts, ({ uncertain }) => uncertain),
  }
}

/** Figures without messages that were canceled or denied: a person's decision is no failure. */
function figuresWithoutCanceled(counts: readonly MessageCounts[]): api.MessageFigures {
  return { ...figuresOf(counts), failed: sum(counts, ({ failed, canceled }) => failed - canceled) }
}

function latencyOf(counts: readonly MessageCounts[]) {
  const timed = sum(counts, (row) => row.timed)
  const buckets = [
    [1_000, sum(counts, (row) => row.ms1000)],
    [5_000, sum(counts, (row) => row.ms5000)],
    [30_000, sum(counts, (row) => row.ms30000)],
    [300_000, sum(counts, (row) => row.ms300000)],
  ] as const
  return {
    send_p50_ms: percentile(buckets, timed * 0.5),
    send_p95_ms: percentile(buckets, timed * 0.95),
  }
}

/** The upper bound of the bucket with sample number `rank`. */
function percentile(buckets: readonly (readonly [boundMs: number, count: number])[], rank: number) {
  if (rank === 0) return null
  return buckets.find(([, count]) => count >= rank)?.[0] ?? null
}

/** Bounds of the last thirds of days, including the current one. */
function thirdsUntil(now: number, zone: string): readonly number[] {
  const today = dayOf(now, zone)
  const days = Array.from({ length: THIRDS / 3 + 2 }, (_, place) =>
    startOfDay(today - THIRDS / 3 + place, zone),
  )
  const thirds = days.slice(0, -1).flatMap((start, place) => {
    const third = ((days[place + 1] ?? start) - start) / 3
    return [start, start + third, start + 2 * third]
  })
  const bounds = [...thirds, ...days.slice(-1)]
  const end = bounds.findIndex((bound) => bound > now)
  return bounds.slice(end - THIRDS, end + 1)
}

type CountedAttempts = AttemptCounts & { readonly quarter: number }

function stripOf(id: WebhookId, rows: readonly CountedAttempts[], now: number): api.WebhookStrip {
  const from = firstHalfHour(now)
  const cells = Array.from({ length: HALF_HOURS }, (_, place) => {
    const start = (from + place * HALF_HOUR_MS) / QUARTER_MS
    const inside = rows.filter(({ quarter }) => quarter === start || quarter === start + 1)
    const ok = sum(inside.filter(isDelivered), ({ attempts }) => attempts)
    return { ok, failed: sum(inside, ({ attempts }) => attempts) - ok }
  })
  const taken = rows.filter(isDelivered)
  const delivered = sum(taken, ({ attempts }) => attempts)
  const buckets = [
    [50, sum(taken, ({ ms50 }) => ms50)],
    [250, sum(taken, ({ ms250 }) => ms250)],
    [1_000, sum(taken, ({ ms1000 }) => ms1000)],
    [5_000, sum(taken, ({ ms5000 }) => ms5000)],
  ] as const
  return {
    webhook_id: id,
    from: isoTime(timestamp(from)),
    cells,
    p50_ms: percentile(buckets, delivered * 0.5),
    p95_ms: percentile(buckets, delivered * 0.95),
    causes: causesOf(rows),
  }
}

/** Start of the first half hour shown; the current one is the last. */
function firstHalfHour(now: number): number {
  return (Math.floor(now / HALF_HOUR_MS) - HALF_HOURS + 1) * HALF_HOUR_MS
}

function isDelivered({ outcome }: AttemptCounts): boolean {
  return outcome === 'delivered'
}

function causesOf(rows: readonly AttemptCounts[]): readonly api.FailureCause[] {
  const counts = new Map<api.FailureCause['cause'], number>()
  for (const { outcome, attempts } of rows) {
    if (outcome !== 'delivered') counts.set(outcome, (counts.get(outcome) ?? 0) + attempts)
  }
  return [...counts].map(([cause, count]) => ({ cause, count })).sort((a, b) => b.count - a.count)
}

function sum<T>(rows: readonly T[], of: (row: T) => number): number {
  return rows.reduce((total, row) => total + of(row), 0)
}
