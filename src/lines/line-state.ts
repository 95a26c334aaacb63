import type { LineBox, PhoneLine } from '../api/phone-lines.ts'
import {
  lineScope,
  scoped,
  type Finding,
  type FindingSubject,
  type ScopedFinding,
} from '../domain/finding.ts'
import type { BoxId } from '../domain/ids.ts'
import {
  NO_CAPABILITIES,
  OFFLINE_REASONS,
  lineName,
  type Capabilities,
  type Line,
  type LineState,
  type OfflineReason,
  type Place,
} from '../domain/line.ts'
import { hintFor } from '../domain/not-relayed.ts'
import type { NotRelayedCount } from '../storage/intake-records.ts'
import { sha256 } from '../system/hash.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Log } from '../system/log.ts'
import type { LineEvent } from './driver.ts'

export type LineSnapshot = {
  /** The stored line. Its checkpoint is as of the last start of the line's run. */
  readonly line: Line
  readonly state: LineState
  /** False for practice lines. */
  readonly isReal: boolean
  readonly abilities: Capabilities
  /** False for a practice line that the options of this start do not ask for. */
  readonly isConfigured: boolean
  /** Number of sends that a driver has in hand. */
  readonly inFlight: number
  /** Most sends in flight; 0 without a session. */
  readonly capacity: number
}

export type OnlineEvent = Extract<LineEvent, { readonly type: 'online' }>

export type LineFacts = {
  readonly absence: OfflineReason
  /** Reason not to run although the device is attached. */
  readonly obstacle: OfflineReason | null
  readonly isStopping: boolean
  /** Null until the driver has been asked for its devices. */
  readonly isFound: boolean | null
  /** The device's number, if it is not the stored one. */
  readonly otherNumber: string | null
  /** The driver's last `online`, while its session is open and no earlier session has a send left. */
  readonly online: OnlineEvent | null
  /** Reason of its last failure or `offline`. */
  readonly downReason: OfflineReason | null
}

/**
 * Decides whether a line is online, and the reason if not: the first of these that applies. Pure; the line's runner
 * calls it whenever one of the facts may have changed.
 */
export function stateOf(facts: LineFacts): LineState {
  if (facts.isStopping) return offline(OFFLINE_REASONS.stopping)
  if (facts.isFound === false) {
    const { code, hint } = facts.absence
    return offline({ code, hint })
  }
  if (facts.obstacle !== null) return offline(facts.obstacle)
  if (facts.otherNumber !== null) return offline(OFFLINE_REASONS.number_changed)
  if (facts.online === null) return offline(facts.downReason ?? OFFLINE_REASONS.starting)
  const { imessageActive, capabilities } = facts.online
  return { status: 'online', imessageActive, capabilities }
}

export function isSameState(a: LineState, b: LineState): boolean {
  if (a.status === 'offline') {
    return (
      b.status === 'offline' && a.reason.code === b.reason.code && a.reason.hint === b.reason.hint
    )
  }
  if (b.status === 'offline' || a.imessageActive !== b.imessageActive) return false
  return Bun.deepEquals(a.capabilities, b.capabilities)
}

/** Logs once when a line goes away, with its last `error`, and once when it is back. */
export function logState(log: Log, line: Line, state: LineState, error: Error | null): void {
  const fields = { line_id: line.id, driver: line.driver }
  if (state.status === 'online') {
    log.info('line is online', fields)
    return
  }
  const reason = state.reason.code
  if (error === null) log.info('line is offline', { ...fields, reason })
  else log.warn('line is offline', { ...fields, reason, error })
}

function offline(reason: OfflineReason): LineState {
  return { status: 'offline', reason }
}

