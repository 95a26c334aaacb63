// Limits on a line's sending: its pace, recipients known not to be on iMessage, and sends that leave no trace.

import type { Clock } from '../../../system/clock.ts'
import type { Random } from '../../../system/random.ts'
import type { Settlement } from '../../driver.ts'
import type { Exchanged } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

// Apple publishes no limits; vendors settle on about a message a second, thirty a minute, and more time between new
// contacts.
const GAP_MS = 1_000
const GAP_JITTER_MS = 500
const NEW_CONTACT_GAP_MS = 2_000
const NEW_CONTACT_JITTER_MS = 4_000
const BURST_MAX = 30
const REFILL_MS = 2_000

export class Pacer {
  readonly #clock: Clock
  readonly #random: Random
  /** Messages that may be sent at once, as of `#countedAt`. */
  #tokens = BURST_MAX
  #countedAt: number
  #nextAt = 0
  #nextNewContactAt = 0
  #pausedUntil = 0

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
    this.#countedAt = clock.monotonic()
  }

  delayMs(isNewContact: boolean): number {
    this.#refill()
    const now = this.#clock.monotonic()
    const forToken = this.#tokens >= 1 ? 0 : (1 - this.#tokens) * REFILL_MS
    const forContact = isNewContact ? this.#nextNewContactAt - now : 0
    return Math.max(0, this.#nextAt - now, this.#pausedUntil - now, forContact, forToken)
  }

  spend(isNewContact: boolean): void {
    this.#refill()
    const now = this.#clock.monotonic()
    this.#tokens -= 1
    this.#nextAt = now + GAP_MS + this.#random.chance() * GAP_JITTER_MS
    if (!isNewContact) return
    const jitterMs = this.#random.chance() * NEW_CONTACT_JITTER_MS
    this.#nextNewContactAt = now + NEW_CONTACT_GAP_MS + jitterMs
  }

  /** Sends nothing for `ms`, because Messages has just been started, or the Mac woke up. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + ms)
  }

  #refill(): void {
    const now = this.#clock.monotonic()
    this.#tokens = Math.min(BURST_MAX, this.#tokens + (now - this.#countedAt) / REFILL_MS)
    this.#countedAt = now
  }
}

// Only the history of Messages shows who is on iMessage, so nothing about it is stored here.

/** The recipient does not exist or cannot be routed to (FZErrorType 22): not on iMessage. */
const NOT_ON_IMESSAGE = new Set([21, 22, 23])
const REMEMBERED_MS = 7 * 86_400_000
const HISTORY_MAX = 20
const PAUSED_BY = 5
/** The network's clock may be this far ahead of ours. */
const AHEAD_MS_MAX = 60_000
const HOUR_MS = 3_600_000

/** True for a date in the future, which would count as the latest until that time. */
function isFromFuture({ at }: { readonly at: number | null }, now: number): boolean {
  return at !== null && at > now + AHEAD_MS_MAX
}

/**
 * True if the latest fact about `handle`, from the last 7 days, is that it is not on iMessage. A later message from
 * it by iMessage, or one of ours that was sent to it, disproves that.
 */
export function isKnownAbsent(db: ChatDb, handle: string, now: number): boolean {
  for (const row of db.lastWith(handle, HISTORY_MAX)) {
    if (isFromFuture(row, now)) continue
    if (row.at === null || row.at < now - REMEMBERED_MS) return false
    const isOther = row.handle !== null && !db.isSamePerson(row.handle, handle)
    const proof = isOther ? null : proofOf(row, handle)
    if (proof !== null) return proof === 'absent'
  }
  return false
}

function proofOf(row: Exchanged, handle: string): 'absent' | 'present' | null {
  const { isFromMe, service, error, isSent } = row
  // A send to another spelling of the number may have failed because of its spelling (mac_messages_mcp).
  const isExact = row.handle === null || row.handle.toLowerCase() === handle
  if (isFromMe && isExact && NOT_ON_IMESSAGE.has(error)) return 'absent'
  return service === 'iMessage' && error === 0 && (!isFromMe || isSent) ? 'present' : null
}

/**
 * Time for which the line should not write to new contacts, in milliseconds. Five recipients in an hour that are not
 * on iMessage look like a bought list of numbers.
 */
export function pauseMs(db: ChatDb, now: number): number {
  const failures = db
    .ownErrorsSince(now - HOUR_MS)
    .filter((row) => NOT_ON_IMESSAGE.has(row.error) && !isFromFuture(row, now))
    .map(({ at }) => at)
    .sort((a, b) => b - a)
  const fifth = failures[PAUSED_BY - 1]
  return fifth === undefined ? 0 : Math.max(0, fifth + HOUR_MS - now)
}

const RESTART_AFTER = 2
const OFFLINE_AFTER = 3
/** Time for which the line rests, doubled each time another trial vanishes, up to an hour. */
const REST_MS = 600_000
const REST_MS_MAX = 3_600_000

/**
 * Counts sends that Messages accepted but that left no row, or a row without chat and text. Public reports from macOS
 * 26 (openclaw, imsg) have whole days of it. Each such message stays uncertain, so a line that loses several in a row
 * must stop. Only a send can show that it is over: after each rest the line is online for one message, and its
 * outcome decides. A day costs about 26 messages at most; a restarted relay counts from zero.
 */
export class VanishingSends {
  readonly #clock: Clock
  /** Called once per series, to restart Messages. */
  readonly #onRestart: () => void
  #count = 0
  #restsUntil = 0

  constructor(clock: Clock, onRestart: () => void) {
    this.#clock = clock
    this.#onRestart = onRestart
  }

  get isResting(): boolean {
    return this.#count >= OFFLINE_AFTER && this.#clock.monotonic() < this.#restsUntil
  }

  /** True if several sends were lost: it may be chance, but the owner should know. */
  get isSuspected(): boolean {
    return this.#count >= RESTART_AFTER
  }

  /** An outcome without an answer from Messages counts neither way. */
  record(outcome: Settlement): void {
    const reason = 'reason' in outcome ? outcome.reason : null
    if (reason === 'no_answer') return
    if (reason === 'no_row' || reason === 'ghost_row') this.#lose()
    else this.reset()
  }

  /** Called when a row of ours appeared, early or late. */
  reset(): void {
    this.#count = 0
  }

  #lose(): void {
    this.#count += 1
    if (this.#count === RESTART_AFTER) this.#onRestart()
    const restMs = REST_MS * 2 ** Math.max(0, this.#count - OFFLINE_AFTER)
    this.#restsUntil = this.#clock.monotonic() + Math.min(restMs, REST_MS_MAX)
  }
}
