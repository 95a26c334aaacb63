// Messages by day for the API, and charts for the dashboard.

import { DASHBOARD } from '../api/operations/dashboard.ts'
import { MESSAGES } from '../api/operations/messages.ts'
import { timeZoneNamed } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import { TIME_ZONE_KIND } from '../domain/setting.ts'
import { bind } from './bind.ts'
import type { Relay } from './relay.ts'
import { linesOf } from './request-context.ts'

export function statsBindings(charts: Relay['charts']) {
  return [
    bind(MESSAGES.getStats, ({ request, query: { days, time_zone } }) => {
      const zone = time_zone === undefined ? null : zoneNamed(time_zone)
      const lines = linesOf(request)
      const first = charts.firstContacts(zone, lines)
      return { data: charts.stats(days, zone, lines), ...(first && { first_contacts: first }) }
    }),
  ]
}

function zoneNamed(text: string): string {
  const zone = timeZoneNamed(text)
  if (zone !== null) return zone
  throw invalidRequest({ path: 'time_zone', message: `must be ${TIME_ZONE_KIND.wanted}` })
}

export function chartBindings(charts: Relay['charts']) {
  return [
    bind(DASHBOARD.getHomePictures, () => charts.home()),
    bind(DASHBOARD.getLinePictures, ({ params }) => charts.line(params.id)),
    bind(DASHBOARD.getWebhookPictures, ({ params }) => charts.webhook(params.id)),
  ]
}
