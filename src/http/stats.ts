// Figures: by day for the API, and for the pictures of the page.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { DASHBOARD } from '../api/operations/dashboard.ts'
import { Stats } from '../api/stats.ts'
import { timeZoneNamed } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import { TIME_ZONE_KIND } from '../domain/setting.ts'
import type { createPictures } from '../stats/pictures.ts'
import { bind } from './bind.ts'
import { operation } from './operation.ts'
import { readQuery } from './query.ts'
import { linesOf } from './request-context.ts'

export type Pictures = ReturnType<typeof createPictures>

const DAYS_MAX = 400
const DAYS_DEFAULT = 14

const StatsQuery = Type.Object({
  days: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    default: DAYS_DEFAULT,
    description: 'How many days, today included.',
  }),
  time_zone: Type.Optional(
    Type.String({
      description: 'IANA name of the time zone of the days; UTC where it is left out.',
      example: 'Europe/Berlin',
    }),
  ),
})

const STATS = operation('Messages', {
  id: 'getStats',
  summary: 'Read figures by day',
  description:
    'Messages by line, day on which they were recorded, and current outcome; oldest day first. ' +
    'Queued messages are not counted. With `time_zone` also new contacts and the time until messages were sent.',
  scope: 'messages:read',
  query: StatsQuery,
  answers: { 200: Stats },
})

export function statsRoutes({ stats }: Pick<Pictures, 'stats'>) {
  return new Elysia().get(
    '/api/v1/stats',
    ({ request }) => {
      const lines = linesOf(request)
      const { days, time_zone } = readQuery(request, StatsQuery)
      const zone = time_zone === undefined ? null : zoneNamed(time_zone)
      return { data: stats(days, zone, lines) }
    },
    STATS,
  )
}

function zoneNamed(text: string): string {
  const zone = timeZoneNamed(text)
  if (zone !== null) return zone
  throw invalidRequest({ path: 'time_zone', message: `must be ${TIME_ZONE_KIND.wanted}` })
}

/** For signed-in browsers, one request for each page. */
export function pictureBindings({ home, line, webhook }: Pictures) {
  return [
    bind(DASHBOARD.getHomePictures, () => home()),
    bind(DASHBOARD.getLinePictures, ({ params }) => line(params.id)),
    bind(DASHBOARD.getWebhookPictures, ({ params }) => webhook(params.id)),
  ]
}
