import { timestamp, type Timestamp } from '../domain/ids.ts'
import { askedDelay, delayAfterAttempt } from '../domain/retry.ts'
import type { Attempt } from '../domain/webhook.ts'
import type { DeliveryRecord, DueDelivery } from '../storage/delivery-queue.ts'
import type { PostResult } from './post.ts'

/** A delivery whose turn it is. */
export type Turn = {
  readonly delivery: DueDelivery
  readonly trigger: Attempt['trigger']
  /** Whether this attempt finds out whether the receiver is back. */
  readonly isProbe: boolean
  /** When it began, by the clock that never steps; and whether it was alone in flight then. */
  readonly begunAt: number
  readonly wasAlone: boolean
  /** Which state of the webhook this attempt speaks of: its `updatedAt`. */
  readonly version: Timestamp
}

/** An attempt that was made, whether it went well or not. */
export type Tried = {
  readonly turn: Turn
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly result: Exclude<PostResult, { readonly result: 'unreachable' | 'aborted' }>
  /** Until the next attempt; null where there is none, or where the time stays as it is. */
  readonly delayMs: number | null
}

export function isSuccess(result: Tried['result']): boolean {
  return result.result === 'answered' && result.statusCode >= 200 && result.statusCode < 300
}

/** Whether the delivery's own schedule has come; a try outside it uses none of it up. */
function isOfSchedule({ delivery, trigger }: Turn, startedAt: number): boolean {
  return trigger === 'scheduled' || delivery.nextAttemptAt <= startedAt
}

/** Milliseconds for which the receiver asks to be left alone, or null. */
export function askedMsOf(result: Tried['result']): number | null {
  return result.result === 'answered'
    ? askedDelay(result.statusCode, result.retryAfterSeconds)
    : null
}

/** How long the delivery waits after this attempt, if it failed. */
export function delayAfter(
  { turn, startedAt, result }: Omit<Tried, 'delayMs' | 'durationMs'>,
  scheduleMs: readonly number[],
  chance: number,
): number | null {
  if (!isOfSchedule(turn, startedAt)) return null
  const delayMs = delayAfterAttempt(turn.delivery.scheduledCount + 1, scheduleMs, chance)
  return delayMs === null ? null : Math.max(delayMs, askedMsOf(result) ?? 0)
}

/** The attempt as it is written, with what becomes of its delivery. */
export function recordOf({ turn, startedAt, ...tried }: Tried, now: number): DeliveryRecord {
  const { durationMs, result, delayMs } = tried
  const ofSchedule = isOfSchedule(turn, startedAt)
  const isOver = isSuccess(result) || (ofSchedule && delayMs === null)
  const answered = result.result === 'answered'
  return {
    deliverySeq: turn.delivery.seq,
    attempt: {
      trigger: turn.trigger,
      startedAt,
      durationMs,
      statusCode: answered ? result.statusCode : null,
      error: answered ? null : result.error,
      responseExcerpt: answered ? result.excerpt : null,
      isPrivateTarget: result.isPrivateTarget,
    },
    status: statusAfter(isSuccess(result), isOver),
    isOfSchedule: ofSchedule,
    nextAttemptAt: isOver || delayMs === null ? null : timestamp(now + delayMs),
    completedAt: isOver ? timestamp(now) : null,
  }
}

function statusAfter(isSuccess: boolean, isOver: boolean): DeliveryRecord['status'] {
  if (isSuccess) return 'succeeded'
  return isOver ? 'exhausted' : 'pending'
}
