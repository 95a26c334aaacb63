// Compares the devices that a driver finds with the known lines.

import type { BoxId, LineId } from '../domain/ids.ts'
import { OFFLINE_REASONS, type Line, type OfflineReason } from '../domain/line.ts'
import type { DriverLine, Found } from './driver.ts'

/** Reason why a box cannot be used now, or null. */
export type BoxAbsence = (box: BoxId) => OfflineReason | null

type Device = { readonly key: string; readonly number: string; readonly box: BoxId | null }

export type Discovery = {
  readonly present: readonly {
    readonly id: LineId
    readonly number: string | null
    /** Reason not to run the line although its device is attached. */
    readonly obstacle: OfflineReason | null
  }[]
  /** A null `reason` means the kind's default reason. */
  readonly absent: readonly { readonly id: LineId; readonly reason: OfflineReason | null }[]
  /** Vanished lines whose number came back on another device. */
  readonly movedLines: readonly ({ readonly id: LineId } & Device)[]
  /** Devices that become new lines; a device whose number is still unknown is not listed. */
  readonly newDevices: readonly Device[]
}

/** `known` has all lines of one driver, oldest first; `found` has the devices attached now, here and at boxes. */
export function discoveryOf(
  known: readonly Line[],
  found: readonly Found[],
  places: Places,
): Discovery {
  const devices = new Map(found.map((device) => [identityOf(device), device]))
  const present: { id: LineId; number: string | null; obstacle: OfflineReason | null }[] = []
  const vanished = new Map<LineId, { line: Line; reason: OfflineReason | null }>()
  const elsewhere = known.filter(({ box, movesTo }) => box !== null || movesTo !== null)
  for (const line of places.isHereKnown ? known : elsewhere) {
    const device = devices.get(identityOf(line))
    const reason = absenceOf(line, places.boxAbsence)
    const obstacle = obstacleOf(line, known, places)
    if (device === undefined || reason !== null) vanished.set(line.id, { line, reason })
    else present.push({ id: line.id, number: device.number, obstacle })
    devices.delete(identityOf(line))
  }

  const movedLines: ({ id: LineId } & Device)[] = []
  const newDevices: Device[] = []
  for (const { key, number, box = null } of devices.values()) {
    if (number === null) continue
    const device = { key, number, box }
    const candidates = [...vanished.values()].filter((one) => mayContinue(one, device))
    // A move that the owner ordered wins over a matching number.
    const moving = candidates.filter(({ line }) => line.movesTo !== null)
    const [successor, ...others] = moving.length > 0 ? moving : candidates
    if (successor === undefined || others.length > 0) {
      newDevices.push(device)
      continue
    }
    vanished.delete(successor.line.id)
    movedLines.push({ id: successor.line.id, ...device })
  }
  const absent = [...vanished.values()].map(({ line, reason }) => ({ id: line.id, reason }))
  return { present, absent, movedLines, newDevices }
}

/** The `newDevices` that may become lines: a box may have at most `most` lines, this machine any number. */
export function admitted(
  newDevices: readonly Device[],
  lines: readonly Line[],
  most: number,
): readonly Device[] {
  const counts = new Map<BoxId | null, number>()
  for (const { box } of lines) counts.set(box, (counts.get(box) ?? 0) + 1)
  return newDevices.filter(({ box }) => {
    const count = (counts.get(box) ?? 0) + 1
    counts.set(box, count)
    return box === null || count <= most
  })
}

function identityOf({ box, key }: Pick<DriverLine, 'box' | 'key'>): string {
  return `${box ?? ''}\0${key}`
}

function absenceOf({ box, movesTo }: Line, boxAbsence: BoxAbsence): OfflineReason | null {
  if (movesTo !== null) return OFFLINE_REASONS.line_moving
  return box === null ? null : boxAbsence(box)
}

export type Places = {
  readonly boxAbsence: BoxAbsence
  readonly isReal: boolean
  /** False while this machine's devices are unknown: its lines then stay as they are. */
  readonly isHereKnown: boolean
}

/** If two machines have the same number, the newer line waits until the owner decides. */
export function obstacleOf(
  line: Line,
  known: readonly Line[],
  { boxAbsence, isReal }: Places,
): OfflineReason | null {
  if (!isReal) return null
  const older = known.slice(0, known.indexOf(line))
  const twins = older.filter(({ box, number }) => number === line.number && box !== line.box)
  const isTwice = twins.some(({ box }) => box === null || !isRemoved(boxAbsence(box)))
  return isTwice ? OFFLINE_REASONS.number_twice : null
}

function isRemoved(reason: OfflineReason | null): boolean {
  return reason?.code === OFFLINE_REASONS.box_removed.code
}

/**
 * A device continues the vanished line with its number if it is at the place that the line moves to, or
 * at the line's own place. A box that is silent may still send, so only the line of a removed box
 * continues elsewhere.
 */
function mayContinue(
  { line, reason }: { readonly line: Line; readonly reason: OfflineReason | null },
  { number, box }: Device,
): boolean {
  if (line.number !== number) return false
  if (line.movesTo !== null) return line.movesTo === (box ?? 'here')
  return line.box === box || isRemoved(reason)
}
