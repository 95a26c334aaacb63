import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { Found } from './driver.ts'

/** What a driver's answer means for the lines that are known of it. */
export type Discovery = {
  readonly present: readonly { readonly id: LineId; readonly number: string | null }[]
  readonly absent: readonly LineId[]
  /** Vanished lines whose number came back on another device. */
  readonly takeOvers: readonly {
    readonly id: LineId
    readonly key: string
    readonly number: string
  }[]
  /** Devices that become new lines. One whose number is not known yet is not among them. */
  readonly arrivals: readonly { readonly key: string; readonly number: string }[]
}

/** `known` are all lines of one driver, `found` what it says is attached now. */
export function discoveryOf(known: readonly Line[], found: readonly Found[]): Discovery {
  const devices = new Map(found.map((device) => [device.key, device]))
  const present: { id: LineId; number: string | null }[] = []
  const vanished = new Map<LineId, Line>()
  for (const line of known) {
    const device = devices.get(line.key)
    if (device === undefined) vanished.set(line.id, line)
    else present.push({ id: line.id, number: device.number })
    devices.delete(line.key)
  }

  const takeOvers: { id: LineId; key: string; number: string }[] = []
  const arrivals: { key: string; number: string }[] = []
  for (const { key, number } of devices.values()) {
    if (number === null) continue
    const [heir, ...others] = [...vanished.values()].filter((line) => line.number === number)
    if (heir === undefined || others.length > 0) {
      arrivals.push({ key, number })
      continue
    }
    vanished.delete(heir.id)
    takeOvers.push({ id: heir.id, key, number })
  }
  return { present, absent: [...vanished.keys()], takeOvers, arrivals }
}
