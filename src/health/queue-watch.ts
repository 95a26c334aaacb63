import {
  lineScope,
  type Finding,
  type FindingScope,
  type ScopedFinding,
} from '../domain/finding.ts'
import type { Timestamp } from '../domain/ids.ts'
import { type Line, lineName } from '../domain/line.ts'
import { countWords, grouped } from '../domain/number-words.ts'
import { hostOf, webhookName } from '../domain/webhook-url.ts'
import { WEBHOOKS_MAX } from '../domain/webhook.ts'
import type { Core } from '../storage/core.ts'
import { longestDueDelivery, pendingDeliveries } from '../storage/delivery-queue.ts'
import { COUNTED_MAX, waitingForLine, type Waiting } from '../storage/message-lists.ts'
import { listWebhooks, type StoredWebhook } from '../storage/webhooks.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import type { WatchedLine, WatchedLines } from './line-findings.ts'

const LOOK_MS = 60_000

/** A queue that could be worked off; its oldest entry has waited since `oldest`. */
type Queue = {
  readonly name: string
  readonly oldest: Timestamp
  readonly finding: () => ScopedFinding
}

/**
 * Checks every minute for queues that don't move although nothing known blocks them. It runs even if nobody watches,
 * because the time for which a queue has been slow must be measured.
 */
export class QueueWatch implements Service {
  readonly name = 'queue-watch'
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof QueueWatch>[1]
  #slow = new Map<string, SlowSince>()
  #findings: readonly ScopedFinding[] = []

  /** A webhook with a finding isn't watched: the finding explains why its deliveries wait. */
  constructor(
    core: Core,
    deps: {
      readonly healthSignal: Signal
      readonly disk: { readonly isLow: boolean }
      readonly lines: WatchedLines
      readonly webhooks: { findings(): readonly Finding[] }
    },
  ) {
    this.#core = core
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#look()
      await this.#core.clock.sleep(LOOK_MS, signal)
    }
  }

  findings(): readonly ScopedFinding[] {
    return this.#findings
  }

  #look(): void {
    const { clock } = this.#core
    const now = clock.monotonic()
    const queues = this.#deps.disk.isLow ? [] : [...this.#lineQueues(), ...this.#webhookQueues()]
    const slow = new Map(
      queues.map(({ name, oldest }) => {
        const before = this.#slow.get(name) ?? null
        return [name, nextSlowSince(before, clock.now() - oldest, now)]
      }),
    )
    const shown = this.#findings.length
    this.#slow = slow
    this.#findings = queues
      .filter(({ name }) => isBacklog(slow.get(name) ?? null, now))
      .map((queue) => queue.finding())
    if (this.#findings.length !== shown) this.#deps.healthSignal.notify()
  }

  #lineQueues(): readonly Queue[] {
    return this.#deps.lines
      .lines()
      .filter(takesMessages)
      .flatMap(({ line }): Queue[] => {
        const waiting = waitingForLine(this.#core.db, line.id)
        if (waiting === null) return []
        const finding = () => lineFinding(line, waiting)
        return [{ name: line.id, oldest: waiting.oldest, finding }]
      })
  }

  #webhookQueues(): readonly Queue[] {
    const { db } = this.#core
    const troubled = new Set(this.#deps.webhooks.findings().map(({ key }) => key))
    return listWebhooks(db, WEBHOOKS_MAX, null)
      .filter(({ id, isActive }) => isActive && !troubled.has(id))
      .flatMap((webhook): Queue[] => {
        const oldest = longestDueDelivery(db, webhook.seq)
        if (oldest === null) return []
        return [{ name: webhook.id, oldest, finding: () => this.#webhookFinding(webhook, oldest) }]
      })
  }

  #webhookFinding(webhook: StoredWebhook, oldest: Timestamp): ScopedFinding {
    const { count } = pendingDeliveries(this.#core.db, webhook.seq)
    return {
      ...slowFinding({ about: { kind: 'webhook', id: webhook.id }, lineId: null }),
      title: `${webhookName(webhook)} webhook is slower than its events`,
      why: `Deliveries waiting for ${hostOf(webhook)}: ${grouped(count)}, the oldest due since ${isoTime(oldest)}. The endpoint returned no errors that would explain it.`,
      fix: 'Have the endpoint respond at once and do its work afterwards. Queued events are sent automatically.',
    }
  }
}

function takesMessages({ line, state }: WatchedLine): boolean {
  return line.isEnabled && state.status === 'online' && state.imessageActive
}

function lineFinding(line: Line, { count, oldest }: Waiting): ScopedFinding {
  const isCut = count === COUNTED_MAX
  const conversations = `${isCut ? 'at least ' : ''}${countWords(count, 'conversation')}`
  return {
    ...slowFinding(lineScope(line.id)),
    title: `Messages are waiting although line ${lineName(line)} is online`,
    why: `Messages in ${conversations} are waiting for this line, the oldest since ${isoTime(oldest)}.`,
    fix: 'If some still go out, you are sending faster than the line can: send less or add a line. If none do, restart Hookline and check the log.',
  }
}

function slowFinding(scope: FindingScope) {
  return { code: 'queue_growing', severity: 'warning', scope, depends_on: null } as const
}

/** A retry takes at most 36 seconds and a slow device half a minute, so ten minutes have another cause. */
const TOO_LONG_MS = 10 * 60_000
/** A backlog that is shown is over once nothing in it has waited longer than this. */
const OVER_MS = 5 * 60_000
/** After an outage, everything in a queue is old; it may take this long to work it off. */
const GRACE_MS = 5 * 60_000

/** Since when a queue has been too slow, on the monotonic clock; null if it isn't. */
export type SlowSince = number | null

/** The new state, given that the queue's oldest entry has waited for `waitedMs`. */
export function nextSlowSince(before: SlowSince, waitedMs: number, now: number): SlowSince {
  const tooLongMs = isBacklog(before, now) ? OVER_MS : TOO_LONG_MS
  return waitedMs < tooLongMs ? null : (before ?? now)
}

/** True if a queue has been slow for so long that the owner should know. */
export function isBacklog(since: SlowSince, now: number): boolean {
  return since !== null && now - since >= GRACE_MS
}
