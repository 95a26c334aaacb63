// Sends many deliveries again: exhausted ones, or everything that a webhook missed since a time. A dry run chooses by
// the same code, batch by batch. Deliveries that were queued before a crash or a stop stay queued, and repeating the
// call continues with the rest.

import type { AuditedChange, Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import {
  timestamp,
  type DeliveryId,
  type LineId,
  type Timestamp,
  type WebhookId,
} from '../domain/ids.ts'
import { narrowed } from '../domain/permissions.ts'
import { MISSED_MAX } from '../domain/webhook-state.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  countReplayed,
  deliveryOf,
  insertDelivery,
  listExhausted,
  restartDelivery,
  stopReplayed,
} from '../storage/deliveries.ts'
import {
  listEvents,
  writeEventBody,
  type EventFilter,
  type StoredEvent,
} from '../storage/events.ts'
import { everyLineId } from '../storage/lines.ts'
import { firstSeqSince } from '../storage/seq-by-time.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import { isoTime } from '../system/iso-time.ts'
import { bodyOf } from './event-log.ts'
import type { WebhookQueues } from './loop.ts'
import { isExpressible } from './payload.ts'
import type { DeliverySignals } from './publish.ts'
import { requireListed } from './resource.ts'
import { requireActive, webhookById } from './subscriptions.ts'

export type RetryRequest = {
  /** Null for all events that the webhook wants. */
  readonly events: readonly EventName[] | null
  /** The line's id as the caller wrote it; null for all lines. */
  readonly lineId: string | null
  /** Only counts. */
  readonly isDryRun: boolean
}

export type ReplayRequest = RetryRequest & {
  readonly since: Timestamp
  /** Includes events from before the webhook was created. */
  readonly includesEarlier: boolean
}

const BATCH = 500
/** Most deliveries per call; a second call continues with the rest. */
export const CALL_MAX = MISSED_MAX

export function createReplay(
  core: Core,
  { signals, queues }: { readonly signals: DeliverySignals; readonly queues: WebhookQueues },
) {
  const { db } = core
  const running = new Set<Run>()
  const runFor = async (id: string, request: RetryRequest, act: ReplayCall): Promise<number> => {
    const webhook = webhookById(db, id)
    requireActive(webhook)
    requireListed(webhook)
    const { events, lineId } = request
    const filter = { events, lineId: lineId === null ? null : lineIdIn(db, lineId) }
    const run: Run = { webhookId: webhook.id, filter, isStopped: false }
    running.add(run)
    try {
      return await runToEnd(core, signals, run, { isDryRun: request.isDryRun, act })
    } finally {
      running.delete(run)
    }
  }
  return {
    /** Queues exhausted deliveries once more; returns their number. */
    retryFailed: (id: string, request: RetryRequest, origin: Origin): Promise<number> =>
      runFor(id, request, {
        origin,
        action: 'webhook.retried',
        after: auditedFields(request),
        choose(tx, { webhook, fromSeq, limit, filter }) {
          const rows = listExhausted(tx, webhook.seq, filter, { fromSeq, limit })
          const last = rows.length < limit ? undefined : rows.at(-1)
          const nextSeq = last === undefined ? null : last.seq + 1
          return { sends: rows.map((row) => restart(tx, row.id)), nextSeq }
        },
      }),
    /** Queues deliveries exhausted since a time, and events without a delivery; returns their number. */
    replay: (id: string, request: ReplayRequest, origin: Origin): Promise<number> =>
      runFor(id, request, {
        origin,
        action: 'webhook.replayed',
        after: {
          ...auditedFields(request),
          since: isoTime(request.since),
          include_earlier: request.includesEarlier,
        },
        choose(tx, { webhook, fromSeq, limit, filter }) {
          const from = fromSeq === 0 ? firstSeqSince(tx, 'events', request.since) : fromSeq
          const { events, upTo, isEnd } = listEvents(tx, from - 1, filter, limit)
          const sends = events.flatMap((event) => resendOfMissed(tx, event, webhook, request) ?? [])
          return { sends, nextSeq: isEnd ? null : upTo + 1 }
        },
      }),
    countReplayed: (id: string): number => countReplayed(db, webhookById(db, id).seq),
    /** Cancels pending deliveries of replays and retries; returns their number. */
    stopReplay: (id: string, origin: Origin): Promise<number> =>
      stopReplay(core, signals, id, { running, queues, origin }),
  }
}

type Run = {
  readonly webhookId: WebhookId
  readonly filter: Pick<RetryRequest, 'events' | 'lineId'>
  isStopped: boolean
}

/** Limits a run to the webhook's own lines. */
function filterOf(db: Db, webhook: StoredWebhook, { filter }: Run): EventFilter {
  const lines = narrowed(linesWithin(db, webhook), filter.lineId ?? undefined)
  return { names: filter.events, lineIds: lines, conversationIds: null }
}

