// A box as the head has heard it.

import type { BoxId, Timestamp } from '../domain/ids.ts'
import type { Hello } from './wire.ts'

/** Minor versions that a box may be behind its head. */
const BEHIND_MAX = 2

export class Peer {
  readonly id: BoxId
  /** Epoch of the box's sessions: the head's, unless the box has seen a later one. */
  epoch: number
  isTooFarAhead = false
  /** True while the head asks if another process has replaced the known one. */
  isDoubted = false
  stopServing: () => void = () => {}
  /** Boot id of the process that the head listens to. */
  boot: string | null = null
  /** Boot id of the process that has announced that it leaves. */
  leftBoot: string | null = null
  hello: Hello
  isHeard = false
  lastHeardAt: Timestamp
  reportedAt = -Infinity
  isOutdated = false
  twiceUntil = -Infinity
  forget: () => void = () => {}

  constructor(id: BoxId, hello: Hello, epoch: number, lastHeardAt: Timestamp) {
    this.id = id
    this.hello = hello
    this.epoch = epoch
    this.lastHeardAt = lastHeardAt
  }
}

/** True if two hellos differ in what the owner sees. */
export function differs(one: Hello, other: Hello): boolean {
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
