// Figures: messages by day, and the numbers from which the dashboard draws its charts.

import { Type } from 'typebox'

import type { AttemptOutcome } from '../domain/webhook.ts'
import { type Shape, id, nullable, objectSchema } from './schema.ts'

const FIGURES = {
  sent: Type.Integer({ description: 'Sent, delivered or read; typed on the device included.' }),
  received: Type.Integer(),
  failed: Type.Integer({ description: 'Failed or expired.' }),
  uncertain: Type.Integer({ description: 'Handed to the device; sending is not confirmed.' }),
}

const NEW_CONTACTS = Type.Optional(
  Type.Integer({
    description:
      "With `time_zone` only, where that is the relay's own: new contacts that count toward the limit of the day.",
  }),
)

const percentile = (share: string) =>
  Type.Optional(
    nullable(
      Type.Integer({
        description:
          `With \`time_zone\` only: upper bound of the bucket (1 s, 5 s, 30 s, 5 min) within which ${share} of ` +
          'the messages were sent after they were accepted; null above the last, and without messages.',
      }),
    ),
  )

export const Stats = objectSchema('Stats', {
  data: Type.Array(
    objectSchema('DayStats', {
      date: Type.String({ description: 'A day of the time zone.', example: '2026-11-21' }),
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

// The charts, for signed-in browsers. Times are ISO 8601, days and cells oldest first. Percentiles are the
// upper bound of the bucket in which they fall; null above the last bucket, and where there is nothing.

/** Upper bounds 1 s, 5 s, 30 s and 5 min. */
type SendLatency = { readonly send_p50_ms: number | null; readonly send_p95_ms: number | null }

export type ChartDay = MessageFigures &
  SendLatency & {
    /** A day of the relay's time zone, as `2026-11-21`. */
    readonly day: string
    readonly new_contacts: number
  }

/** A stretch of time, and the states of a line in it. */
export type UptimeCell = {
  readonly from: string
  /** Exclusive; for the latest cell that is still to come in part. */
  readonly to: string
  /** Share of the known time from 0 to 1; null where nothing is known. */
  readonly online_share: number | null
  /** Time offline, longest first: codes as in `status_reason`, and `relay_stopped`. */
  readonly reasons: readonly { readonly reason: string; readonly seconds: number }[]
}

/** Messages and deliveries that waited at that time. */
export type QueueSample = {
  readonly at: string
  readonly messages: number
  readonly deliveries: number
}

/** Failed attempts by their cause, the most frequent first. */
export type FailureCause = {
  readonly cause: Exclude<AttemptOutcome, 'delivered'>
  readonly count: number
}

/** Attempts to deliver in the last 24 hours. */
export type WebhookStrip = {
  readonly webhook_id: string
  /** Start of the first of 48 half hours. */
  readonly from: string
  readonly cells: readonly { readonly ok: number; readonly failed: number }[]
  /** Of attempts that were delivered. Upper bounds 50, 250, 1,000 and 5,000 ms. */
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
  /** Of each line: 90 cells of 8 hours, thirds of a day. */
  readonly uptime: readonly {
    readonly phone_line_id: string
    readonly cells: readonly UptimeCell[]
  }[]
  /** Of the last 24 hours, a sample each 5 minutes, and now. */
  readonly queue: readonly QueueSample[]
  readonly webhooks: readonly WebhookStrip[]
}

/** `GET /dashboard/pictures/line/:id`. */
export type LineChartData = SendLatency & {
  readonly phone_line_id: string
  readonly time_zone: string
  readonly daily_contact_limit: number
  /** 168 cells of an hour. */
  readonly uptime: readonly UptimeCell[]
  /** The last 14 days, today included; the percentiles beside them are of all of them. */
  readonly days: readonly ChartDay[]
}

/** `GET /dashboard/pictures/webhook/:id`. */
export type WebhookChartData = WebhookStrip & {
  /** Delivered attempts of the last 24 hours, from 0 to 1; null without any attempt. */
  readonly success_share: number | null
  /** Causes of 7 days; `causes` are those of 24 hours. */
  readonly causes_7_days: readonly FailureCause[]
}
