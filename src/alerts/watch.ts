// Decides which causes are alerts. One transaction raises an alert: its row, its event with the deliveries, and a
// notice for each channel.

import type { HealthFinding } from '../api/health.ts'
import { timestamp, type AlertId } from '../domain/ids.ts'
import { includesLine } from '../domain/routing.ts'
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts'
import {
  deleteAlert,
  insertAlert,
  listChannels,
  openAlerts,
  ruleOf,
  updateAlert,
  type AlertRow,
} from '../storage/alerts.ts'
import type { Core } from '../storage/core.ts'
import { linesWithin } from '../storage/credentials.ts'
import type { Tx } from '../storage/database.ts'
import { mark } from '../storage/timeline.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import type { PublishOther, Subscribers } from '../webhooks/publish.ts'
import { Ages } from './ages.ts'
import { foundCauses, isPassing, nameOfCause, type AlertLine, type FoundCause } from './causes.ts'
import { joinNotices } from './notices.ts'
import { alertResource } from './resource.ts'

const LOOK_MS = 15_000
/** Shortest pause between two checks: changes of lines and webhooks start one early. */
const LOOK_MS_MIN = 1_000
/** After a start, some problems are found late: until then no alert counts as over. */
const SETTLED_MS = 90_000
/** A restart forgets a failed backup; the next daily run finds it again. */
const BACKUP_SETTLED_MS = 25 * HOUR_MS

type Changes = {
  readonly begun: readonly FoundCause[]
  /** Alerts whose cause begins later than before, because the oldest approval was decided. */
  readonly renewed: readonly Pick<AlertRow, 'id' | 'since'>[]
  readonly raised: readonly AlertRow[]
  readonly resolved: readonly { readonly alert: AlertRow; readonly lastedMs: number }[]
  readonly dropped: readonly AlertId[]
}

export class AlertWatch implements Service {
  readonly name = 'alert-watch'
  readonly #core: Core
  readonly #deps: ConstructorParameters<typeof AlertWatch>[1]
  readonly #ages: Ages
  /** The causes found since the start. */
  readonly #seen = new Set<string>()
  #startedAt = 0

  constructor(
    core: Core,
    deps: {
      readonly health: { list(): Promise<readonly HealthFinding[]> }
      readonly lines: () => readonly AlertLine[]
      readonly publish: Pick<PublishOther, 'alert'>
      readonly subscribers: Pick<Subscribers, 'isWanted'>
      /** Notified when a line or a webhook has changed. */
      readonly lookSignal: Signal
      /** Notified when a channel has something to send. */
      readonly noticeSignal: Signal
    },
  ) {
    this.#core = core
    this.#deps = deps
    this.#ages = new Ages(core)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#core
    this.#startedAt = clock.monotonic()
    this.#seen.clear()
    while (!signal.aborted) {
      await this.#look()
      await clock.sleep(LOOK_MS_MIN, signal)
      await this.#deps.lookSignal.wait(clock, LOOK_MS - LOOK_MS_MIN, signal)
    }
  }

