// Notifies the channels. A channel has one notice that waits, which collects alerts; its text is fixed in
// the transaction that hands it over. Each channel has its own task, so that one that hangs delays no other.

import { noticeWords, NOTICES_PER_HOUR, type NoticeKind } from '../domain/alert.ts'
import { RelayError } from '../domain/errors.ts'
import { timestamp, type AlertId, type ChannelId, type NoticeId } from '../domain/ids.ts'
import { quietUntil } from '../domain/quiet-hours.ts'
import { DAY_MS, HOUR_MS } from '../domain/time.ts'
import {
  alertsNamed,
  endPause,
  findNotice,
  insertNotice,
  lastHandedOver,
  listChannels,
  openNotices,
  updateNotice,
  type AlertChannel,
  type AlertRow,
  type NoticeRow,
} from '../storage/alerts.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { findMessage } from '../storage/messages.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import { Ages } from './ages.ts'

/** Longer than the pause between two checks of the watch, so that problems that begin together share a notice. */
const GATHER_MS = 20_000
const LOOK_MS = 5_000
const LOOK_IDLE_MS = 60_000
/** A notice that can't be handed over for this long is given up. */
const WAIT_MS_MAX = DAY_MS
/** A text whose outcome is uncertain for this long counts as failed. */
const UNCERTAIN_MS_MAX = 2 * DAY_MS
/** Alerts that a notice lists; it counts those beyond. */
const LISTED_MAX = 500
/** Notices read for the hourly limit: one more than it, so that the last summary is among them. */
const RECENT = NOTICES_PER_HOUR + 1

/** The rendered text of a notice. */
export type Said = { readonly title: string; readonly text: string; readonly kind: NoticeKind }

/** The result of a delivery. `wait`: it is retried; `fail`: it can never work. */
export type Tried =
  | { readonly result: 'handed_over' | 'done' }
  | { readonly result: 'wait' | 'fail'; readonly error: string }

/** Stores that a notice is handed over; throws if more joined it since it was written. */
export type HandOver = (tx: Tx, more: Partial<NoticeRow>) => void

/** Gives a notice to its receiver. */
export type Deliver = (given: {
  readonly channel: AlertChannel
  readonly notice: NoticeRow
  readonly said: Said
  /** The alerts that the notice mentions. */
  readonly about: readonly AlertRow[]
  readonly handOver: HandOver
  readonly signal: AbortSignal
}) => Promise<Tried>

/** Adds alerts to the waiting notice of each channel. */
export function joinNotices(
  tx: Tx,
  { ids, clock }: Pick<Core, 'ids' | 'clock'>,
  news: Pick<NoticeRow, 'raised' | 'resolved'>,
): void {
  if (news.raised.length + news.resolved.length === 0) return
  const open = openNotices(tx)
  const createdAt = timestamp(clock.now())
  for (const { id: channelId } of listChannels(tx)) {
    const waiting = open.find(
      (one) => one.status === 'waiting' && one.kind !== 'test' && one.channelId === channelId,
    )
    const lists = joined(waiting ?? { raised: [], resolved: [], also: 0 }, news)
    const kind = lists.raised.length > 0 ? 'raised' : 'resolved'
    if (waiting === undefined) {
      const status = 'waiting'
      insertNotice(tx, { id: ids.id('ntc'), channelId, kind, ...lists, status, createdAt })
    } else updateNotice(tx, waiting.id, { ...lists, ...(waiting.kind !== 'summary' && { kind }) })
  }
}

type Lists = Pick<NoticeRow, 'raised' | 'resolved' | 'also'>

function joined(known: Lists, news: Pick<NoticeRow, 'raised' | 'resolved'>): Lists {
  const room = LISTED_MAX - known.raised.length - known.resolved.length
  const raised = news.raised.slice(0, Math.max(0, room))
  // The end of an alert that is already listed takes no room: its entry changes.
  const resolved = news.resolved.filter((id) => known.raised.includes(id) || room > raised.length)
  return {
    raised: [...known.raised, ...raised],
    resolved: [...known.resolved, ...resolved],
    also: known.also + news.raised.length - raised.length + news.resolved.length - resolved.length,
  }
}

export class AlertNotices implements Service {
  readonly name = 'alert-notices'
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof AlertNotices>[1]
  readonly #ages: Ages
  /** The tasks of channels that are being notified. */
  readonly #busy = new Map<ChannelId, Promise<void>>()

