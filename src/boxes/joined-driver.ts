import { DAY_MS } from '../domain/time.ts'
import type { DriverLine, LineDriver } from '../lines/driver.ts'
import { Signal } from '../system/signal.ts'
import type { Fleet } from './fleet.ts'
import { RemoteLine } from './remote-line.ts'
import { readBoxNote } from './wire.ts'

/**
 * A driver of one kind for the devices of this machine and of the boxes; `local` is null if this machine has no
 * driver of the kind.
 */
export function createJoinedDriver(
  local: LineDriver | null,
  kind: string,
  fleet: Fleet,
): LineDriver {
  const devicesChanged = local?.devicesChanged ?? new Signal()
  fleet.onChange(() => devicesChanged.notify())
  return {
    kind,
    devicesChanged,
    // Boxes report their devices, so without a local driver there is nothing to look for.
    discoverEveryMs: local === null ? DAY_MS : local.discoverEveryMs,
    discover: async (signal) => (await local?.discover(signal)) ?? [],
    checkup: async (signal) => {
      const all = await Promise.all([local?.checkup(signal) ?? [], fleet.checkup(kind)])
      return all.flat()
    },
    run: (line, listener, signal) => {
      const { box = null } = line
      if (box !== null) return new RemoteLine(fleet, { kind, line, box, listener, signal }).run()
      if (local === null) throw new Error(`This machine has no ${kind} driver.`)
      return local.run(withOwnNotes(line), listener, signal)
    },
  }
}

/** Removes notes of boxes, from which the line may have moved here. */
function withOwnNotes(line: DriverLine): DriverLine {
  const own = <Noted extends { readonly note: string | null }>(noted: Noted): Noted =>
    readBoxNote(noted.note) === null ? noted : { ...noted, note: null }
  return { ...line, unsettled: line.unsettled.map(own), open: line.open.map(own) }
}
