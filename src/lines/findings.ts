import type { FindingSubject, Finding } from '../domain/finding.ts'
import type { LineId } from '../domain/ids.ts'
import { lineName } from '../domain/line.ts'
import { sha256 } from '../system/hash.ts'
import type { LineSnapshot } from './line-snapshot.ts'

/** A finding, and the line that it speaks of where its device is one. */
export type LineFinding = Finding & {
  readonly lineId: LineId | null
  /** Given where there is no line. */
  readonly about?: FindingSubject | undefined
}

/** What drivers found, named by line, and after it every line that is offline. */
export function findingsOf(
  lines: readonly LineSnapshot[],
  byDriver: ReadonlyMap<string, readonly Finding[]>,
): readonly LineFinding[] {
  const found = [...byDriver].flatMap(([driver, findings]) =>
    findings.map((finding): LineFinding => {
      const { key } = finding
      const live = lines.find(({ line }) => line.driver === driver && line.key === key)
      if (live !== undefined) return { ...finding, lineId: live.line.id }
      const isOfDriver = key === null
      const about: FindingSubject = isOfDriver
        ? { kind: 'driver', id: driver }
        : { kind: 'device', id: deviceIdOf(key) }
      return { ...finding, lineId: null, about }
    }),
  )
  const offline = lines.flatMap((live) => {
    const finding = offlineFinding(live, byDriver.get(live.line.driver) ?? [])
    return finding === null ? [] : [finding]
  })
  return [...found, ...offline]
}

/** A name for a device that gives away neither its UDID nor its hardware UUID. */
function deviceIdOf(key: string): string {
  return sha256(key).toHex().slice(0, 16)
}

function offlineFinding(
  { line, state }: LineSnapshot,
  ofDriver: readonly Finding[],
): LineFinding | null {
  if (state.status === 'online') return null
  const { code, hint } = state.reason
  const cause = ofDriver.find(
    (finding) =>
      (finding.severity === 'error' || finding.code === code) &&
      (finding.key === null || finding.key === line.key),
  )
  return {
    code: 'line_offline',
    severity: code === 'not_configured' || code === 'stopping' ? 'info' : 'warning',
    title: `The line ${lineName(line)} is offline`,
    why: 'Outgoing messages wait until it is back, for up to 24 hours.',
    fix: hint,
    key: line.key,
    depends_on: cause?.code ?? null,
    lineId: line.id,
  }
}
