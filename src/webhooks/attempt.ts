// One delivery attempt: signs and posts an event, plans the next attempt, and builds the stored record.

import { webhookFormat } from '../compat/apis.ts'
import { timestamp, type KeyId, type Timestamp, type WebhookId } from '../domain/ids.ts'
import { IN_FLIGHT_MAX } from '../domain/slots.ts'
import { HOUR_MS, SECOND_MS } from '../domain/time.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import type { StoredAttempt } from '../storage/deliveries.ts'
import type { DeliveryRecord, DueDelivery } from '../storage/delivery-queue.ts'
import { readEvent, type SentEvent } from '../storage/events.ts'
import { callbackQuery } from '../storage/webhooks.ts'
import { memoize } from '../system/memoize.ts'
import type { Metrics } from '../system/metrics.ts'
import { VERSION } from '../system/version.ts'
import type { Account, AccountOf } from './accounts.ts'
import { bodySent, type DownloadUrl } from './payload.ts'
import type { Post, PostRequest, PostResult } from './post.ts'
import type { SendReplies } from './replies.ts'
import { secretText, signedHeaders, signingSecrets, type SigningSecret } from './signature.ts'

export type DueAttempt = {
  readonly delivery: DueDelivery
  readonly trigger: StoredAttempt['trigger']
  /** True if it tests whether a failing receiver is back. A probe sends a real delivery. */
  readonly isProbe: boolean
  /** Monotonic clock. */
  readonly begunAt: number
  /** True if no other attempt was in flight to the webhook at its start. */
  readonly wasAlone: boolean
  /** The webhook's `updatedAt`: the result applies to this version of the webhook only. */
  readonly version: Timestamp
}

export type AttemptResult = {
  readonly attempt: DueAttempt
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly answer: Exclude<PostResult, { readonly result: 'unreachable' | 'aborted' }>
  /** Milliseconds until the next attempt; null if there is none or its time stays as it is. */
  readonly delayMs: number | null
}

type Receiver = {
  readonly id: WebhookId
  readonly url: string
  /** The setting `attachment_links`: events contain download URLs of files. */
  readonly attachmentLinks: boolean
  readonly format: string | null
  readonly isPublicOnly: boolean
  /** The lineage of the key whose account the webhook belongs to. */
  readonly keyId: KeyId | null
  /** True if it only gets events of messages whose send named this webhook's address. */
  readonly isCallback: boolean
  readonly secrets: readonly SigningSecret[]
}

/** Cached events: at most one per attempt in flight. */
const EVENTS_KEPT = IN_FLIGHT_MAX

export type AttemptDelivery = ReturnType<typeof createAttempts>

export function createAttempts(
  { db, clock, random, log }: Core,
  given: {
    readonly post: Post
    readonly metrics: Metrics
    readonly scheduleMs: readonly number[]
    readonly accountOf: AccountOf
    readonly sendReplies: SendReplies
  } & Omit<Sources, 'db' | 'clock'>,
) {
  const { post, metrics, scheduleMs, accountOf, sendReplies } = given
  // A body never changes and a seq is never reused, so one read serves all webhooks.
  const eventOf = memoize(EVENTS_KEPT, (seq: number) => {
    const event = readEvent(db, seq)
    // Foreign keys and the queue exclude this.
    if (event === null) throw new Error('The event is gone.')
    return event
  })
  const links = { db, clock, downloadUrl: given.downloadUrl, serverUrl: given.serverUrl }
  const postSigned = async (
    receiver: Receiver,
    { eventSeq }: DueDelivery,
    signal: AbortSignal,
  ): Promise<PostResult> => {
    try {
      const event = eventOf(eventSeq)
      const { keyId, format: name } = receiver
      const hasAccount = keyId !== null && webhookFormat(name)?.hasAccount === true
      const account = hasAccount ? accountOf(keyId) : null
      if (account === 'ended') {
        return { result: 'failed', error: 'account_ended', isPrivateTarget: false }
      }
      const request = requestOf(links, { receiver, account }, event)
      const answer = await post(request, signal)
      if (account === null || request.readsAnswer !== true) return answer
      return await sendReplies(answer, { event, account, format: receiver.format })
    } catch (error) {
      log.error('a webhook attempt broke off', { error })
      return { result: 'failed', error: 'network_error', isPrivateTarget: true }
    }
  }
  /** Signs the event with the current time, posts it, and plans the next attempt. */
  return async (
    receiver: Receiver,
    attempt: DueAttempt,
    signal: AbortSignal,
  ): Promise<AttemptResult | 'unreachable' | 'aborted'> => {
    const startedAt = timestamp(clock.now())
    const startedMonotonic = clock.monotonic()
    const answer = await postSigned(receiver, attempt.delivery, signal)
    // This machine was offline: that doesn't count as an attempt.
    if (answer.result === 'unreachable') observe(metrics, answer.result, null)
    if (answer.result === 'unreachable' || answer.result === 'aborted') return answer.result
    const durationMs = Math.round(clock.monotonic() - startedMonotonic)
    observe(metrics, isSuccess({ answer }) ? 'succeeded' : 'failed', durationMs)
    const made = { attempt, startedAt, durationMs, answer }
    return { ...made, delayMs: delayAfter(made, scheduleMs, random.chance()) }
  }
}

