// The service itself: health, probes, metrics and the audit trail.

import type { AuditEntry } from '../api/audit.ts'
import type { HealthFinding } from '../api/health.ts'
import { SERVICE } from '../api/operations/service.ts'
import type { PageRequest } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { RelayError } from '../domain/errors.ts'
import { hasScope } from '../domain/permissions.ts'
import type { AuditFilter } from '../storage/audit.ts'
import type { Db } from '../storage/database.ts'
import { isSeenBy, type Viewer } from '../storage/line-limits.ts'
import type { Metrics } from '../system/metrics.ts'
import type { AuthenticationTools } from './authentication.ts'
import { bind } from './bind.ts'
import { type SchemeOptions, isLoopbackOnly } from './hosts.ts'
import { pageOfQuery } from './query.ts'
import { contextOf, viewerOf } from './request-context.ts'
import { errorResponse, respond } from './respond.ts'

/** The relay's phase, and its disk. */
export type Life = {
  /** `checking` is the startup check: the database is open, and only the listener runs. */
  phase(): 'starting' | 'checking' | 'running' | 'stopping'
  /** True once the database is open and migrated. */
  isReady(): boolean
  /** True while the disk is nearly full and nothing is accepted. */
  isStorageFull(): boolean
}

export function lifeOf(
  relay: { readonly phase: ReturnType<Life['phase']> },
  disk: { readonly isLow: boolean },
): Life {
  return {
    phase: () => relay.phase,
    isReady: () => relay.phase !== 'starting',
    isStorageFull: () => disk.isLow,
  }
}

export type HealthActions = {
  readonly life: Life
  readonly metrics: Metrics
  /** True where a setting opens the metrics to other machines. */
  readonly isMetricsOpen: () => boolean
  readonly findings: () => Promise<readonly HealthFinding[]>
}

const RETRY_SECONDS = 5

type HealthTools = HealthActions &
  SchemeOptions &
  Pick<AuthenticationTools, 'authenticate'> & { readonly db: Db }

export function healthBindings(tools: HealthTools) {
  const { life, metrics, findings } = tools
  return [
    bind(SERVICE.listHealthFindings, async ({ request }) => {
      const viewer = viewerOf(request)
      const found = await findings()
      return { data: found.filter(({ about }) => isShown(tools.db, viewer, about)) }
    }),
    bind(SERVICE.getLiveness, () => ({ status: 'ok' as const })),
    bind(SERVICE.getReadiness, ({ request }) => readiness(life, contextOf(request).requestId)),
    bind(SERVICE.getMetrics, ({ request }) => {
      const { requestId } = contextOf(request)
      if (!maySeeMetrics(tools, request)) throw metricsClosed()
      const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
      return respond(metrics.text(), { status: 200, requestId, headers })
    }),
  ]
}

/** A caller of certain lines learns nothing of devices without a line. */
function isShown(db: Db, viewer: Viewer, { kind, id }: HealthFinding['about']): boolean {
  if (viewer.lineIds === null || kind === 'relay') return true
  return id !== null && (kind === 'line' || kind === 'webhook') && isSeenBy(db, viewer, id)
}

function maySeeMetrics(tools: HealthTools, request: Request): boolean {
  const { headers } = request
  if (tools.isMetricsOpen() || isLoopbackOnly(headers, contextOf(request).peer, tools)) return true
  const key = headers.get('x-api-key')
  const secret = headers.get('x-api-secret')
  const caller = key === null || secret === null ? null : tools.authenticate(key, secret)
  if (caller === null) return false
  return caller.permissions.lineIds === null && hasScope(caller.permissions, 'health:read')
}

/** Throws while the relay starts or stops. */
export function requireRunning(life: Life): void {
  const phase = life.phase()
  if (phase !== 'running') throw notRunning(phase === 'stopping' ? 'stopping' : 'starting')
}

function readiness(life: Life, requestId: string): Response {
  const phase = life.phase()
  if (phase === 'stopping') return errorResponse(notRunning('stopping'), requestId)
  if (!life.isReady()) return errorResponse(notRunning('starting'), requestId)
  const ready = { status: 'ready', ...(life.isStorageFull() ? { storage_full: true } : {}) }
  return respond(JSON.stringify(ready), { status: 200, requestId })
}

function notRunning(phase: 'starting' | 'stopping'): RelayError {
  return new RelayError(phase, `The relay is ${phase}: try again in a few seconds.`, {
    retryAfterSeconds: RETRY_SECONDS,
  })
}

function metricsClosed(): RelayError {
  const message =
    'The metrics are for this machine, and for calls with an API key; the setting open_metrics opens them.'
  return new RelayError('not_found', message)
}

export type ListAudit = (filter: AuditFilter, page: PageRequest) => Page<AuditEntry>

export function auditBindings(listAudit: ListAudit) {
  return [bind(SERVICE.listAudit, ({ query }) => listAudit(query, pageOfQuery(query)))]
}