  constructor(
    core: Core,
    deps: {
      readonly noticeSignal: Signal
      /** Called when a notice has ended, by its id. */
      readonly endings: ReadonlyMap<NoticeId, () => void>
      readonly deliver: Deliver
      /** The pause after this many attempts; null after the last. */
      readonly pauseMs: (attempts: number) => number | null
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#ages = new Ages(core)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, db } = this.#core
    try {
      while (!signal.aborted) {
        await this.#tick(signal)
        const waitMs = openNotices(db).length > 0 ? LOOK_MS : LOOK_IDLE_MS
        await this.#deps.noticeSignal.wait(clock, waitMs, signal)
      }
    } finally {
      await Promise.all(this.#busy.values())
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { db } = this.#core
    const open = openNotices(db)
    this.#ages.forgetOlder(2 * DAY_MS)
    for (const notice of open) if (notice.messageId !== null) await this.#follow(notice)
    for (const channel of listChannels(db)) {
      if (this.#busy.has(channel.id)) continue
      const own = open.filter((one) => one.channelId === channel.id && one.messageId === null)
      const next = await this.#nextOf(channel, own)
      if (next === undefined) continue
      const task = this.#notify(channel, next, signal)
        .catch((error: unknown) => this.#core.log.error('an alert broke off', { error }))
        .finally(() => this.#busy.delete(channel.id))
      this.#busy.set(channel.id, task)
    }
  }

  /** The notice to try now. A test or a new alert doesn't wait behind one that its receiver refuses. */
  async #nextOf(channel: AlertChannel, own: readonly NoticeRow[]): Promise<NoticeRow | undefined> {
    const first =
      own.find(({ kind }) => kind === 'test') ??
      own.find(({ status, triedAt }) => status === 'handed_over' && triedAt === null)
    if (first !== undefined) return first
    const waiting = own.find(({ status }) => status === 'waiting')
    if (waiting !== undefined && (await this.#isReady(channel, waiting))) return waiting
    return own.find((notice) => this.#isPauseOver(notice))
  }

  #isPauseOver({ id, attempts, triedAt }: NoticeRow): boolean {
    const pauseMs = this.#deps.pauseMs(attempts)
    if (triedAt === null || pauseMs === null) return false
    return this.#ages.of(`${id} ${attempts}`, triedAt) >= pauseMs
  }

  async #isReady(channel: AlertChannel, notice: NoticeRow): Promise<boolean> {
    const isGathered = this.#ages.of(notice.id, notice.createdAt) >= GATHER_MS
    return isGathered && !this.#isQuiet(channel) && this.#hasRoom(channel, notice)
  }

  /** True in the channel's quiet hours by the relay's clock or the wall clock: if they differ, either may be right. */
  #isQuiet({ quietHours }: AlertChannel): boolean {
    const { clock, settings } = this.#core
    if (quietHours === null) return false
    const zone = settings.get('time_zone')
    return [clock.now(), clock.wall()].some((at) => quietUntil(quietHours, at, zone) !== null)
  }

  /** At most six notices in any hour; later alerts go into a summary, at most one in any hour. */
  async #hasRoom(channel: AlertChannel, notice: NoticeRow): Promise<boolean> {
    const recent = lastHandedOver(this.#core.db, channel.id, RECENT).filter(
      ({ id, handedOverAt }) =>
        handedOverAt !== null && this.#ages.of(handedOver({ id }), handedOverAt) < HOUR_MS,
    )
    const isFull = recent.length >= NOTICES_PER_HOUR
    if (isFull && notice.kind !== 'summary') {
      await this.#update(notice, { kind: 'summary' })
    }
    const isSummary = isFull || notice.kind === 'summary'
    return !isFull && !(isSummary && recent.some(({ kind }) => kind === 'summary'))
  }

  async #notify(channel: AlertChannel, notice: NoticeRow, signal: AbortSignal): Promise<void> {
    const about = alertsNamed(this.#core.db, [...notice.raised, ...notice.resolved])
    const said = this.#said(notice, about)
    const handOver: HandOver = (tx, more) => {
      const now = findNotice(tx, notice.id)
      if (now === null || !Bun.deepEquals(listsOf(now), listsOf(notice))) throw new ChangedError()
      if (now.status !== 'waiting') throw new ChangedError()
      const { title, text, kind } = said
      const at = timestamp(this.#core.clock.now())
      const fixed = { title, text, kind, status: 'handed_over', handedOverAt: at } as const
      updateNotice(tx, notice.id, { ...fixed, error: null, ...more })
      this.#ages.of(handedOver(notice), at)
    }
    try {
      const tried = await this.#deps.deliver({ channel, notice, said, about, handOver, signal })
      await this.#record(notice, tried)
    } catch (error) {
      if (error instanceof ChangedError) return this.#deps.noticeSignal.notify()
      // A full disk, or a limit of sends: it is tried again.
      if (!(error instanceof RelayError)) throw error
      await this.#record(notice, { result: 'wait', error: error.code })
    }
  }

  #said(notice: NoticeRow, about: readonly AlertRow[]): Said {
    if (notice.title !== null && notice.text !== null) {
      return { title: notice.title, text: notice.text, kind: notice.kind }
    }
    const { clock, settings } = this.#core
    const zone = settings.get('time_zone')
    const at = Temporal.Instant.fromEpochMilliseconds(clock.now()).toZonedDateTimeISO(zone)
    const time = `${at.toPlainTime().toString({ smallestUnit: 'minute' })} (${zone})`
    const alerts = about.map((alert) => ({
      title: alert.title,
      lastedMs: alert.lastedMs ?? this.#ages.of(alert.id, alert.since),
      isOver: alert.resolvedAt !== null,
    }))
    const isOver = alerts.length > 0 && alerts.every((alert) => alert.isOver)
    const kind = notice.kind === 'raised' && isOver ? 'resolved' : notice.kind
    return { ...noticeWords(kind, alerts, { time, also: notice.also }), kind }
  }

  async #record(notice: NoticeRow, tried: Tried): Promise<void> {
    const now = findNotice(this.#core.db, notice.id)
    // Removing the channel ends its notices.
    if (now === null || now.status === 'done' || now.status === 'failed') return
    if (!('error' in tried)) {
      return tried.result === 'done' ? this.#end(now, 'done', null) : undefined
    }
    const { error, result } = tried
    if (result === 'fail') return this.#end(now, 'failed', error)
    if (now.status === 'waiting') {
      const isTooOld = this.#ages.of(now.id, now.createdAt) >= WAIT_MS_MAX
      if (isTooOld || now.kind === 'test') return this.#end(now, 'failed', error)
      if (now.error !== error) await this.#update(now, { error })
      return
    }
    return this.#recordFailure(now, error)
  }

  async #recordFailure(notice: NoticeRow, error: string): Promise<void> {
    const attempts = notice.attempts + 1
    if (this.#deps.pauseMs(attempts) === null || notice.kind === 'test') {
      return this.#end({ ...notice, attempts }, 'failed', error)
    }
    const triedAt = timestamp(this.#core.clock.now())
    await this.#update(notice, { attempts, triedAt, error })
  }

  /** Ends a notice that was sent as a text, by the state of its message. */
  async #follow(notice: NoticeRow): Promise<void> {
    const message = notice.messageId && findMessage(this.#core.db, notice.messageId)
    if (!message) return this.#end(notice, 'failed', 'message_deleted')
    const { status, sentAt } = message
    if (sentAt !== null && status !== 'failed') return this.#end(notice, 'done', null)
    if (status === 'failed' || status === 'expired') {
      return this.#end(notice, 'failed', message.error?.code ?? status)
    }
    return this.#followUnsent(notice, status === 'uncertain')
  }

  async #followUnsent(notice: NoticeRow, isUncertain: boolean): Promise<void> {
    // An uncertain message may have arrived, so it isn't sent again.
    const error = isUncertain ? 'uncertain' : null
    const ageMs = this.#core.clock.ageOf(notice.handedOverAt ?? notice.createdAt)
    if (isUncertain && ageMs >= UNCERTAIN_MS_MAX) return this.#end(notice, 'failed', error)
    if (notice.error !== error) await this.#update(notice, { error })
  }

  async #end(notice: NoticeRow, status: 'done' | 'failed', error: string | null): Promise<void> {
    const endedAt = timestamp(this.#core.clock.now())
    const isPosted = notice.messageId === null && status === 'done'
    const attempts = notice.attempts + (isPosted ? 1 : 0)
    await this.#core.writer.write((tx) => {
      updateNotice(tx, notice.id, { status, error, endedAt, attempts })
      if (isPosted) endPause(tx, notice.channelId)
    })
    this.#deps.endings.get(notice.id)?.()
  }

  async #update(notice: NoticeRow, changes: Parameters<typeof updateNotice>[2]): Promise<void> {
    await this.#core.writer.write((tx) => updateNotice(tx, notice.id, changes))
  }
}

/** More alerts joined the notice after its text was written. */
class ChangedError extends Error {
  override readonly name = 'ChangedError'
}

function handedOver({ id }: Pick<NoticeRow, 'id'>): string {
  return `${id} handed over`
}

function listsOf({ raised, resolved, also }: NoticeRow) {
  return { raised, resolved, also }
}

/** The notices that mention the alert. */
export function noticesOf(id: AlertId, notices: readonly NoticeRow[]): readonly NoticeRow[] {
  return notices.filter(({ raised, resolved }) => raised.includes(id) || resolved.includes(id))
}

export function insertTest(
  tx: Tx,
  { ids, clock }: Pick<Core, 'ids' | 'clock'>,
  channelId: ChannelId,
): NoticeRow['id'] {
  const id = ids.id('ntc')
  const empty = { kind: 'test', raised: [], resolved: [], status: 'waiting' } as const
  insertNotice(tx, { id, channelId, ...empty, createdAt: timestamp(clock.now()) })
  return id
}
