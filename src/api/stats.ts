// Messages by day, and the numbers behind the dashboard's charts.

import { Type } from 'typebox'

import type { AttemptOutcome } from '../domain/webhook.ts'
import { count, type Shape, id, nullish, objectSchema, text } from './schema.ts'

const FIGURES = {
  sent: count('Sent, delivered or read; typed on the device included.'),
  received: Type.Integer(),
  failed: count('Failed or expired.'),
  uncertain: count('Handed to the device; sending is not confirmed.'),
}

const NEW_CONTACTS = Type.Optional(
  count(
    "Only if `time_zone` is the relay's own: new contacts that count toward the limit of the day.",
  ),
)

const percentile = (share: string) =>
  nullish(
    Type.Integer({
      description:
        `With \`time_zone\` only: upper bound of the bucket (1 s, 5 s, 30 s, 5 min) within which ${share} of ` +
        'the messages were sent after they were accepted; null above the last, and without messages.',
    }),
  )

const FirstContacts = objectSchema(
  'FirstContacts',
  {
    people: count('New contacts whose first message left the line.'),
    answered: count('Of these, the people who have written since.'),
    failed: count('People to whom a message failed before they had answered, each once.'),
  },
  'Of the last 7 or 28 days, today included.',
)

const LineFirstContacts = objectSchema('LineFirstContacts', {
  phone_line_id: id('line', 'The line.'),
  days_7: FirstContacts,
  days_28: FirstContacts,
})
export type LineFirstContacts = Shape<typeof LineFirstContacts>

export const Stats = objectSchema('Stats', {
  first_contacts: Type.Optional(
    Type.Array(LineFirstContacts, {
      description: "People to whom each line wrote first. Only if `time_zone` is the relay's own.",
    }),
  ),
  data: Type.Array(
    objectSchema('DayStats', {
      date: text('A day of the time zone.', '2026-11-21'),
      ...FIGURES,
      new_contacts: NEW_CONTACTS,
      send_p50_ms: percentile('half'),
      send_p95_ms: percentile('95 %'),
      lines: Type.Array(
        objectSchema('LineDayStats', {
          phone_line_id: id('line', 'The line.'),
          ...FIGURES,
          new_contacts: NEW_CONTACTS,
        }),
        { description: 'The lines that had messages on that day.' },
      ),
    }),
  ),
})
export type DayStats = Shape<typeof Stats>['data'][number]
/** Messages by their outcome so far. */
export type MessageFigures = Pick<DayStats, keyof typeof FIGURES>

// The charts. Times are ISO 8601; days and cells come oldest first. A percentile is the upper bound of its
// bucket; null above the last bucket, and if there is nothing to count.

/** Buckets end at 1 s, 5 s, 30 s and 5 min. */
type SendLatency = { readonly send_p50_ms: number | null; readonly send_p95_ms: number | null }

export type ChartDay = MessageFigures &
  SendLatency & {
    /** A day in the relay's time zone: `2026-11-21`. */
    readonly day: string
    readonly new_contacts: number
  }

/** A stretch of time, and how long a line was online in it. */
export type UptimeCell = {
  readonly from: string
  /** Exclusive; the last cell ends in the future. */
  readonly to: string
  /** From 0 to 1, of the time for which the state is known; null if none of it is. */
  readonly online_share: number | null
  /** Time offline by reason, longest first: codes as in `status_reason`, and `relay_stopped`. */
  readonly reasons: readonly { readonly reason: string; readonly seconds: number }[]
}

/** Messages and deliveries that waited at that time. */
export type QueueSample = {
  readonly at: string
  readonly messages: number
  readonly deliveries: number
}

/** The number of failed attempts with this cause; lists have the most frequent cause first. */
export type FailureCause = {
  readonly cause: Exclude<AttemptOutcome, 'delivered'>
  readonly count: number
}

/** Attempts to deliver in the last 24 hours. */
export type WebhookStrip = {
  readonly webhook_id: string
  /** Start of the first cell. There are 48, of half an hour each. */
  readonly from: string
  readonly cells: readonly { readonly ok: number; readonly failed: number }[]
  /** Percentiles of delivered attempts. Buckets end at 50, 250, 1,000 and 5,000 ms. */
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly causes: readonly FailureCause[]
}

/** `GET /dashboard/pictures/home`. */
export type HomeChartData = {
  readonly time_zone: string
  /** The last 14 days, today included. */
  readonly days: readonly (ChartDay & {
    readonly lines: readonly (MessageFigures & {
      readonly phone_line_id: string
      readonly new_contacts: number
    })[]
  })[]
  /** 90 cells of 8 hours for each line. */
  readonly uptime: readonly {
    readonly phone_line_id: string
    readonly cells: readonly UptimeCell[]
  }[]
  /** A sample every 5 minutes of the last 24 hours, and one of now. */
  readonly queue: readonly QueueSample[]
  readonly webhooks: readonly WebhookStrip[]
}

/** `GET /dashboard/pictures/line/:id`. */
export type LineChartData = SendLatency & {
  readonly phone_line_id: string
  readonly time_zone: string
  readonly daily_contact_limit: number
  readonly first_contacts: LineFirstContacts
  /** 168 cells of an hour. */
  readonly uptime: readonly UptimeCell[]
  /** The last 14 days, today included. The percentiles of the line are over all of them. */
  readonly days: readonly ChartDay[]
}

/** `GET /dashboard/pictures/webhook/:id`. */
export type WebhookChartData = WebhookStrip & {
  /** The share of attempts in the last 24 hours that were delivered, from 0 to 1; null without any attempt. */
  readonly success_share: number | null
  /** Causes of the last 7 days; `causes` is about 24 hours. */
  readonly causes_7_days: readonly FailureCause[]
}
