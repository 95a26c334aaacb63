// Tracks the states of messages handed to Messages. Their rows are read again by primary key, because no index covers
// the dates of delivery and reading.

import { timestamp } from '../../../domain/ids.ts'
import type { Receipt } from '../../../domain/message.ts'
import { dropOldest } from '../../../system/memoize.ts'
import type { Settlement } from '../../driver.ts'
import type { FileRow, MessageRow, OwnState, RowId } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

/** A `failed` message can still turn into `sent`. */
export type Stage = 'held' | 'failed' | 'sent' | 'delivered' | 'read'

/**
 * The stage that the flags of a row prove (the enumeration is Barcelona's): delivered and read for our own messages
 * only; `error` for a row with an error, or one that is finished and not sent.
 */
export function stageOf(state: OwnState): Stage | 'error' {
  if (state.error !== 0) return 'error'
  // Only one of many has received or read it, which is not a receipt of the whole group (mautrix).
  if (state.isInGroup && (state.isRead || state.isDelivered)) return 'sent'
  if (state.isRead) return 'read'
  if (state.isDelivered) return 'delivered'
  if (state.isSent) return 'sent'
  return state.isFinished && !state.isWaiting ? 'error' : 'held'
}

/** A row without a service has the line's own service. */
export function serviceOf({ service }: OwnState): string {
  return service === '' ? 'iMessage' : service
}

/** Ranges of FZErrorType codes, as Barcelona's headers of IMFoundation name them, and the API's words for them. */
const REASONS: readonly (readonly [first: number, last: number, reason: string])[] = [
  [3, 3, 'send_timed_out'],
  [4, 4, 'send_failed'],
  [6, 11, 'network_unavailable'],
  [12, 20, 'imessage_server_error'],
  [21, 23, 'not_on_imessage'],
  [24, 24, 'recipient_rejected'],
  [25, 25, 'attachment_failed'],
  [26, 29, 'encryption_failed'],
  [30, 33, 'imessage_account_problem'],
  [34, 36, 'attachment_failed'],
  [38, 38, 'system_update_needed'],
  [40, 40, 'imessage_account_problem'],
]

export function reasonOf(error: number): string {
  const known = REASONS.find(([first, last]) => error >= first && error <= last)
  return known?.[2] ?? 'send_failed'
}

type TrackedRow = {
  readonly guid: string
  readonly stage: Stage
  /** The published service. */
  readonly service: string
  /** The time when tracking began, in milliseconds since 1970. */
  readonly at: number
  /** If Messages takes longer than this to send it, in milliseconds, it counts as stuck. */
  readonly stuckMs: number
  /** Time at which the row was first seen with an error, or finished and not sent; null without an error. */
  readonly errorSince: number | null
}

type Followed = RowId & { readonly service?: string; readonly files?: readonly FileRow[] }

/** An error may clear: Messages tries again, or falls back to SMS. */
export const ERROR_GRACE_MS = 10_000
const UNSENT_GRACE_MS = 60_000
const STUCK_MS = 180_000
/** A file takes its time on a slow connection, and a restart of Messages would send it from the beginning. */
const FILE_STUCK_MS = 1_200_000
/** Rows checked in a sweep: the newest, and as many of the older ones in rotation. */
const BATCH_MAX = 200
/** The core asks for 10,000 messages of the last 30 days. */
const TRACKED_MAX = 20_000

export class StatusTracker {
  readonly #tracked = new Map<number, TrackedRow>()
  #sweepOffset = 0

  /** True if Messages has been sending something for minutes: it may need a restart. */
  isStuck(now: number): boolean {
    return [...this.#tracked.values()].some(
      ({ stage, at, stuckMs }) =>
        stage === 'held' && now - at > stuckMs && now - at < stuckMs + STUCK_MS,
    )
  }

  /** Tracks the row of a message whose send has ended, because an error may still clear; returns the outcome. */
  settle(row: MessageRow, now: number): Settlement {
    const stage = stageOf(row.state)
    const isSent = stage !== 'error' && stage !== 'held'
    const [{ guid }, service] = [row, serviceOf(row.state)]
    this.follow({ ...row, service }, isSent ? 'sent' : 'held', now)
    return { outcome: isSent ? 'accepted' : 'held', guid, service }
  }