export function phoneLineResource(
  { line, state, abilities }: LineSnapshot,
  stored: {
    readonly newContactsToday: number
    readonly notRelayed: readonly NotRelayedCount[]
    readonly nameOf: (box: BoxId) => string
    readonly siteId: string | null
  },
): PhoneLine {
  const { newContactsToday, notRelayed, nameOf, siteId } = stored
  const isOnline = state.status === 'online'
  return {
    id: line.id,
    phone_number: line.number,
    label: line.label,
    status: state.status,
    status_reason: isOnline ? null : state.reason.code,
    status_hint: isOnline ? null : state.reason.hint,
    imessage_active: isOnline && state.imessageActive,
    daily_contact_limit: line.dailyContactLimit,
    new_contacts_today: newContactsToday,
    is_enabled: line.isEnabled,
    ...(line.quietHours && { quiet_hours: line.quietHours }),
    relay_sms: line.relaySms,
    ...(abilities.groups === undefined ? {} : { relay_groups: line.relayGroups }),
    driver: line.driver,
    ...(siteId !== null && { site_id: siteId }),
    ...(line.box !== null && { box: { id: line.box, name: nameOf(line.box) } }),
    ...(line.movesTo !== null && { moves_to: placeResource(line.movesTo, nameOf) }),
    capabilities: isOnline ? state.capabilities : NO_CAPABILITIES,
    not_relayed: notRelayed.map((count) => ({
      kind: count.kind,
      count: count.count,
      since: isoTime(count.since),
      last_at: isoTime(count.lastAt),
      hint: hintFor(line, count.kind, abilities.groups !== undefined),
    })),
    created_at: isoTime(line.createdAt),
  }
}

function placeResource(place: Place, nameOf: (box: BoxId) => string): LineBox | null {
  return place === 'here' ? null : { id: place, name: nameOf(place) }
}

/** Findings of the drivers with their lines, followed by a finding for each offline line. */
export function findingsOf(
  lines: readonly LineSnapshot[],
  byDriver: ReadonlyMap<string, readonly Finding[]>,
): readonly ScopedFinding[] {
  const found = [...byDriver].flatMap(([driver, findings]) =>
    findings.map((finding) => {
      const { key, box = null } = finding
      const snapshot = lines.find(
        ({ line }) => line.driver === driver && line.key === key && line.box === box,
      )
      if (snapshot !== undefined) return scoped(finding, lineScope(snapshot.line.id))
      const ofDriver: FindingSubject =
        box === null ? { kind: 'driver', id: driver } : { kind: 'box', id: box }
      const about = key === null ? ofDriver : ({ kind: 'device', id: deviceIdOf(key) } as const)
      return scoped(finding, { about, lineId: null })
    }),
  )
  const offline = lines.flatMap(
    (snapshot) => offlineFinding(snapshot, byDriver.get(snapshot.line.driver) ?? []) ?? [],
  )
  return [...found, ...offline]
}

/** Reveals neither the UDID nor the hardware UUID of the device. */
function deviceIdOf(key: string): string {
  return sha256(key).toHex().slice(0, 16)
}

/** Offline reasons that a finding of the box or of the line explains. */
const EXPLAINED: readonly string[] = [
  OFFLINE_REASONS.box_unreachable.code,
  OFFLINE_REASONS.box_outdated.code,
  OFFLINE_REASONS.number_twice.code,
]
/** Offline reasons that the owner chose. */
const INTENDED: readonly string[] = [
  'not_configured',
  OFFLINE_REASONS.stopping.code,
  OFFLINE_REASONS.line_moving.code,
]

function offlineFinding(
  { line, state }: LineSnapshot,
  ofDriver: readonly Finding[],
): ScopedFinding | null {
  if (state.status === 'online') return null
  const { code, hint } = state.reason
  const cause = ofDriver.find(
    (finding) =>
      (finding.severity === 'error' || finding.code === code) &&
      (finding.box ?? null) === line.box &&
      (finding.key === null || finding.key === line.key),
  )
  return {
    code: 'line_offline',
    severity: INTENDED.includes(code) ? 'info' : 'warning',
    title: `The line ${lineName(line)} is offline`,
    why: 'Outgoing messages wait until it is back, for up to 24 hours.',
    fix: hint,
    scope: lineScope(line.id, line.box),
    depends_on: EXPLAINED.includes(code) ? code : (cause?.code ?? null),
  }
}
