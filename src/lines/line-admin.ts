// What the owner of the relay does to its lines.

import type { PhoneLine } from '../api/phone-lines.ts'
import type { AuditFields, Origin } from '../domain/audit.ts'
import { utcDayOf } from '../domain/contact-limit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Audit } from '../storage/audit.ts'
import { contactUsage } from '../storage/contacts.ts'
import type { Db } from '../storage/database.ts'
import { listNotRelayed } from '../storage/intake-records.ts'
import {
  changeNumber,
  deleteLine,
  getLine,
  patchLine,
  takeOverLine,
  type LineSettings,
} from '../storage/lines.ts'
import type { Writer } from '../storage/writer.ts'
import type { LogicalClock } from '../system/logical-clock.ts'
import type { KindFacts } from './line-kind.ts'
import type { LineRunner } from './line-runner.ts'
import { phoneLineResource, type LineSnapshot } from './line-state.ts'
import type { LineRegistry, LineSupervisor } from './supervisor.ts'

export type LineAdminTools = {
  readonly db: Db
  readonly writer: Writer
  readonly stamps: LogicalClock
  readonly registry: LineRegistry
  readonly kinds: readonly KindFacts[]
  readonly audit: Pick<Audit, 'record'>
  /** Who asks. */
  readonly origin: Origin
}

export async function changeLine(
  tools: LineAdminTools,
  id: string,
  changes: Partial<LineSettings>,
): Promise<LineSnapshot> {
  const life = requireLife(tools, id)
  const { writer, audit, origin } = tools
  const changed = await writer.write((tx) => {
    const before = getLine(tx, life.line.id)
    const after = patchLine(tx, life.line.id, changes)
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
  return replaced(life, changed)
}

/** Only a line that somebody asked for, and nobody does any more, can be deleted. */
export async function removeLine(tools: LineAdminTools, id: string): Promise<void> {
  const { writer, stamps, registry, audit, origin } = tools
  const life = requireLife(tools, id)
  if (life.kind.deletable === null || life.isFound !== false) {
    const deletable = tools.kinds.flatMap((kind) => kind.deletable ?? [])
    throw new RelayError(
      'phone_line_in_use',
      `This line cannot be deleted. Only these can: ${deletable.join('; ')}.`,
    )
  }
  await registry.retire(life)
  await writer.write((tx) => {
    deleteLine(tx, stamps, life.line.id)
    const before = auditedFields(life.line)
    audit.record(tx, origin, { action: 'line.deleted', about: aboutOf(life.line), before })
  })
  registry.unlist(life)
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
  const life = requireLife(tools, id)
  const other = requireLife(tools, from)
  if (life === other) return acceptNumber(tools, life)
  const [vanished, present] = life.isFound === true ? [other, life] : [life, other]
  const isPair = vanished.isFound === false && present.isFound === true
  if (!isPair || vanished.line.driver !== present.line.driver) {
    throw new RelayError(
      'phone_line_in_use',
      'Of the two lines, one must have vanished and one be present, both of the same driver.',
    )
  }
  return takeOver(tools, vanished, present)
}

async function takeOver(
  { db, writer, stamps, registry, audit, origin }: LineAdminTools,
  vanished: LineRunner,
  present: LineRunner,
): Promise<LineSnapshot> {
  await registry.retire(present)
  try {
    const changed = await writer.write((tx): Line | null => {
      const device = getLine(tx, present.line.id)
      if (device === null) return null
      deleteLine(tx, stamps, device.id)
      audit.record(tx, origin, {
        action: 'line.adopted',
        about: aboutOf(vanished.line),
        before: { phone_number: vanished.line.number, device_of: vanished.line.id },
        after: { phone_number: device.number, device_of: device.id },
      })
      return takeOverLine(tx, vanished.line.id, device)
    })
    registry.unlist(present)
    const live = replaced(vanished, changed)
    vanished.found(live.line.number)
    return vanished.snapshot()
  } catch (error) {
    const line = getLine(db, present.line.id)
    if (line !== null) registry.add(line).found(line.number)
    throw error
  }
}

async function acceptNumber(
  { writer, audit, origin }: LineAdminTools,
  life: LineRunner,
): Promise<LineSnapshot> {
  const number = life.otherNumber
  if (number === null) {
    throw invalidRequest({
      path: 'from',
      message: 'The number of this line has not changed; name the other line.',
    })
  }
  const changed = await writer.write((tx) => {
    audit.record(tx, origin, {
      action: 'line.adopted',
      about: aboutOf(life.line),
      before: { phone_number: life.line.number },
      after: { phone_number: number },
    })
    return changeNumber(tx, life.line.id, number)
  })
  return replaced(life, changed)
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
    relay_sms: line.relaySms,
  }
}

function replaced(life: LineRunner, line: Line | null): LineSnapshot {
  if (line === null) throw noLine()
  life.replace(line)
  return life.snapshot()
}

function requireLife({ registry }: LineAdminTools, id: string): LineRunner {
  const life = registry.get(id)
  if (life === null) throw noLine()
  return life
}

function noLine(): RelayError {
  return new RelayError('not_found', 'There is no phone line with this id.')
}

type Tools = {
  readonly db: Db
  readonly stamps: LogicalClock
  readonly lines: LineSupervisor
  /** The limit of a line was changed: what waits for it may go. */
  readonly onLimit: (id: LineId) => Promise<void>
  /** A line was deleted: what waits on it will never go. */
  readonly onDeleted: () => Promise<void>
}

/** Lines as the API tells and changes them. */
export function createLineActions({ db, stamps, lines, onLimit, onDeleted }: Tools) {
  const told = (live: LineSnapshot): PhoneLine => {
    const { reserved, spent } = contactUsage(db, live.line.id, utcDayOf(stamps.now()))
    const notRelayed = listNotRelayed(db, live.line.id)
    return phoneLineResource(live, { newContactsToday: reserved + spent, notRelayed })
  }
  return {
    list: () => lines.lines().map(told),
    async patch(id: string, changes: Partial<LineSettings>, origin: Origin): Promise<PhoneLine> {
      const live = await lines.patch(id, changes, origin)
      if (changes.dailyContactLimit !== undefined) await onLimit(live.line.id)
      return told(lines.find(id) ?? live)
    },
    async remove(id: string, origin: Origin): Promise<void> {
      await lines.remove(id, origin)
      await onDeleted()
    },
    async adopt(id: string, from: string, origin: Origin): Promise<PhoneLine> {
      const live = await lines.adopt(id, from, origin)
      await onDeleted()
      return told(live)
    },
  }
}
