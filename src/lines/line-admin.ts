// The owner's changes of lines.

import type { AuditFields, Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { type Line, OFFLINE_REASONS, type Place } from '../domain/line.ts'
import type { Audit } from '../storage/audit.ts'
import type { Db } from '../storage/database.ts'
import { deleteLine, getLine, updateLine, type LineSettings } from '../storage/lines.ts'
import type { Writer } from '../storage/writer.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { KindFacts } from './line-kind.ts'
import type { LineRunner } from './line-runner.ts'
import type { LineSnapshot } from './line-state.ts'
import type { LineRegistry } from './registry.ts'

export type LineAdminTools = {
  readonly db: Db
  readonly writer: Writer
  readonly ids: LogicalClock
  readonly registry: LineRegistry
  readonly kinds: readonly KindFacts[]
  readonly audit: Pick<Audit, 'record'>
  readonly origin: Origin
}

export async function changeLine(
  tools: LineAdminTools,
  id: string,
  changes: Partial<LineSettings>,
): Promise<LineSnapshot> {
  const runner = requireRunner(tools, id)
  if (changes.relayGroups === true && runner.kind.abilities.groups === undefined) {
    const details = { capability: 'groups' }
    throw new RelayError('not_supported', 'A line of this kind has no groups.', { details })
  }
  const { writer, audit, origin } = tools
  const changed = await writer.write((tx) => {
    const before = getLine(tx, runner.line.id)
    const after = updateLine(tx, runner.line.id, changes)
    if (before !== null && after !== null) {
      audit.record(tx, origin, {
        action: 'line.changed',
        about: aboutOf(after),
        before: auditedFields(before),
        after: auditedFields(after),
      })
    }
    return after
  })
  return replaceLine(runner, changed)
}

/** Deletes a line of a kind that allows it, of a removed box, or whose number another line has; once its device is absent. */
export async function removeLine(tools: LineAdminTools, id: string): Promise<void> {
  const { writer, ids, registry, audit, origin } = tools
  const runner = requireRunner(tools, id)
  const { number, driver } = runner.line
  const isTwin = registry.ofDriver(driver).filter(({ line }) => line.number === number).length > 1
  const isOver = isTwin || runner.isOffline(OFFLINE_REASONS.box_removed.code)
  if ((runner.kind.deletable === null && !isOver) || runner.isFound !== false) {
    const deletable = tools.kinds.flatMap((kind) => kind.deletable ?? [])
    throw new RelayError(
      'phone_line_in_use',
      `This line cannot be deleted. Only these can: ${deletable.join('; ')}.`,
    )
  }
  await registry.retire(runner)
  await writer.write((tx) => {
    deleteLine(tx, ids, runner.line.id)
    const before = auditedFields(runner.line)
    audit.record(tx, origin, { action: 'line.deleted', about: aboutOf(runner.line), before })
  })
  registry.unlist(runner)
}

/**
 * Of two lines of one driver, one vanished and one present, the vanished one stays, with the device
 * of the other: its id and its conversations go on. With the same id twice, the line's changed number
 * is accepted.
 */
export async function adoptLine(
  tools: LineAdminTools,
  id: string,
  from: string,
): Promise<LineSnapshot> {
  const runner = requireRunner(tools, id)
  const other = requireRunner(tools, from)
  if (runner === other) return acceptNumber(tools, runner)
  const [vanished, present] = runner.isFound === true ? [other, runner] : [runner, other]
  const isPair = vanished.isFound === false && present.isFound === true
  if (!isPair || vanished.line.driver !== present.line.driver) {
    throw new RelayError(
      'phone_line_in_use',
      'Of the two lines, one must have vanished and one be present, both of the same driver.',
    )
  }
  return takeOver(tools, vanished, present)
}

/**
 * Ends the line at its place, and lets it continue at another one as soon as a device with its number is
 * there: at once where one is listed already. Null leaves it where it is.
 */
export async function moveLine(
  tools: LineAdminTools,
  id: string,
  place: Place | null,
): Promise<LineSnapshot> {
  const { writer, audit, origin, registry } = tools
  const runner = requireRunner(tools, id)
  const { line } = runner
  if (place === (line.box ?? 'here')) {
    throw invalidRequest({ path: 'to', message: 'is the machine that the line is on' })
  }
  const changed = await writer.write((tx) => {
    audit.record(tx, origin, {
      action: 'line.moved',
      about: aboutOf(line),
      before: { moves_to: getLine(tx, line.id)?.movesTo ?? null },
      after: { moves_to: place },
    })
    return updateLine(tx, line.id, { movesTo: place })
  })
  const snapshot = replaceLine(runner, changed)
  if (place === null) return snapshot
  runner.lost(OFFLINE_REASONS.line_moving)
  const isThere = ({ line: other }: LineRunner) =>
    other.id !== line.id && other.number === line.number && (other.box ?? 'here') === place
  const there = registry.ofDriver(line.driver).find(isThere)
  return there === undefined ? runner.snapshot() : takeOver(tools, runner, there)
}

async function takeOver(
  { db, writer, ids, registry, audit, origin }: LineAdminTools,
  vanished: LineRunner,
  present: LineRunner,
): Promise<LineSnapshot> {
  await registry.retire(present)
  try {
    const changed = await writer.write((tx): Line | null => {
      const device = getLine(tx, present.line.id)
      if (device === null) return null
      deleteLine(tx, ids, device.id)
      audit.record(tx, origin, {
        action: 'line.adopted',
        about: aboutOf(vanished.line),
        before: { phone_number: vanished.line.number, device_of: vanished.line.id },
        after: { phone_number: device.number, device_of: device.id },
      })
      const { key, box, number, checkpoint } = device
      return updateLine(tx, vanished.line.id, { key, box, number, checkpoint, movesTo: null })
    })
    registry.unlist(present)
    const snapshot = replaceLine(vanished, changed)
    vanished.found(snapshot.line.number)
    return vanished.snapshot()
  } catch (error) {
    const line = getLine(db, present.line.id)
    if (line !== null) registry.add(line).found(line.number)
    throw error
  }
}

async function acceptNumber(
  { writer, audit, origin }: LineAdminTools,
  runner: LineRunner,
): Promise<LineSnapshot> {
  const number = runner.otherNumber
  if (number === null) {
    throw invalidRequest({
      path: 'from',
      message: 'The number of this line has not changed; name the other line.',
    })
  }
  const changed = await writer.write((tx) => {
    audit.record(tx, origin, {
      action: 'line.adopted',
      about: aboutOf(runner.line),
      before: { phone_number: runner.line.number },
      after: { phone_number: number },
    })
    return updateLine(tx, runner.line.id, { number })
  })
  return replaceLine(runner, changed)
}

function aboutOf({ id }: Line) {
  return { kind: 'line', id } as const
}

function auditedFields(line: Line): AuditFields {
  return {
    phone_number: line.number,
    label: line.label,
    daily_contact_limit: line.dailyContactLimit,
    is_enabled: line.isEnabled,
    quiet_hours: line.quietHours && `${line.quietHours.from}-${line.quietHours.to}`,
    relay_sms: line.relaySms,
    relay_groups: line.relayGroups,
  }
}

function replaceLine(runner: LineRunner, line: Line | null): LineSnapshot {
  if (line === null) throw noLine()
  runner.replace(line)
  return runner.snapshot()
}

function requireRunner({ registry }: LineAdminTools, id: string): LineRunner {
  const runner = registry.get(id)
  if (runner === null) throw noLine()
  return runner
}

function noLine(): RelayError {
  return new RelayError('not_found', 'There is no phone line with this id.')
}
