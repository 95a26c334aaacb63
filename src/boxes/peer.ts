// A box as the head has heard it.

import type { BoxId, Timestamp } from '../domain/ids.ts'
import type { Hello } from './wire.ts'

export type Peer = {
  readonly id: BoxId
  /** Epoch of the box's sessions: the head's, unless the box has seen a later one. */
  epoch: number
  isTooFarAhead: boolean
  /** While the head asks whether another process has replaced the known one. */
  isDoubted: boolean
  stopServing: () => void
  /** Boot id of the process that the head listens to. */
  boot: string | null
  /** Boot id of the process that has announced that it leaves. */
  leftBoot: string | null
  hello: Hello
  isHeard: boolean
  lastHeardAt: Timestamp
  reportedAt: number
  isOutdated: boolean
  twiceUntil: number
  forget: () => void
}

/** Minor versions that a box may be behind its head. */
const BEHIND_MAX = 2

export function newPeer(id: BoxId, hello: Hello, epoch: number, lastHeardAt: Timestamp): Peer {
  return {
    id,
    epoch,
    isTooFarAhead: false,
    isDoubted: false,
    stopServing: () => {},
    boot: null,
    leftBoot: null,
    hello,
    isHeard: false,
    lastHeardAt,
    reportedAt: -Infinity,
    isOutdated: false,
    twiceUntil: -Infinity,
    forget: () => {},
  }
}

/** True if two hellos differ in what the owner sees. */
export function isOther(one: Hello, other: Hello): boolean {
  const facts = ({ version, platform, devices, kinds, upgrade }: Hello) =>
    JSON.stringify([version, platform, devices, kinds, upgrade])
  return facts(one) !== facts(other)
}

/** True if the version of a box is older than the head's version supports. */
export function isBehind(box: string, head: string): boolean {
  const [[major = 0, minor = 0], [headMajor = 0, headMinor = 0]] = [partsOf(box), partsOf(head)]
  return major < headMajor || (major === headMajor && minor < headMinor - BEHIND_MAX)
}

function partsOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}
