// What is wrong now, why, and what to do: one catalogue for the API, the command line and the
// dashboard. Findings come from those who know; this file only remembers since when.

import type * as api from '../api/health.ts'
import type { FindingSubject, Finding } from '../domain/finding.ts'
import type { Timestamp } from '../domain/ids.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Stamps } from '../system/stamps.ts'

/** A finding with its line, where it has one. Without `about` it is about that line, or the relay. */
export type HealthFinding = Omit<Finding, 'key'> & {
  readonly lineId: string | null
  readonly about?: FindingSubject | undefined
}

/** A finding about the relay itself. */
export function ofRelay(finding: Finding): HealthFinding {
  return { ...finding, lineId: null }
}

/** A finding about a webhook, whose id is its `key`. */
export function ofWebhook({ key, ...finding }: Finding): HealthFinding {
  return { ...finding, lineId: null, about: { kind: 'webhook', id: key } }
}

/** A finding about the device of one of `lines`. */
export function ofLine(
  { key, ...finding }: Finding,
  lines: readonly { readonly line: { readonly id: string; readonly key: string } }[],
): HealthFinding {
  const found = lines.find(({ line }) => line.key === key)
  return { ...finding, lineId: found?.line.id ?? null }
}

type FindingSource = () => Promise<readonly HealthFinding[]>

/** How long a finding is shown that was only met in passing. */
const PASSING_MS = 3_600_000
const PASSING_MAX = 100

export class HealthCatalogue {
  readonly #stamps: Stamps
  readonly #sources: FindingSource[] = []
  readonly #since = new Map<string, Timestamp>()
  readonly #passing = new Map<string, { readonly finding: HealthFinding; readonly at: Timestamp }>()
  #reading: Promise<readonly api.HealthFinding[]> | null = null

  constructor(stamps: Stamps) {
    this.#stamps = stamps
  }

  /** Asks `source` each time the catalogue is read. */
  include(source: FindingSource): void {
    this.#sources.push(source)
  }

  /** Shows `finding` for an hour from now: it was met in passing and has no state of its own. */
  report(finding: HealthFinding): void {
    if (this.#passing.size >= PASSING_MAX) return
    this.#passing.set(nameOf(finding), { finding, at: this.#stamps.now() })
  }

  /**
   * Everything that is wrong now, errors first, oldest first. Who asks while another does gets the
   * same answer: a driver takes one question at a time.
   */
  list(): Promise<readonly api.HealthFinding[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #read(): Promise<readonly api.HealthFinding[]> {
    const found = await Promise.all(this.#sources.map((source) => source()))
    const findings = [...found.flat(), ...this.#stillPassing()]
    this.#remember(findings)
    return findings.map((finding) => this.#resource(finding)).toSorted(byUrgency)
  }

  #stillPassing(): readonly HealthFinding[] {
    const since = this.#stamps.now() - PASSING_MS
    for (const [name, { at }] of this.#passing) if (at < since) this.#passing.delete(name)
    return [...this.#passing.values()].map(({ finding }) => finding)
  }

  #remember(findings: readonly HealthFinding[]): void {
    const names = new Set(findings.map(nameOf))
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name)
    for (const name of names) {
      if (!this.#since.has(name)) this.#since.set(name, this.#stamps.now())
    }
  }

  #resource(finding: HealthFinding): api.HealthFinding {
    return {
      code: finding.code,
      severity: finding.severity,
      title: finding.title,
      why: finding.why,
      fix: finding.fix,
      line_id: finding.lineId,
      about: subjectOf(finding),
      since: isoTime(this.#since.get(nameOf(finding)) ?? this.#stamps.now()),
      depends_on: finding.depends_on,
    }
  }
}

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'info']

function byUrgency(a: api.HealthFinding, b: api.HealthFinding): number {
  const rank = SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)
  return rank === 0 ? a.since.localeCompare(b.since) : rank
}

function subjectOf({ lineId, about }: HealthFinding): FindingSubject {
  if (about !== undefined) return about
  return lineId === null ? { kind: 'relay', id: null } : { kind: 'line', id: lineId }
}

/** Code and subject: what makes two findings the same one. */
function nameOf(finding: HealthFinding): string {
  const { kind, id } = subjectOf(finding)
  return `${finding.code} ${kind} ${id ?? ''}`
}
