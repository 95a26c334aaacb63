// Findings about boxes, and findings that boxes report.

import type { WatchedBox } from '../domain/box.ts'
import type { FindingCode } from '../domain/finding-codes.ts'
import { type Finding, lineScope, type ScopedFinding } from '../domain/finding.ts'
import type { BoxId, Timestamp } from '../domain/ids.ts'
import { OFFLINE_REASONS, type Line, type LineState, lineName } from '../domain/line.ts'
import { countWords } from '../domain/number-words.ts'
import { MINUTE_MS } from '../domain/time.ts'
import { isoTime } from '../system/iso-time.ts'

type NameOf = (box: BoxId) => string

/** Adds the names of the boxes; one cause on several boxes becomes one finding. */
export function groupedByBox(
  found: readonly ScopedFinding[],
  nameOf: NameOf,
): readonly ScopedFinding[] {
  const here = found.filter(({ scope }) => scope.boxes === undefined)
  const there = found.filter(({ scope }) => scope.boxes !== undefined)
  const groups = Map.groupBy(there, ({ code, title, fix }) => `${code}\0${title}\0${fix}`)
  return [...here, ...[...groups.values()].flatMap((group) => oneOf(group, nameOf))]
}

function oneOf(group: readonly ScopedFinding[], nameOf: NameOf): readonly ScopedFinding[] {
  const boxes = [...new Set(group.flatMap(({ scope }) => scope.boxes ?? []))]
  const [first] = group
  const names = boxes.map(nameOf).join(', ')
  if (first === undefined || boxes.length === 1) {
    return group.map((one) => ({ ...one, why: `On ${names}. ${one.why}` }))
  }
  const why = `On ${countWords(boxes.length, 'box')}: ${names}. ${first.why}`
  return [{ ...first, why, scope: { about: { kind: 'box', id: null }, lineId: null, boxes } }]
}

/** A disk with less free space counts as full, as on the relay itself. */
const FREE_BYTES_MIN = 256 * 1024 * 1024

/** `broker`: the code of the finding that explains why no box is reachable, or null. */
export function boxFindings(
  boxes: readonly WatchedBox[],
  broker: string | null,
): readonly ScopedFinding[] {
  return boxes.flatMap((box) => [
    ...absenceOf(box, box.cutOffUntil === null ? broker : CUT_OFF),
    ...(box.cutOffUntil === null ? [] : [cutOffFinding(box, box.cutOffUntil)]),
    ...(box.isTwice ? [twiceFinding(box)] : []),
    ...(box.refusedDevices > 0 ? [fullFinding(box)] : []),
    ...((box.freeBytes ?? Infinity) < FREE_BYTES_MIN ? [diskFinding(box)] : []),
  ])
}

function absenceOf(box: WatchedBox, broker: string | null): readonly ScopedFinding[] {
  const { absence, name, silentMs, version, isUnsigned } = box
  const { box_unreachable, box_outdated } = OFFLINE_REASONS
  if (absence?.code === box_outdated.code) {
    const words = {
      title: `The box ${name} is outdated`,
      why: `It runs Hookline ${version}, which this relay does not work with any more. Its lines are offline.`,
      fix: 'Run on it: hookline upgrade',
    }
    return [finding(box, box_outdated.code, 'error', words)]
  }
  if (absence?.code !== box_unreachable.code) return []
  const [why, fix] = isUnsigned ? UNSIGNED : UNHEARD
  const wait = 'Messages for its lines wait for up to 24 hours, or go out on other lines.'
  const words = { title: `The box ${name} is unreachable`, why: `${why} ${wait}`, fix }
  const severity = silentMs < MINUTE_MS ? 'warning' : 'error'
  return [{ ...finding(box, box_unreachable.code, severity, words), depends_on: broker }]
}

const CUT_OFF = 'box_cut_off'
const UNHEARD = [
  'It has not been heard.',
  'Check its power and its network. On the box, "hookline doctor" says whether it reaches this machine.',
] as const
const UNSIGNED = [
  'What is said in its name is not signed with its key, so nothing of it is taken.',
  'If it went back to an older version, run on it: hookline upgrade. Otherwise remove it here, and let it join again: hookline boxes remove BOX, hookline boxes add NAME',
] as const

function cutOffFinding(box: WatchedBox, until: Timestamp): ScopedFinding {
  return finding(box, CUT_OFF, 'error', {
    title: `The box ${box.name} is cut off for a minute`,
    why: `It sent more at once than a box ever needs to. Everything it sends is ignored until ${isoTime(until)}, and its lines are offline. Other boxes are not affected.`,
    fix: `It reconnects by itself. If this happens again, upgrade Hookline there, and find out who else uses that machine. To cut it off for good: hookline boxes remove ${box.name}`,
  })
}

function twiceFinding(box: WatchedBox): ScopedFinding {
  return finding(box, 'box_twice', 'error', {
    title: `Two machines are the box ${box.name}`,
    why: 'Both use the data directory of one box, as after a copy of its disk. The second one is refused.',
    fix: 'Stop Hookline on one of them, and delete its data directory there. It can join as a box of its own: hookline boxes add NAME',
  })
}

function fullFinding(box: WatchedBox): ScopedFinding {
  return finding(box, 'box_lines_full', 'warning', {
    title: `The box ${box.name} reports more devices than it may bring lines`,
    why: `${box.refusedDevices} of its devices are no lines: it has as many as the setting box_lines_max allows.`,
    fix: `If the devices are yours, allow more lines: hookline config set box_lines_max N. If not, remove the box: hookline boxes remove ${box.name}`,
  })
}

function diskFinding(box: WatchedBox): ScopedFinding {
  const free = Math.floor((box.freeBytes ?? 0) / 1024 / 1024)
  return finding(box, 'box_storage_full', 'error', {
    title: `The disk of the box ${box.name} is almost full`,
    why: `${free} MiB are free. Without room for its journal, it sends nothing.`,
    fix: 'Free up space on the disk of that machine.',
  })
}

function finding(
  { id }: WatchedBox,
  code: FindingCode,
  severity: Finding['severity'],
  words: Pick<Finding, 'title' | 'why' | 'fix'>,
): ScopedFinding {
  const scope = { about: { kind: 'box', id }, lineId: null, boxes: [id] } as const
  return { code, severity, ...words, scope, depends_on: null }
}

/** Findings for lines that have the same number as an older line on another machine. */
export function numberTwiceFindings(
  lines: readonly { readonly line: Line; readonly state: LineState }[],
  nameOf: NameOf,
): readonly ScopedFinding[] {
  const { code } = OFFLINE_REASONS.number_twice
  return lines
    .filter(({ state }) => state.status === 'offline' && state.reason.code === code)
    .map(({ line }) => {
      const twins = lines.filter((one) => one.line.number === line.number)
      const places = twins.map(({ line: { box } }) => (box === null ? 'this machine' : nameOf(box)))
      return {
        code,
        severity: 'warning',
        title: `The number of ${lineName(line)} is on two machines`,
        why: `It is signed in on ${places.join(' and ')}. Only the older line sends and receives.`,
        fix: `Sign out on one of them. To keep the newer machine, move the line there: hookline lines move ${twins[0]?.line.id} --to ${line.box === null ? 'here' : nameOf(line.box)}`,
        scope: lineScope(line.id, line.box),
        depends_on: null,
      }
    })
}
