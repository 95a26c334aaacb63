// Sends many deliveries again: those that a webhook gave up, or what it missed since a time. Counting
// and sending choose by the same code, batch by batch; what was put on its way before a crash or a stop
// is on its way, and the same call again goes on with the rest.

import type { AuditedChange, Origin } from '../domain/audit.ts'
import { RelayError } from '../domain/errors.ts'
import {
  timestamp,
  type ConversationId,
  type DeliveryId,
  type LineId,
  type Timestamp,
  type WebhookId,
} from '../domain/ids.ts'
import type { EventName } from '../domain/webhook.ts'
import type { Audit } from '../storage/audit.ts'
import type { Db, Tx } from '../storage/database.ts'
import {
  insertDelivery,
  countReplayed,
  listExhausted,
  restartDelivery,
  stopReplayed,
  type DeliveryFilter,
} from '../storage/deliveries.ts'
import {
  firstEventSince,
  listReplayableEvents,
  writeEventBody,
  type ReplayableEvent,
} from '../storage/events.ts'
import { everyLineId } from '../storage/lines.ts'
import { findMessage } from '../storage/messages.ts'
import type { StoredWebhook } from '../storage/webhooks.ts'
import type { Writer } from '../storage/writer.ts'
import type { Clock } from '../system/clock.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import { payloadOf } from './payload.ts'
import type { DeliverySignals } from './signals.ts'
import { requireActive, webhookById } from './subscriptions.ts'

export type ReplayParts = {
  readonly db: Db
  readonly writer: Writer
  readonly stamps: LogicalClock
  readonly clock: Clock
  readonly deliverySignals: DeliverySignals
  readonly audit: Pick<Audit, 'record'>
  /** The deliveries of a webhook whose requests are out, by their seq. */
  readonly inFlight: (id: WebhookId) => ReadonlySet<number>
}

export type RetryRequest = {
  /** Only these; null for all that the webhook wants. */
  readonly events: readonly EventName[] | null
  /** Only those of this line, as the caller wrote its id; null for every line. */
  readonly lineId: string | null
  /** Counts, and changes nothing. */
  readonly isDryRun: boolean
}

export type ReplayRequest = RetryRequest & {
  readonly since: Timestamp
  /** Whether events from before the webhook was made go too, though nobody waited for them. */
  readonly includesEarlier: boolean
}

const BATCH = 500
const STOP_BATCH = 5_000
/** Deliveries that one call puts on its way at most; a second call goes on with the rest. */
const CALL_MAX = 100_000

export function createReplay(parts: ReplayParts) {
  const running = new Set<Run>()
  const runFor = async (id: string, request: RetryRequest, act: Act): Promise<number> => {
    const { db } = parts
    const webhook = webhookById(db, id)
    requireActive(webhook)
    const { events, lineId } = request
    const filter = { events, lineId: lineId === null ? null : lineIdIn(db, lineId) }
    const run: Run = { webhookId: webhook.id, filter, isStopped: false }
    running.add(run)
    try {
      return await runToEnd(parts, run, { isDryRun: request.isDryRun, act })
    } finally {
      running.delete(run)
    }
  }
  return {
    /** Tries what was given up once more; says how many deliveries that are. */
    retryFailed: (id: string, request: RetryRequest, origin: Origin): Promise<number> =>
      runFor(id, request, {
        origin,
        action: 'webhook.retried',
        after: auditedFields(request),
        choose(tx, { webhook, fromSeq, run }) {
          const rows = listExhausted(tx, webhook.id, run.filter, { fromSeq, limit: BATCH })
          const chosen = rows.map((row) => ({ deliveryId: row.id }))
          return { chosen, nextSeq: seqAfter(rows) }
        },
      }),
    /** Sends what was given up since a time, and what the webhook has no delivery of. */
    replay: (id: string, request: ReplayRequest, origin: Origin): Promise<number> =>
      runFor(id, request, {
        origin,
        action: 'webhook.replayed',
        after: {
          ...auditedFields(request),
          since: isoTime(request.since),
          include_earlier: request.includesEarlier,
        },
        choose(tx, { webhook, fromSeq, run }) {
          const from = fromSeq === 0 ? firstEventSince(tx, request.since) : fromSeq
          const events = listReplayableEvents(tx, webhook.id, from, BATCH)
          const missing = { webhook, run, request }
          const chosen = events.flatMap((event) => missed(tx, event, missing) ?? [])
          return { chosen, nextSeq: seqAfter(events) }
        },
      }),
    /** Replayed deliveries that still wait. */
    countReplayed: (id: string): number => countReplayed(parts.db, webhookById(parts.db, id).id),
    /** Stops what still waits of replays and retries; says how many deliveries that were. */
    stopReplay: (id: string, origin: Origin): Promise<number> =>
      stopReplay(parts, id, { running, origin }),
  }
}

/** A call that is being carried out. */
type Run = {
  readonly webhookId: WebhookId
  readonly filter: DeliveryFilter
  isStopped: boolean
}

/** A delivery that is to go again, or an event that the webhook has no delivery of. */
type Chosen = { readonly deliveryId: DeliveryId } | FirstDelivery

type FirstDelivery = {
  readonly deliveryId: null
  readonly eventSeq: number
  readonly conversationId: ConversationId | null
  /** The body that the event is to get first; null where it has one. */
  readonly body: string | null
}

/** Chooses a batch from `fromSeq` on, which is 0 for the first one; `nextSeq` is null after the last. */
type Choose = (
  tx: Tx,
  place: { readonly webhook: StoredWebhook; readonly fromSeq: number; readonly run: Run },
) => { readonly chosen: readonly Chosen[]; readonly nextSeq: number | null }