  /** Tracks a row of ours; `service` is the published one. */
  follow(row: Followed, stage: 'held' | 'sent', now: number): void {
    const { rowId, guid, service = 'iMessage', files = [] } = row
    if (this.#tracked.has(rowId)) return
    const stuckMs = files.length === 0 ? STUCK_MS : FILE_STUCK_MS
    this.#tracked.set(rowId, { guid, stage, service, at: now, stuckMs, errorSince: null })
    dropOldest(this.#tracked, TRACKED_MAX)
  }

  hasError(rowId: number): boolean {
    return typeof this.#tracked.get(rowId)?.errorSince === 'number'
  }

  forget(rowId: number): void {
    this.#tracked.delete(rowId)
  }

  /** Finds every row again by its guid, because a rebuilt database has other ROWIDs. */
  relocate(db: ChatDb): void {
    const all = [...this.#tracked.values()]
    this.#tracked.clear()
    for (const tracked of all) {
      const rowId = db.rowIdOf(tracked.guid)
      if (rowId !== null) this.#tracked.set(rowId, tracked)
    }
  }

  /** The receipts of everything that changed, oldest first. */
  sweep(db: ChatDb, now: number): readonly Receipt[] {
    const due = this.#dueRowIds()
    const found = db.statesAt(due)
    const moved = this.#follow(db, due, new Set(found.map(({ rowId }) => rowId)))
    const states = moved.length === 0 ? found : [...found, ...db.statesAt(moved)]
    return states.flatMap((state) => this.#compare(state, now))
  }

  /** ROWIDs under which vanished rows came back: Messages may write a row again. */
  #follow(db: ChatDb, due: readonly number[], found: ReadonlySet<number>): readonly number[] {
    return due.flatMap((before) => {
      const tracked = this.#tracked.get(before)
      if (found.has(before) || tracked === undefined) return []
      const rowId = db.rowIdOf(tracked.guid)
      if (rowId === null) return []
      this.#tracked.delete(before)
      this.#tracked.set(rowId, tracked)
      return [rowId]
    })
  }

  #dueRowIds(): readonly number[] {
    const all = [...this.#tracked.keys()]
    const newest = all.slice(-BATCH_MAX)
    const older = all.slice(0, -BATCH_MAX)
    if (this.#sweepOffset >= older.length) this.#sweepOffset = 0
    const inRotation = older.slice(this.#sweepOffset, this.#sweepOffset + BATCH_MAX)
    this.#sweepOffset += BATCH_MAX
    return [...inRotation, ...newest]
  }

  #compare(state: OwnState, now: number): readonly Receipt[] {
    const before = this.#tracked.get(state.rowId)
    if (before === undefined || before.guid !== state.guid) return []
    const reached = stageOf(state)
    if (reached === 'error') return this.#markError(state, before, now)
    const isLater = STAGES.indexOf(reached) > STAGES.indexOf(before.stage)
    const stage = isLater ? reached : before.stage
    // A held message may still fail, or change its service again.
    const service = stage === 'held' ? before.service : serviceOf(state)
    this.#keep(state.rowId, { ...before, stage, service, errorSince: null })
    const steps = stepsBetween(before.stage, reached)
    const dates = { sent: null, delivered: state.deliveredAt, read: state.readAt }
    const isFallback = steps.length === 0 && service !== before.service
    return (isFallback ? (['sent'] as const) : steps).map((kind) => ({
      guid: state.guid,
      kind,
      at: timestamp(dates[kind] ?? now),
      reason: null,
      service,
    }))
  }

  #markError(state: OwnState, before: TrackedRow, now: number): readonly Receipt[] {
    const errorSince = before.errorSince ?? now
    const graceMs = state.error === 0 ? UNSENT_GRACE_MS : ERROR_GRACE_MS
    const isOver = now - errorSince >= graceMs && mayFail(before, state)
    this.#keep(state.rowId, { ...before, errorSince, stage: isOver ? 'failed' : before.stage })
    if (!isOver) return []
    const reason = reasonOf(state.error)
    return [{ guid: state.guid, kind: 'failed', at: timestamp(now), reason }]
  }

  /** Keeps a row, unless it is read, which is final. Rows of groups and SMS are never read, and are dropped by age. */
  #keep(rowId: number, tracked: TrackedRow): void {
    if (tracked.stage === 'read') this.#tracked.delete(rowId)
    else this.#tracked.set(rowId, tracked)
  }
}

const STAGES: readonly Stage[] = ['held', 'failed', 'sent', 'delivered', 'read']
const STEPS = ['sent', 'delivered', 'read'] as const
type Step = (typeof STEPS)[number]

/** True if the message may still have failed: not if it was delivered or read, and if it was sent, only by an error. */
function mayFail({ stage }: TrackedRow, { error, isDelivered, isRead }: OwnState): boolean {
  if (isDelivered || isRead) return false
  return stage === 'held' || (stage === 'sent' && error !== 0)
}

/** Status changes since the last sweep; the relay fills in those that Messages skipped. */
function stepsBetween(before: Stage, reached: Stage): readonly Step[] {
  return STEPS.filter((step) => {
    const rank = STAGES.indexOf(step)
    return rank > STAGES.indexOf(before) && rank <= STAGES.indexOf(reached)
  })
}