  async #look(): Promise<void> {
    if (!this.#isWanted()) return this.#close()
    const { db, writer } = this.#core
    const lines = this.#deps.lines()
    const found = foundCauses(db, await this.#deps.health.list(), lines)
    for (const name of found.keys()) this.#seen.add(name)
    const passing = new Set<string>(lines.filter(isPassing).map(({ line }) => line.id))
    const changes = this.#changesBy(found, passing)
    if (Object.values(changes).every((list) => list.length === 0)) return
    await writer.write((tx) => this.#apply(tx, changes))
    this.#deps.noticeSignal.notify()
  }

  /** True if a channel or another receiver of alerts exists. */
  #isWanted(): boolean {
    const { db, settings } = this.#core
    const { subscribers } = this.#deps
    return (
      settings.get('heartbeat_stops_for') !== null ||
      listChannels(db).length > 0 ||
      subscribers.isWanted('alert.raised') ||
      subscribers.isWanted('alert.resolved')
    )
  }

  /** Closes all alerts without a notice, because nothing uses alerts any more. */
  async #close(): Promise<void> {
    const { db, writer, clock } = this.#core
    const open = openAlerts(db)
    if (open.length === 0) return
    const resolvedAt = timestamp(clock.now())
    await writer.write((tx) => {
      for (const alert of open) {
        const lastedMs = Math.round(this.#ageOf(alert))
        if (alert.raisedAt === null) deleteAlert(tx, alert.id)
        else updateAlert(tx, alert.id, { resolvedAt, lastedMs })
      }
    })
  }

  #changesBy(found: ReadonlyMap<string, FoundCause>, passing: ReadonlySet<string>): Changes {
    const open = openAlerts(this.#core.db)
    const known = new Map(open.map((alert) => [nameOf(alert), alert]))
    const isUnknown = ({ cause, lineId }: Pick<FoundCause, 'cause' | 'lineId'>) =>
      cause === 'line_off' && passing.has(lineId ?? '') && !this.#isSettled(SETTLED_MS)
    const over = open.filter((alert) => {
      return !found.has(nameOf(alert)) && this.#mayEnd(alert) && !isUnknown(alert)
    })
    const lasting = open.filter((alert) => found.has(nameOf(alert)) && !isUnknown(alert))
    this.#ages.keep(new Set(open.map(ageName)))
    return {
      begun: [...found].flatMap(([name, one]) => (known.has(name) || isUnknown(one) ? [] : [one])),
      renewed: lasting.flatMap((alert) => {
        const since = found.get(nameOf(alert))?.since ?? alert.since
        return alert.raisedAt === null && since > alert.since ? [{ id: alert.id, since }] : []
      }),
      raised: lasting.filter((alert) => this.#isDue(alert, found.get(nameOf(alert)))),
      resolved: over
        .filter(({ raisedAt }) => raisedAt !== null)
        .map((alert) => ({ alert, lastedMs: this.#ageOf(alert) })),
      dropped: over.filter(({ raisedAt }) => raisedAt === null).map(({ id }) => id),
    }
  }

  #ageOf(alert: AlertRow): number {
    return this.#ages.of(ageName(alert), alert.since)
  }

  #isSettled(ms: number): boolean {
    return this.#core.clock.monotonic() - this.#startedAt >= ms
  }

  /** False shortly after a start, if the alert's cause may not have been found again yet. */
  #mayEnd(alert: AlertRow): boolean {
    if (this.#seen.has(nameOf(alert))) return true
    return this.#isSettled(alert.cause === 'backup' ? BACKUP_SETTLED_MS : SETTLED_MS)
  }

  #isDue(alert: AlertRow, found: FoundCause | undefined): boolean {
    if (alert.raisedAt !== null || found === undefined || found.isSnoozed) return false
    if (found.since !== null && found.since > alert.since) return false
    const rule = ruleOf(this.#core.db, alert.cause)
    const lines = linesWithin(this.#core.db, rule)
    if (!rule.isEnabled || !includesLine(lines, alert.lineId ?? '')) return false
    return this.#ageOf(alert) >= rule.afterMinutes * MINUTE_MS
  }

  #apply(tx: Tx, { begun, renewed, raised, resolved, dropped }: Changes): void {
    const { ids, clock } = this.#core
    const now = timestamp(clock.now())
    for (const id of dropped) deleteAlert(tx, id)
    for (const { id, since } of renewed) updateAlert(tx, id, { since })
    for (const { cause, about, lineId, title, since } of begun) {
      const of = { cause, aboutKind: about.kind, aboutId: about.id ?? '', lineId, title }
      const times = { since: since ?? now, raisedAt: null, resolvedAt: null, lastedMs: null }
      insertAlert(tx, { id: ids.id('alert'), ...of, ...times })
    }
    for (const alert of raised) {
      const changes = { raisedAt: now }
      updateAlert(tx, alert.id, changes)
      this.#announce(tx, 'alert.raised', { ...alert, ...changes })
    }
    for (const { alert, lastedMs } of resolved) {
      const changes = { resolvedAt: now, lastedMs: Math.round(lastedMs) }
      updateAlert(tx, alert.id, changes)
      this.#announce(tx, 'alert.resolved', { ...alert, ...changes })
    }
    const news = {
      raised: raised.map(({ id }) => id),
      resolved: resolved.map(({ alert }) => alert.id),
    }
    joinNotices(tx, this.#core, news)
  }

  #announce(tx: Tx, name: 'alert.raised' | 'alert.resolved', alert: AlertRow): void {
    const { id, lineId, title, lastedMs } = alert
    const at = timestamp(this.#core.clock.now())
    const since = lastedMs === null ? undefined : at - lastedMs
    mark(tx, { at, kind: name, lineId, about: id, detail: { name: title, since } })
    this.#deps.publish.alert(tx, name, alertResource(alert), id)
  }
}

function nameOf({ cause, aboutKind, aboutId }: AlertRow): string {
  return nameOfCause(cause, { kind: aboutKind, id: aboutId === '' ? null : aboutId })
}

/** Includes `since`, because the time of an approval changes when the oldest one is decided. */
function ageName({ id, since }: AlertRow): string {
  return `${id} ${since}`
}
