// One attempt of a delivery: sign, post, plan the next one, and the record of it.

import { timestamp, type Timestamp } from '../domain/ids.ts'
import { HOUR_MS, SECOND_MS } from '../domain/time.ts'
import type { Attempt } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import type { DeliveryRecord, DueDelivery } from '../storage/delivery-queue.ts'
import { readEvent } from '../storage/events.ts'
import type { Metrics } from '../system/metrics.ts'
import { VERSION } from '../system/version.ts'
import { withLinks, type DownloadUrl } from './payload.ts'
import type { Post, PostResult } from './post.ts'
import { signedHeaders, signingSecrets, type SigningSecret } from './signature.ts'

/** A delivery to attempt now. */
export type DueAttempt = {
  readonly delivery: DueDelivery
  readonly trigger: Attempt['trigger']
  /** It finds out whether the receiver is back. */
  readonly isProbe: boolean
  /** By the monotonic clock. */
  readonly begunAt: number
  /** Nothing else was in flight to the webhook when it began. */
  readonly wasAlone: boolean
  /** The webhook's `updatedAt`: the result speaks of this state of the webhook only. */
  readonly version: Timestamp
}

/** An attempt that was made, successful or not. */
export type AttemptResult = {
  readonly attempt: DueAttempt
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly answer: Exclude<PostResult, { readonly result: 'unreachable' | 'aborted' }>
  /** Until the next attempt; null if there is none, or if the time stays as it is. */
  readonly delayMs: number | null
}

type Receiver = {
  readonly url: string
  /** It gets the addresses of files: see `attachment_links`. */
  readonly hasLinks: boolean
  readonly isPublicOnly: boolean
  readonly secrets: readonly SigningSecret[]
}

export type AttemptDelivery = ReturnType<typeof createAttempts>

const USER_AGENT = { 'user-agent': `Hookline/${VERSION}` }

export function createAttempts(
  { db, clock, random, log }: Core,
  given: {
    readonly post: Post
    readonly metrics: Metrics
    readonly scheduleMs: readonly number[]
    readonly downloadUrl: DownloadUrl
  },
) {
  const { post, metrics, scheduleMs, downloadUrl } = given
  const postSigned = async (
    { url, hasLinks, isPublicOnly, secrets }: Receiver,
    { eventSeq }: DueDelivery,
    signal: AbortSignal,
  ): Promise<PostResult> => {
    try {
      const event = readEvent(db, eventSeq)
      const keys = signingSecrets(secrets, clock)
      // Excluded by the foreign keys of the database and by the queue; nothing goes out unsigned.
      if (event === null || keys.length === 0) throw new Error('The event or the secret is gone.')
      const { id, createdAt } = event
      const body = hasLinks ? withLinks(event.body, createdAt, downloadUrl) : event.body
      // Receivers compare it with their own clocks.
      const signed = { id, body, timestamp: Math.floor(clock.wall() / 1_000) }
      const headers = { ...signedHeaders(signed, keys), ...USER_AGENT }
      return await post({ url, headers, body, ...(isPublicOnly && { isPublicOnly }) }, signal)
    } catch (error) {
      log.error('a webhook attempt broke off', { error })
      return { result: 'failed', error: 'network_error', isPrivateTarget: true }
    }
  }
  /** Signs the event with the time of this attempt, posts it, and plans the next attempt. */
  return async (
    receiver: Receiver,
    attempt: DueAttempt,
    signal: AbortSignal,
  ): Promise<AttemptResult | 'unreachable' | 'aborted'> => {
    const startedAt = timestamp(clock.now())
    const startedMonotonic = clock.monotonic()
    const answer = await postSigned(receiver, attempt.delivery, signal)
    // This machine itself was cut off, which is no attempt of the delivery.
    if (answer.result === 'unreachable') observe(metrics, answer.result, null)
    if (answer.result === 'unreachable' || answer.result === 'aborted') return answer.result
    const durationMs = Math.round(clock.monotonic() - startedMonotonic)
    observe(metrics, isSuccess({ answer }) ? 'succeeded' : 'failed', durationMs)
    const made = { attempt, startedAt, durationMs, answer }
    return { ...made, delayMs: delayAfter(made, scheduleMs, random.chance()) }
  }
}

export function isSuccess({ answer }: Pick<AttemptResult, 'answer'>): boolean {
  return answer.result === 'answered' && answer.statusCode >= 200 && answer.statusCode < 300
}

/** Milliseconds for which the receiver asks to be left alone, or null. */
export function askedMsOf({ answer }: Pick<AttemptResult, 'answer'>): number | null {
  if (answer.result !== 'answered') return null
  return askedDelay(answer.statusCode, answer.retryAfterSeconds)
}

/** True once the delivery's own schedule has come: an attempt before that uses none of it up. */
function isOfSchedule({ delivery, trigger }: DueAttempt, startedAt: number): boolean {
  return trigger === 'scheduled' || delivery.nextAttemptAt <= startedAt
}

const JITTER_MAX = 0.2

/**
 * Milliseconds that the delivery waits after this attempt if it failed: 0 to 20 % longer than the schedule says, and
 * at least as long as the receiver asks. Null if there is no further attempt. `chance` is in [0, 1).
 */
function delayAfter(
  made: Omit<AttemptResult, 'delayMs'>,
  scheduleMs: readonly number[],
  chance: number,
): number | null {
  if (!isOfSchedule(made.attempt, made.startedAt)) return null
  const delayMs = scheduleMs[made.attempt.delivery.scheduledCount]
  if (delayMs === undefined) return null
  return Math.max(Math.round(delayMs * (1 + JITTER_MAX * chance)), askedMsOf(made) ?? 0)
}

/** The attempt as it is stored, with the state of its delivery after it. */
export function recordOf(
  result: AttemptResult,
  { now, isGivenUp }: { readonly now: number; readonly isGivenUp: () => boolean },
): DeliveryRecord {
  const { attempt, startedAt, durationMs, answer, delayMs } = result
  const ofSchedule = isOfSchedule(attempt, startedAt)
  const isOver = isSuccess(result) || (ofSchedule && delayMs === null) || isGivenUp()
  const answered = answer.result === 'answered'
  return {
    deliverySeq: attempt.delivery.seq,
    attempt: {
      trigger: attempt.trigger,
      startedAt,
      durationMs,
      statusCode: answered ? answer.statusCode : null,
      error: answered ? null : answer.error,
      responseExcerpt: answered ? answer.excerpt : null,
      isPrivateTarget: answer.isPrivateTarget,
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

function observe(
  metrics: Metrics,
  outcome: 'succeeded' | 'failed' | 'unreachable',
  durationMs: number | null,
): void {
  metrics.count('hookline_webhook_attempts_total', 'Attempts to deliver to webhooks.', { outcome })
  if (durationMs === null) return
  const help = 'How long attempts to deliver to webhooks took.'
  metrics.observe('hookline_webhook_attempt_seconds', help, durationMs / 1_000)
}

const ASKED_MS_MAX = 24 * HOUR_MS

/** Milliseconds that a receiver asks to be left alone, by `Retry-After` on 429 or 503; null for none. */
export function askedDelay(statusCode: number, retryAfterSeconds: number | null): number | null {
  if (retryAfterSeconds === null || (statusCode !== 429 && statusCode !== 503)) return null
  return Math.min(retryAfterSeconds * SECOND_MS, ASKED_MS_MAX)
}
