import type { BoxId, Timestamp } from './ids.ts'
import type { OfflineReason } from './line.ts'

/** A name that is easy to type, and never taken for an id or for the relay's own machine. */
export function isBoxName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,39}$/i.test(name) && name !== 'here' && !name.startsWith('box_')
}

/** In place of a name where a machine joins under the name of its invitation. */
export const INVITED_NAME = '*'

/** A box that has joined, for findings and figures. */
export type WatchedBox = {
  readonly id: BoxId
  readonly name: string
  readonly absence: OfflineReason | null
  /** Time since it was heard last, or since this start. */
  readonly silentMs: number
  readonly version: string | null
  readonly freeBytes: number | null
  /** Two machines run as this box. */
  readonly isTwice: boolean
  /** It floods the head, which listens to it again then; null for a box that does not. */
  readonly cutOffUntil: Timestamp | null
  /** What comes in its name is refused, for it is not signed with its key. */
  readonly isUnsigned: boolean
  /** Devices that it reports, and that became no line: it has as many as it may bring. */
  readonly refusedDevices: number
}
