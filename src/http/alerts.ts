import { ALERTS } from '../api/operations/alerts.ts'
import { bind, bindRemoval } from './bind.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, linesOf, viewerOf } from './request-context.ts'

/** Reads, which keys may call. */
export function alertBindings(alerts: Relay['alerts']) {
  return [
    bind(ALERTS.listAlerts, ({ request, query }) => {
      const { lineIds: lines, limits } = viewerOf(request)
      return alerts.list(pageOfQuery(query), { lines, limits })
    }),
    bind(ALERTS.listAlertChannels, ({ request }) =>
      alerts.channels({ isOwner: callerOf(request).kind !== 'key', lines: linesOf(request) }),
    ),
    bind(ALERTS.listAlertRules, ({ request }) => alerts.rules(linesOf(request))),
  ]
}

/** Changes, which only the owner may make. */
export function alertChangeBindings(alerts: Relay['alerts']) {
  return [
    bind(ALERTS.createAlertChannel, ({ body, origin }) => alerts.addChannel(body, origin)),
    bind(ALERTS.updateAlertChannel, ({ params, body, origin }) =>
      alerts.changeChannel(params.id, body, origin),
    ),
    bindRemoval(ALERTS.deleteAlertChannel, alerts),
    bind(ALERTS.testAlertChannel, ({ params }) => alerts.test(params.id)),
    bind(ALERTS.putAlertRule, ({ body, origin }) => alerts.changeRule(body, origin)),
  ]
}
