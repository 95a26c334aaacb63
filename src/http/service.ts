// Health, probes, metrics and the audit trail.

import type { HealthFinding } from '../api/health.ts'
import { SERVICE } from '../api/operations/service.ts'
import { RelayError } from '../domain/errors.ts'
import { hasScope, mayCall, permissionsOf, type OperationRights } from '../domain/permissions.ts'
import { listAudit } from '../storage/audit.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy, type Viewer } from '../storage/line-limits.ts'
import { keyIn } from './authentication.ts'
import { bind } from './bind.ts'
import { isLoopbackOnly } from './hosts.ts'
import { pageOfQuery } from './input.ts'
import type { Relay } from './relay.ts'
import { callerOf, contextOf, limitsAsked, linesOf, viewerOf } from './request-context.ts'
import { errorResponse, notRunning, respondTo } from './respond.ts'

export function healthBindings(
  { db, settings }: Core,
  relay: Pick<Relay, 'authenticate' | 'disk' | 'health' | 'hosts' | 'life' | 'metrics'>,
) {
  const maySeeMetrics = (request: Request): boolean => {
    const { headers } = request
    const { peer } = contextOf(request)
    if (settings.get('open_metrics') || isLoopbackOnly(headers, peer, relay.hosts)) return true
    const caller = keyIn(headers, relay.authenticate)
    if (caller === null || caller.madeFor !== null) return false
    return caller.permissions.lineIds === null && hasScope(caller.permissions, 'health:read')
  }
  return [
    bind(SERVICE.listHealthFindings, async ({ request }) => {
      const viewer = viewerOf(request)
      const found = await relay.health.list()
      return { data: found.filter(({ about }) => isShown(db, viewer, about)) }
    }),
    bind(SERVICE.getLiveness, () => ({ status: 'ok' as const })),
    bind(SERVICE.getReadiness, ({ request }) => {
      const { phase } = relay.life
      if (phase === 'stopping' || phase === 'starting')
        return errorResponse(notRunning(phase), contextOf(request).requestId)
      const ready = { status: 'ready', ...(relay.disk.isLow ? { storage_full: true } : {}) }
      return respondTo(request, JSON.stringify(ready))
    }),
    bind(SERVICE.getMetrics, ({ request }) => {
      if (!maySeeMetrics(request)) throw new RelayError('not_found', METRICS_CLOSED)
      const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
      return respondTo(request, relay.metrics.text(), { headers })
    }),
  ]
}

/** A caller limited to some lines learns nothing about devices without a line. */
function isShown(db: Db, viewer: Viewer, { kind, id }: HealthFinding['about']): boolean {
  if (viewer.lineIds === null || kind === 'relay') return true
  return id !== null && (kind === 'line' || kind === 'webhook') && isSeenBy(db, viewer, id)
}

const METRICS_CLOSED =
  'The metrics are for this machine, and for calls with an API key; the setting open_metrics opens them.'

export function timelineBindings(read: Relay['timeline']) {
  return [
    bind(SERVICE.getTimeline, ({ request, query }) => {
      const lines = linesOf(request, query)
      const permissions = permissionsOf(callerOf(request))
      const limits = limitsAsked(permissions, query)
      // An entry is shown only if the caller may call the operation that reads its subject.
      const may = (operation: OperationRights) => mayCall(permissions, operation)
      return read({ lines, limits, may }, query, pageOfQuery(query))
    }),
  ]
}

export function auditBindings({ db }: Core) {
  return [bind(SERVICE.listAudit, ({ query }) => listAudit(db, query, pageOfQuery(query)))]
}
