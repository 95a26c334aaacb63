// Messages by day for the API, and charts for the dashboard.

import { DASHBOARD } from '../api/operations/dashboard.ts'
import { MESSAGES } from '../api/operations/messages.ts'
import { timeZoneNamed } from '../domain/days.ts'
import { invalidRequest } from '../domain/errors.ts'
import { permissionsOf } from '../domain/permissions.ts'
import { TIME_ZONE_KIND } from '../domain/setting.ts'
import { bind } from './bind.ts'
import type { Relay } from './relay.ts'
import { callerOf, linesOf } from './request-context.ts'

export function statsBindings({ charts, sites }: Pick<Relay, 'charts' | 'sites'>) {
  return [
    bind(MESSAGES.getStats, ({ request, query }) => {
      const { days, time_zone, site_id } = query
      const seen = site_id === undefined ? [] : sites.list(permissionsOf(callerOf(request)).limits)
      const ofSite = seen.find(({ id }) => id === site_id)?.time_zone ?? null
      const named = time_zone === undefined ? null : zoneNamed(time_zone)
      const zone = named ?? ofSite
      const lines = linesOf(request, query)
      const first = charts.firstContacts(named, lines)
      const data = charts.stats(days, { zone, ofSite }, lines)
      return { data, ...(first && { first_contacts: first }) }
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
    bind(DASHBOARD.getHomePictures, ({ request, query }) => charts.home(linesOf(request, query))),
    bind(DASHBOARD.getLinePictures, ({ params }) => charts.line(params.id)),
    bind(DASHBOARD.getWebhookPictures, ({ params }) => charts.webhook(params.id)),
  ]
}
