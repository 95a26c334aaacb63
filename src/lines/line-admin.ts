import type { AuditFields, Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import type { LineId } from '../domain/ids.ts'
import { type Line, OFFLINE_REASONS, type Place } from '../domain/line.ts'
import type { Core } from '../storage/core.ts'
import type { Tx } from '../storage/database.ts'
import { deleteLine, getLine, updateLine, type LineSettings } from '../storage/lines.ts'
import { siteOfLine } from '../storage/sites.ts'
import type { KindFacts } from './line-kind.ts'
import type { LineRunner } from './line-runner.ts'
import type { LineSnapshot } from './line-state.ts'
import type { LineRegistry } from './registry.ts'

/** The owner's changes of lines. Each throws `not_found` for an unknown id. */
export class LineAdmin {
  readonly #core: Core
  readonly #registry: LineRegistry
  readonly #kinds: readonly KindFacts[]
  readonly #discoverNow: (kind: string) => void

  /** `discoverNow` asks for a kind's devices at once. */
  constructor(
    core: Core,
    registry: LineRegistry,
    kinds: readonly KindFacts[],
    discoverNow: (kind: string) => void,
  ) {
    this.#core = core
    this.#registry = registry
    this.#kinds = kinds
    this.#discoverNow = discoverNow
  }

  /** `also` is called in the transaction, and may change the line too. */
  async patch(
    id: string,
    changes: Partial<LineSettings>,
    origin: Origin,
    also: (tx: Tx, id: LineId) => void = () => {},
  ): Promise<LineSnapshot> {
    const { writer, audit } = this.#core
    const runner = this.#requireRunner(id)
    if (changes.relayGroups === true && runner.kind.abilities.groups === undefined) {
      const details = { capability: 'groups' }
      throw new RelayError('not_supported', 'A line of this kind has no groups.', { details })
    }
    const changed = await writer.write((tx) => {
      const line = getLine(tx, runner.line.id)
      const before = line && { ...auditedFields(line), ...siteFields(tx, line) }
      if (line !== null) also(tx, line.id)
      const after = updateLine(tx, runner.line.id, changes)
      if (after !== null) {
        audit.record(tx, origin, {
          action: 'line.changed',
          about: aboutOf(after),
          before,
          after: { ...auditedFields(after), ...siteFields(tx, after) },
        })
      }
      return after
    })
    return replaceLine(runner, changed)
  }

  /**
   * Deletes a line whose device is absent, if its kind allows that, its box was removed, or another line
   * has its number. Throws `phone_line_in_use` for any other.
   */
  async remove(id: string, origin: Origin): Promise<void> {
    const { writer, ids, audit } = this.#core
    const runner = this.#requireRunner(id)
    const { number, driver } = runner.line
    const ofDriver = this.#registry.ofDriver(driver)
    const isTwin = ofDriver.filter(({ line }) => line.number === number).length > 1
    const isOver = isTwin || runner.isOffline(OFFLINE_REASONS.box_removed.code)
    if ((runner.kind.deletable === null && !isOver) || runner.isFound !== false) {
      const deletable = this.#kinds.flatMap((kind) => kind.deletable ?? [])
      throw new RelayError(
        'phone_line_in_use',
        `This line cannot be deleted. Only these can: ${deletable.join('; ')}.`,
      )
    }
    await this.#registry.retire(runner)
    await writer.write((tx) => {
      deleteLine(tx, ids, runner.line.id)
      const before = auditedFields(runner.line)
      audit.record(tx, origin, { action: 'line.deleted', about: aboutOf(runner.line), before })
    })
    this.#registry.unlist(runner)
  }

  /**
   * Of two lines of one driver, one vanished and one present, keeps the vanished line with the other's
   * device: its id and its conversations continue. With the same id twice, accepts the line's changed
   * number.
   */
  async adopt(id: string, from: string, origin: Origin): Promise<LineSnapshot> {
    const runner = this.#requireRunner(id)
    const other = this.#requireRunner(from)
    if (runner === other) return this.#acceptNumber(runner, origin)
    const [vanished, present] = runner.isFound === true ? [other, runner] : [runner, other]
    const isPair = vanished.isFound === false && present.isFound === true
    if (!isPair || vanished.line.driver !== present.line.driver) {
      throw new RelayError(
        'phone_line_in_use',
        'Of the two lines, one must have vanished and one be present, both of the same driver.',
      )
    }
    return this.#takeOver(vanished, present, origin)
  }

  /**
   * Ends the line at its place, and continues it elsewhere as soon as a device with its number is there,
   * at once if one is listed already. Null leaves the line at its place.
   */
  async move(id: string, place: Place | null, origin: Origin): Promise<LineSnapshot> {
    const runner = this.#requireRunner(id)
    const moved = await this.#moveTo(runner, place, origin)
    this.#discoverNow(moved.line.driver)
    return moved
  }

  async #moveTo(runner: LineRunner, place: Place | null, origin: Origin): Promise<LineSnapshot> {
    const { writer, audit } = this.#core
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
    const there = this.#registry.ofDriver(line.driver).find(isThere)
    return there === undefined ? runner.snapshot() : this.#takeOver(runner, there, origin)
  }

  async #takeOver(
    vanished: LineRunner,
    present: LineRunner,
    origin: Origin,
  ): Promise<LineSnapshot> {
    const { db, writer, ids, audit } = this.#core
    await this.#registry.retire(present)
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
      this.#registry.unlist(present)
      const snapshot = replaceLine(vanished, changed)
      vanished.found(snapshot.line.number)
      return vanished.snapshot()
    } catch (error) {
      const line = getLine(db, present.line.id)
      if (line !== null) this.#registry.add(line).found(line.number)
      throw error
    }
  }

  async #acceptNumber(runner: LineRunner, origin: Origin): Promise<LineSnapshot> {
    const { writer, audit } = this.#core
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

  #requireRunner(id: string): LineRunner {
    const runner = this.#registry.get(id)
    if (runner === null) throw noLine()
    return runner
  }
}

function aboutOf({ id }: Line) {
  return { kind: 'line', id } as const
}

function siteFields(tx: Tx, { id }: Line): AuditFields {
  const site = siteOfLine(tx, id)
  return site === null ? {} : { site_id: site }
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

function noLine(): RelayError {
  return new RelayError('not_found', 'There is no phone line with this id.')
}
