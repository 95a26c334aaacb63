// The catalogue of findings for the API, the command line and the dashboard. Each module reports its own
// findings; the catalogue remembers since when each one has been shown.

import type * as api from '../api/health.ts'
import {
  type Finding,
  type FindingScope,
  type FindingSubject,
  type ScopedFinding,
  isCovered,
  lineScope,
  scoped,
} from '../domain/finding.ts'
import type { Timestamp } from '../domain/ids.ts'
import type { Core } from '../storage/core.ts'
import type { Snooze } from '../storage/snoozes.ts'
import { isoTime } from '../system/iso-time.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { Service } from '../system/service.ts'
import type { Signal } from '../system/signal.ts'
import { findingsIn, findingTrees } from './causes.ts'

const OF_RELAY: FindingScope = { about: { kind: 'relay', id: null }, lineId: null }

export function ofRelay(finding: Finding): ScopedFinding {
  return scoped(finding, OF_RELAY)
}

/** The `key` of the finding is the id of the webhook. */
export function ofWebhook(finding: Finding): ScopedFinding {
  return scoped(finding, { about: { kind: 'webhook', id: finding.key }, lineId: null })
}

export function ofLine(
  finding: Finding,
  lines: readonly { readonly line: { readonly id: string; readonly key: string } }[],
): ScopedFinding {
  const found = lines.find(({ line }) => line.key === finding.key)
  return scoped(finding, found === undefined ? OF_RELAY : lineScope(found.line.id))
}

type FindingSource = () => Promise<readonly ScopedFinding[]>

/** The time for which a reported finding is shown. */
const REPORTED_MS = 3_600_000
const REPORTED_MAX = 100

export class HealthCatalogue {
  readonly #ids: LogicalClock
  readonly #snoozes: () => ReadonlyMap<string, Snooze>
  readonly #sources: FindingSource[] = []
  readonly #since = new Map<string, Timestamp>()
  readonly #reported = new Map<string, { finding: ScopedFinding; at: Timestamp }>()
  #reading: Promise<readonly api.HealthFinding[]> | null = null

  constructor(ids: LogicalClock, snoozes: () => ReadonlyMap<string, Snooze>) {
    this.#ids = ids
    this.#snoozes = snoozes
  }

  /** Asks `source` whenever the catalogue is read. */
  include(source: FindingSource): void {
    this.#sources.push(source)
  }

  /** Like `include`, for findings about the relay itself. */
  includeRelay(
    ...sources: readonly { findings(): readonly Finding[] | Promise<readonly Finding[]> }[]
  ): void {
    for (const source of sources) {
      this.include(async () => (await source.findings()).map(ofRelay))
    }
  }

  /** Shows `finding`, which has no known end, for an hour from now. */
  report(finding: ScopedFinding): void {
    if (this.#reported.size >= REPORTED_MAX) return
    this.#reported.set(nameOf(finding), { finding, at: this.#ids.now() })
  }

  /**
   * Everything that is wrong now, errors first, then oldest first. Overlapping calls share one answer, because a
   * driver answers one question at a time.
   */
  list(): Promise<readonly api.HealthFinding[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(): Promise<readonly api.HealthFinding[]> {
    const found = await Promise.all(this.#sources.map((source) => source()))
    const findings = [...found.flat(), ...this.#stillReported()]
    this.#remember(findings)
    const snoozes = this.#snoozes()
    const listed = findings.map((finding) => this.#resource(finding, snoozes.get(nameOf(finding))))
    return findingTrees(listed)
      .flatMap((tree) => findingsIn(tree))
      .toSorted(byUrgency)
  }

  #stillReported(): readonly ScopedFinding[] {
    const since = this.#ids.now() - REPORTED_MS
    for (const [name, { at }] of this.#reported) if (at < since) this.#reported.delete(name)
    return [...this.#reported.values()].map(({ finding }) => finding)
  }

  #remember(findings: readonly ScopedFinding[]): void {
    const names = new Set(findings.map(nameOf))
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name)
    for (const name of names) {
      if (!this.#since.has(name)) this.#since.set(name, this.#ids.now())
    }
  }

  #resource(finding: ScopedFinding, snooze: Snooze | undefined): api.HealthFinding {
    const now = this.#ids.now()
    const isSnoozed =
      snooze !== undefined && snooze.until > now && isCovered(finding.severity, snooze.severity)
    return {
      code: finding.code,
      severity: finding.severity,
      title: finding.title,
      why: finding.why,
      fix: finding.fix,
      line_id: finding.scope.lineId,
      about: finding.scope.about,
      since: isoTime(this.#since.get(nameOf(finding)) ?? now),
      depends_on: finding.depends_on,
      ...(finding.scope.boxes !== undefined && { boxes: finding.scope.boxes }),
      ...(isSnoozed && { snoozed_until: isoTime(snooze.until) }),
    }
  }
}

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'info']

function byUrgency(a: api.HealthFinding, b: api.HealthFinding): number {
  const rank = SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)
  return rank === 0 ? a.since.localeCompare(b.since) : rank
}

function nameOf({ code, scope }: ScopedFinding): string {
  return findingName(code, scope.about)
}

/** Findings with the same name are the same finding. */
export function findingName(code: string, { kind, id }: FindingSubject): string {
  return `${code} ${kind} ${id ?? ''}`
}

const WATCHED_EVERY_MS = 15_000
const UNWATCHED_EVERY_MS = 60_000

/**
 * Publishes a change when the catalogue has changed. Most findings can only be polled, so it reads the catalogue
 * every 15 s while the change feed has a watcher. A module that knows of a change notifies `healthSignal`.
 */
export function healthWatch(
  { clock, changes }: Core,
  given: { readonly health: Pick<HealthCatalogue, 'list'>; readonly healthSignal: Signal },
): Service {
  const { health, healthSignal } = given
  let seen = ''
  return {
    name: 'health-watch',
    async run(signal) {
      while (!signal.aborted) {
        const ms = changes.isWatched ? WATCHED_EVERY_MS : UNWATCHED_EVERY_MS
        await healthSignal.wait(clock, ms, signal)
        if (!changes.isWatched || signal.aborted) continue
        const found = JSON.stringify(await health.list())
        if (found !== seen) changes.publish([{ what: 'health', id: 'health' }])
        seen = found
      }
    },
  }
}