type Sources = Pick<Core, 'db' | 'clock'> & {
  readonly downloadUrl: DownloadUrl
  readonly serverUrl: () => string
}

const NO_ACCOUNT = { key: '', token: '' }

/** The webhook's URL. A callback's URL includes the query that came with the message. */
function urlFor(db: Db, { url, isCallback }: Receiver, { messageId }: SentEvent): string {
  return isCallback && messageId !== null ? url + callbackQuery(db, messageId) : url
}

/** The signed request that delivers an event. */
function requestOf(
  { db, clock, downloadUrl, serverUrl }: Sources,
  { receiver, account }: { readonly receiver: Receiver; readonly account: Account | null },
  event: SentEvent,
): PostRequest {
  const { isPublicOnly, secrets } = receiver
  const keys = signingSecrets(secrets, clock)
  const [newest] = keys
  // The queue excludes this; nothing may be sent unsigned.
  if (newest === undefined) throw new Error('The secret is gone.')
  const format = receiver.format === null ? null : webhookFormat(receiver.format)
  const { key, token } = account ?? NO_ACCOUNT
  const at = { account: key, relay: serverUrl() }
  const body = bodySent(db, event, { webhook: receiver, format, downloadUrl, ...at })
  const address = urlFor(db, receiver, event)
  const secret = secretText(newest)
  const url = format?.target?.(address, secret) ?? address
  // Wall clock: receivers compare it with their own.
  const signed = { id: event.id, body, timestamp: Math.floor(clock.wall() / 1_000) }
  const said = { ...signed, url, secret, token }
  const headers = {
    ...signedHeaders(signed, keys),
    ...(format && { 'content-type': format.contentType, ...format.headers(said) }),
    'user-agent': `Hookline/${VERSION}`,
  }
  const readsAnswer = !receiver.isCallback && format?.repliesIn !== undefined
  const more = { ...(isPublicOnly && { isPublicOnly }), ...(readsAnswer && { readsAnswer }) }
  return { url, headers, body, ...more }
}

export function isSuccess({ answer }: Pick<AttemptResult, 'answer'>): boolean {
  return answer.result === 'answered' && answer.statusCode >= 200 && answer.statusCode < 300
}

/** Milliseconds that the receiver wants the relay to wait, or null. */
export function retryAfterMsOf({ answer }: Pick<AttemptResult, 'answer'>): number | null {
  if (answer.result !== 'answered') return null
  return retryAfterMs(answer.statusCode, answer.retryAfterSeconds)
}

/** True if the attempt uses up a step of the schedule; a manual one before the due time doesn't. */
function isOfSchedule({ delivery, trigger }: DueAttempt, startedAt: number): boolean {
  return trigger === 'scheduled' || delivery.nextAttemptAt <= startedAt
}

const JITTER_MAX = 0.2

/**
 * Milliseconds until the next attempt if this one failed: the schedule plus 0 to 20 %, and at least what the receiver
 * asks for. Null if there is no further attempt. `chance` is in [0, 1).
 */
function delayAfter(
  made: Omit<AttemptResult, 'delayMs'>,
  scheduleMs: readonly number[],
  chance: number,
): number | null {
  if (!isOfSchedule(made.attempt, made.startedAt)) return null
  const delayMs = scheduleMs[made.attempt.delivery.scheduledCount]
  if (delayMs === undefined) return null
  return Math.max(Math.round(delayMs * (1 + JITTER_MAX * chance)), retryAfterMsOf(made) ?? 0)
}

/** The attempt in stored form, with the delivery's state after it. */
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

const RETRY_AFTER_MS_MAX = 24 * HOUR_MS

/** Milliseconds that `Retry-After` of a 429 or 503 asks for; null if it asks for nothing. */
export function retryAfterMs(statusCode: number, retryAfterSeconds: number | null): number | null {
  if (retryAfterSeconds === null || (statusCode !== 429 && statusCode !== 503)) return null
  return Math.min(retryAfterSeconds * SECOND_MS, RETRY_AFTER_MS_MAX)
}

const REJECTED_MAX = 1_000

/**
 * Deliveries that the receiver rejects because of their content: each failed, and another one succeeded afterwards.
 * Another failure of one of them says nothing new about the receiver.
 */
export class RejectedDeliveries {
  readonly #failed = new Set<number>()
  readonly #refused = new Set<number>()

  has(seq: number): boolean {
    return this.#refused.has(seq)
  }

  failed(seq: number): void {
    this.#failed.add(seq)
  }

  succeeded(seq: number): void {
    for (const failed of this.#failed) this.#refused.add(failed)
    this.#failed.clear()
    this.#refused.delete(seq)
    if (this.#refused.size > REJECTED_MAX) this.#refused.clear()
  }

  /** Called when every delivery fails: no single one is the cause. */
  clear(): void {
    this.#failed.clear()
    this.#refused.clear()
  }
}
