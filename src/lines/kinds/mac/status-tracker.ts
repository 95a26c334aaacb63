// What becomes of messages that Messages has: their rows are read again by primary key, because there
// is no index over the dates of delivery and reading.

import { timestamp } from '../../../domain/ids.ts'
import type { Receipt } from '../../../domain/message.ts'
import type { Settlement } from '../../driver.ts'
import type { MessageRow, OwnState } from './chat-db-rows.ts'
import type { ChatDb } from './chat-db.ts'

/** How far a message is known to be; `failed` can still turn into `sent`. */
type Stage = 'held' | 'failed' | 'sent' | 'delivered' | 'read'

type Followed = {
  readonly guid: string
  readonly stage: Stage
  /** The service that was told. */
  readonly service: string
  /** When it was found, in milliseconds since 1970. */
  readonly at: number
  /** Since when its row has an error, or is finished without being sent; null while it is well. */
  readonly illSince: number | null
}

/** An error may clear: Messages tries again, or falls back to SMS. */
export const ERROR_GRACE_MS = 10_000
const UNSENT_GRACE_MS = 60_000
const STUCK_MS = 180_000
/** How many of the newest are looked at in each tick, and how many of the others in turn. */
const BATCH_MAX = 200
/** The core follows 10,000 for 30 days. */
const FOLLOWED_MAX = 20_000

export class StatusTracker {
  readonly #followed = new Map<number, Followed>()
  /** Where the turn of the older ones is. */
  #turn = 0

  /** Whether Messages has been sending something for minutes: it may need to be started again. */
  isStuck(now: number): boolean {
    return [...this.#followed.values()].some(
      ({ stage, at }) => stage === 'held' && now - at > STUCK_MS && now - at < 2 * STUCK_MS,
    )
  }

  /** The row of a message that nobody was waiting for any more. An error in it may still clear. */
  settle(row: MessageRow, now: number): Settlement {
    const stage = stageOf(row.state)
    const isSent = stage !== 'ill' && stage !== 'held'
    const [{ guid }, service] = [row, serviceOf(row.state)]
    this.follow({ ...row, service }, isSent ? 'sent' : 'held', now)
    return { outcome: isSent ? 'accepted' : 'held', guid, service }
  }

  /** Follows a row of ours, of which `service` was told; `iMessage` where nothing else was. */
  follow(
    row: { readonly rowId: number; readonly guid: string; readonly service?: string },
    stage: 'held' | 'sent',
    now: number,
  ): void {
    const { rowId, guid, service = 'iMessage' } = row
    if (this.#followed.has(rowId)) return
    this.#followed.set(rowId, { guid, stage, service, at: now, illSince: null })
    if (this.#followed.size <= FOLLOWED_MAX) return
    for (const oldest of this.#followed.keys()) {
      this.#followed.delete(oldest)
      return
    }
  }

  /** Whether the row has an error now. */
  isIll(rowId: number): boolean {
    return typeof this.#followed.get(rowId)?.illSince === 'number'
  }

  /** Another row took its place. */
  forget(rowId: number): void {
    this.#followed.delete(rowId)
  }

  /** A rebuilt database has other ROWIDs: each is looked up again by its guid. */
  relocate(db: ChatDb): void {
    const all = [...this.#followed.values()]
    this.#followed.clear()
    for (const followed of all) {
      const rowId = db.rowIdOf(followed.guid)
      if (rowId !== null) this.#followed.set(rowId, followed)
    }
  }

  /** What is new of the messages that are followed, oldest first. */
  sweep(db: ChatDb, now: number): readonly Receipt[] {
    const states = db.statesAt(this.#due())
    return states.flatMap((state) => this.#compare(state, now))
  }

  #due(): readonly number[] {
    const all = [...this.#followed.keys()]
    const newest = all.slice(-BATCH_MAX)
    const older = all.slice(0, -BATCH_MAX)
    if (this.#turn >= older.length) this.#turn = 0
    const inTurn = older.slice(this.#turn, this.#turn + BATCH_MAX)
    this.#turn += BATCH_MAX
    return [...inTurn, ...newest]
  }

  #compare(state: OwnState, now: number): readonly Receipt[] {
    const before = this.#followed.get(state.rowId)
    if (before === undefined || before.guid !== state.guid) return []
    const reached = stageOf(state)
    if (reached === 'ill') return this.#ail(state, before, now)
    const stage = later(before.stage, reached)
    // What is only held may still fail, or change its service once more.
    const service = stage === 'held' ? before.service : serviceOf(state)
    this.#keep(state.rowId, { ...before, stage, service, illSince: null })
    const steps = stepsBetween(before.stage, reached)
    const isFallback = steps.length === 0 && service !== before.service
    return (isFallback ? (['sent'] as const) : steps).map((kind) => ({
      guid: state.guid,
      kind,
      at: timestamp(dateOf(state, kind) ?? now),
      reason: null,
      service,
    }))
  }

  #ail(state: OwnState, before: Followed, now: number): readonly Receipt[] {
    const illSince = before.illSince ?? now
    const graceMs = state.error === 0 ? UNSENT_GRACE_MS : ERROR_GRACE_MS
    const isOver = now - illSince >= graceMs && before.stage === 'held'
    this.#keep(state.rowId, { ...before, illSince, stage: isOver ? 'failed' : before.stage })
    if (!isOver) return []
    const reason = reasonOf(state.error)
    return [{ guid: state.guid, kind: 'failed', at: timestamp(now), reason }]
  }

  /** Read is the end; a group or SMS never gets there and goes by age. */
  #keep(rowId: number, followed: Followed): void {
    if (followed.stage === 'read') this.#followed.delete(rowId)
    else this.#followed.set(rowId, followed)
  }
}

/**
 * What the flags of a row prove (the enumeration is Barcelona's): read and delivered only of our own
 * messages, `ill` for one with an error and for one that Messages is done with and has not sent.
 */
export function stageOf(state: OwnState): Stage | 'ill' {
  if (state.error !== 0) return 'ill'
  if (state.isRead) return 'read'
  if (state.isDelivered) return 'delivered'
  if (state.isSent) return 'sent'
  return state.isFinished && !state.isWaiting ? 'ill' : 'held'
}

/** The service that a row names; a row without one is of the line's own. */
export function serviceOf({ service }: OwnState): string {
  return service === '' ? 'iMessage' : service
}

/** The codes of FZErrorType, as Barcelona's headers of IMFoundation name them, in the API's words. */
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

const STAGES: readonly Stage[] = ['held', 'failed', 'sent', 'delivered', 'read']
const STEPS = ['sent', 'delivered', 'read'] as const
type Step = (typeof STEPS)[number]

function later(a: Stage, b: Stage): Stage {
  return STAGES.indexOf(a) >= STAGES.indexOf(b) ? a : b
}

/** The steps that were taken between two looks; the core fills in those that Messages left out. */
function stepsBetween(before: Stage, reached: Stage): readonly Step[] {
  return STEPS.filter((step) => {
    const rank = STAGES.indexOf(step)
    return rank > STAGES.indexOf(before) && rank <= STAGES.indexOf(reached)
  })
}

function dateOf(state: OwnState, step: Step): number | null {
  if (step === 'delivered') return state.deliveredAt
  return step === 'read' ? state.readAt : null
}
