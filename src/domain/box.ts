import type { BoxId, Timestamp } from './ids.ts'
import type { OfflineReason } from './line.ts'

/** True if a name is easy to type, and can't be mistaken for an id or for the relay's own machine. */
export function isBoxName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,39}$/i.test(name) && name !== 'here' && !name.startsWith('box_')
}

/** Stands for the name if a machine joins under the name of its invitation. */
export const INVITED_NAME = '*'

/** A box that has joined, as findings and figures need it. */
export type WatchedBox = {
  readonly id: BoxId
  readonly name: string
  readonly absence: OfflineReason | null
  /** Milliseconds since it last reported, or since this start. */
  readonly silentMs: number
  readonly version: string | null
  readonly freeBytes: number | null
  /** True if two machines run as this box. */
  readonly isTwice: boolean
  /** The time when the head listens to it again after a flood; null if it isn't cut off. */
  readonly cutOffUntil: Timestamp | null
  /** True if messages in its name are refused because they aren't signed with its key. */
  readonly isUnsigned: boolean
  /** The number of its devices that became no line because it reached its limit of lines. */
  readonly refusedDevices: number
}