/** Chooses what is sent, and what the audit trail says of that. */
type Act = Pick<AuditedChange, 'action' | 'after'> & {
  readonly origin: Origin
  readonly choose: Choose
}

function auditedFields({ events, lineId }: RetryRequest) {
  return { events, phone_line_id: lineId }
}

async function runToEnd(
  parts: ReplayParts,
  run: Run,
  { isDryRun, act }: { readonly isDryRun: boolean; readonly act: Act },
): Promise<number> {
  let fromSeq: number | null = 0
  let count = 0
  while (fromSeq !== null && count < CALL_MAX) {
    const start: number = fromSeq
    const batch = await parts.writer.write((tx) => {
      if (run.isStopped) return { count: 0, nextSeq: null }
      const webhook = webhookById(tx, run.webhookId)
      requireActive(webhook)
      const found = act.choose(tx, { webhook, fromSeq: start, run })
      if (!isDryRun && start === 0) {
        const about = { kind: 'webhook', id: webhook.id } as const
        parts.audit.record(tx, act.origin, { action: act.action, about, after: act.after })
      }
      if (!isDryRun) send(parts, tx, webhook.id, found.chosen)
      return { count: found.chosen.length, nextSeq: found.nextSeq }
    })
    count += batch.count
    fromSeq = batch.nextSeq
  }
  return count
}

function seqAfter(rows: readonly { readonly seq: number }[]): number | null {
  const last = rows.at(-1)
  return last === undefined || rows.length < BATCH ? null : last.seq + 1
}

type Missing = {
  readonly webhook: StoredWebhook
  readonly run: Run
  readonly request: Pick<ReplayRequest, 'includesEarlier'>
}

/** What is to be sent of an event; null where the webhook missed nothing, or it is not asked for. */
function missed(tx: Tx, event: ReplayableEvent, { webhook, run, request }: Missing): Chosen | null {
  const { name, deliveryId, deliveryStatus } = event
  const { events, lineId: wanted } = run.filter
  if (events?.includes(name) === false) return null
  const isOfLine = (lineId: string | null) => wanted === null || lineId === wanted
  if (deliveryId !== null) {
    return deliveryStatus === 'exhausted' && isOfLine(event.lineId) ? { deliveryId } : null
  }
  // One of the same millisecond came before: later ones have a delivery.
  const isEarlier = event.createdAt <= webhook.createdAt
  if (!webhook.events.includes(name) || (isEarlier && !request.includesEarlier)) return null
  return firstDelivery(tx, event, isOfLine)
}

/** The delivery of an event that the webhook has none of; null where the event's message is gone. */
function firstDelivery(
  tx: Tx,
  { seq: eventSeq, name, messageId, conversationId, hasBody, lineId }: ReplayableEvent,
  isOfLine: (lineId: string | null) => boolean,
): FirstDelivery | null {
  const first = { deliveryId: null, eventSeq, conversationId }
  if (hasBody === 1) return isOfLine(lineId) ? { ...first, body: null } : null
  const message = messageId === null ? null : findMessage(tx, messageId)
  if (message === null || !isOfLine(message.lineId)) return null
  return { ...first, body: payloadOf(name, message) }
}

function send(
  { writer, stamps, clock, deliverySignals }: ReplayParts,
  tx: Tx,
  webhookId: WebhookId,
  chosen: readonly Chosen[],
): void {
  const replayedAt = stamps.now()
  const now = timestamp(clock.now())
  for (const one of chosen) {
    if (one.deliveryId !== null) {
      restartDelivery(tx, one.deliveryId, { now, replayedAt })
      continue
    }
    const { eventSeq, conversationId, body } = one
    if (body !== null) writeEventBody(tx, eventSeq, body)
    const delivery = { id: stamps.id('dlv'), webhookId, eventSeq, conversationId }
    const times = { createdAt: replayedAt, replayedAt, nextAttemptAt: now, requestedAt: null }
    insertDelivery(tx, { ...delivery, ...times })
  }
  deliverySignals.due(webhookId)
  writer.afterCommit(() => deliverySignals.signal.notify())
}

async function stopReplay(
  { db, writer, stamps, deliverySignals, inFlight, audit }: ReplayParts,
  id: string,
  { running, origin }: { readonly running: ReadonlySet<Run>; readonly origin: Origin },
): Promise<number> {
  const webhook = webhookById(db, id)
  for (const run of running) if (run.webhookId === webhook.id) run.isStopped = true
  let stopped = 0
  let isFirst = true
  let batch: number
  do {
    batch = await writer.write((tx) => {
      const stop = { now: stamps.now(), inFlight: inFlight(webhook.id), limit: STOP_BATCH }
      if (isFirst) {
        const about = { kind: 'webhook', id: webhook.id } as const
        audit.record(tx, origin, { action: 'webhook.replay_stopped', about })
      }
      const count = stopReplayed(tx, webhook.id, stop)
      // What the loop has read ahead must not go out.
      deliverySignals.changed(webhook.id)
      writer.afterCommit(() => deliverySignals.signal.notify())
      return count
    })
    stopped += batch
    isFirst = false
  } while (batch === STOP_BATCH)
  return stopped
}

/** The line with an id as a caller wrote it, deleted ones included; throws `phone_line_not_found`. */
function lineIdIn(db: Db, text: string): LineId {
  const known = everyLineId(db).find((id) => id === text)
  if (known !== undefined) return known
  throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
}
