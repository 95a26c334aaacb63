// A bubble as it is written down: short, because a line may keep thirty thousand of them.

import { Type, type Static } from 'typebox'

import type { Handle } from '../../../../domain/handle.ts'
import { guidFromBytes } from '../../../../domain/ids.ts'
import { sha256 } from '../../../../system/hash.ts'
import type { Descriptor, OwnStage } from './transcript.ts'

/** `[id, flags, hash, length, minutes, at, seenAt]`; the times are in seconds since 1970. */
export const STORED_DESCRIPTOR = Type.Tuple([
  Type.String(),
  Type.Integer(),
  Type.String(),
  Type.Integer(),
  Type.Integer(),
  Type.Number(),
  Type.Number(),
])
export type StoredDescriptor = Static<typeof STORED_DESCRIPTOR>

const FROM_ME = 1
const ATTACHMENT = 2
const TOLD = 4
/** The stage is in the bits above the flags. */
const STAGE_SHIFT = 3
const STAGES: readonly (OwnStage | null)[] = [null, 'sent', 'delivered', 'read', 'failed']
const HASH_BYTES = 8

/**
 * A name for a bubble that has none: `ui-` and a UUID made of what it is (RFC 9562, version 8), so that
 * whoever reads the chat again with an older memory gives the same. `nth` tells equal ones apart.
 */
export function bubbleGuid(
  handle: Handle,
  { isFromMe, hash, at }: Pick<Descriptor, 'isFromMe' | 'hash' | 'at'>,
  nth: number,
): string {
  const bytes = sha256(JSON.stringify([handle, isFromMe, hash, at, nth])).slice(0, 16)
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return guidOf(bytes)
}

/** A short hash of a comparable text, or of a mark. */
export function shortHash(text: string): string {
  return Buffer.from(sha256(text).subarray(0, HASH_BYTES)).toString('base64url')
}

export function storedDescriptor(one: Descriptor): StoredDescriptor {
  const flags =
    (one.isFromMe ? FROM_ME : 0) | (one.isAttachment ? ATTACHMENT : 0) | (one.isTold ? TOLD : 0)
  const stage = STAGES.indexOf(one.stage) << STAGE_SHIFT
  const id = Buffer.from(one.guid.slice(3).replaceAll('-', ''), 'hex').toString('base64url')
  const { hash, length, minutes } = one
  return [id, flags | stage, hash, length, minutes, one.at / 1_000, one.seenAt / 1_000]
}

export function readDescriptor(stored: StoredDescriptor): Descriptor {
  const [id, flags, hash, length, minutes, at, seenAt] = stored
  return {
    guid: guidOf(Buffer.from(id, 'base64url')),
    isFromMe: (flags & FROM_ME) !== 0,
    isAttachment: (flags & ATTACHMENT) !== 0,
    hash,
    length,
    minutes,
    at: at * 1_000,
    seenAt: Math.round(seenAt * 1_000),
    stage: STAGES[flags >> STAGE_SHIFT] ?? null,
    isTold: (flags & TOLD) !== 0,
  }
}

function guidOf(bytes: Uint8Array): string {
  return `ui-${guidFromBytes(bytes).toLowerCase()}`
}