/** Queues one delivery. A dry run counts it without calling it. */
type QueueDelivery = (at: {
  readonly webhookSeq: number
  readonly newId: () => DeliveryId
  readonly now: Timestamp
  readonly replayedAt: Timestamp
}) => void

/** A call's choice of deliveries, batch by batch, and its entry in the audit log. */
type ReplayCall = Pick<AuditedChange, 'action' | 'after'> & {
  readonly origin: Origin
  /** Chooses a batch that starts at `fromSeq`, 0 for the first one. `nextSeq` is null after the last. */
  readonly choose: (
    tx: Tx,
    from: {
      readonly webhook: StoredWebhook
      readonly fromSeq: number
      readonly limit: number
      readonly filter: EventFilter
    },
  ) => { readonly sends: readonly QueueDelivery[]; readonly nextSeq: number | null }
}

function auditedFields({ events, lineId }: RetryRequest) {
  return { events, phone_line_id: lineId }
}

async function runToEnd(
  { writer, audit, ids, clock }: Core,
  signals: DeliverySignals,
  run: Run,
  { isDryRun, act }: { readonly isDryRun: boolean; readonly act: ReplayCall },
): Promise<number> {
  let fromSeq: number | null = 0
  let count = 0
  while (fromSeq !== null && count < CALL_MAX) {
    const start: number = fromSeq
    const limit = Math.min(BATCH, CALL_MAX - count)
    const batch = await writer.write((tx) => {
      if (run.isStopped) return { count: 0, nextSeq: null }
      const webhook = webhookById(tx, run.webhookId)
      requireActive(webhook)
      const { sends, nextSeq } = act.choose(tx, {
        webhook,
        fromSeq: start,
        limit,
        filter: filterOf(tx, webhook, run),
      })
      if (isDryRun) return { count: sends.length, nextSeq }
      if (start === 0) {
        const about = { kind: 'webhook', id: webhook.id } as const
        audit.record(tx, act.origin, { action: act.action, about, after: act.after })
      }
      const times = { now: timestamp(clock.now()), replayedAt: ids.now() }
      for (const send of sends) {
        send({ webhookSeq: webhook.seq, newId: () => ids.id('dlv'), ...times })
      }
      signals.note('due', webhook.id)
      return { count: sends.length, nextSeq }
    })
    count += batch.count
    fromSeq = batch.nextSeq
  }
  return count
}

function restart(tx: Tx, id: DeliveryId): QueueDelivery {
  return ({ now, replayedAt }) => restartDelivery(tx, id, { now, replayedAt })
}

/** A way to send an event again; null if the webhook didn't miss it. */
function resendOfMissed(
  tx: Tx,
  event: StoredEvent,
  webhook: StoredWebhook,
  { includesEarlier }: Pick<ReplayRequest, 'includesEarlier'>,
): QueueDelivery | null {
  const delivery = deliveryOf(tx, event.seq, webhook.seq)
  if (delivery !== null) return delivery.status === 'exhausted' ? restart(tx, delivery.id) : null
  // An event of the same millisecond is older: newer ones have a delivery.
  const isEarlier = event.createdAt <= webhook.createdAt
  if (!webhook.events.includes(event.name) || (isEarlier && !includesEarlier)) return null
  const { seq: eventSeq } = event
  const body = bodyOf(tx, event)
  // The body was never written, and the message is gone.
  if (body === null || !isExpressible(webhook.format, body)) return null
  return ({ webhookSeq, newId, now, replayedAt }) => {
    if (event.body === null) writeEventBody(tx, eventSeq, body)
    const times = { createdAt: replayedAt, replayedAt, nextAttemptAt: now, requestedAt: null }
    insertDelivery(tx, { id: newId(), webhookSeq, eventSeq, ...times })
  }
}

async function stopReplay(
  { db, writer, ids, audit }: Core,
  signals: DeliverySignals,
  id: string,
  stop: {
    readonly running: ReadonlySet<Run>
    readonly queues: WebhookQueues
    readonly origin: Origin
  },
): Promise<number> {
  const { running, queues, origin } = stop
  const webhook = webhookById(db, id)
  for (const run of running) if (run.webhookId === webhook.id) run.isStopped = true
  let stopped = 0
  let isFirst = true
  let batch: number
  do {
    batch = await writer.write((tx) => {
      if (isFirst) {
        const about = { kind: 'webhook', id: webhook.id } as const
        audit.record(tx, origin, { action: 'webhook.replay_stopped', about })
      }
      const count = stopReplayed(tx, webhook, {
        now: ids.now(),
        inFlight: queues.inFlight(webhook.id),
        limit: BATCH,
      })
      // Makes the loop drop deliveries that it has read ahead.
      signals.note('changed', webhook.id)
      return count
    })
    stopped += batch
    isFirst = false
  } while (batch === BATCH)
  return stopped
}

/** The line with this id, even if it was deleted. Throws `phone_line_not_found`. */
function lineIdIn(db: Db, text: string): LineId {
  const known = everyLineId(db).find((id) => id === text)
  if (known !== undefined) return known
  throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
}
