import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { type DayStats, Stats } from '../api/messages.ts'
import { callerOf } from './exchange.ts'
import { operation } from './operation.ts'
import { readQuery } from './query.ts'

export type StatsActions = {
  /** The figures of that many UTC days, today's last. */
  readonly stats: (days: number) => readonly DayStats[]
}

const DAYS_MAX = 200
const DAYS_DEFAULT = 14

const StatsQuery = Type.Object({
  days: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    default: DAYS_DEFAULT,
    description: 'How many days, today included.',
  }),
})

const STATS = operation({
  id: 'getStats',
  summary: 'Read figures by day',
  description:
    'Messages by line and UTC day on which they were recorded, oldest day first, and by what has ' +
    'become of them until now. Messages that still wait are in none of the figures.',
  tag: 'Messages',
  query: StatsQuery,
  answers: { 200: Stats },
})

export function statsRoutes({ stats }: StatsActions) {
  return new Elysia().get(
    '/api/v1/stats',
    ({ request }) => {
      callerOf(request)
      const { days } = readQuery(request, StatsQuery)
      return { data: stats(days) }
    },
    STATS,
  )
}
