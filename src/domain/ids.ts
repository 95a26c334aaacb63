// Branded identifiers and times. An id is a prefix and a time-ordered UUIDv7 (RFC 9562) in lower-case
// Crockford base32: 26 characters, so that ids sort by time as text. They are made here only.

declare const brand: unique symbol
export type Branded<T, Name extends string> = T & { readonly [brand]: Name }

/** Milliseconds since 1970-01-01 UTC, by the wall clock. */
export type Timestamp = Branded<number, 'Timestamp'>

export type IdPrefix =
  | 'key'
  | 'line'
  | 'msg'
  | 'conv'
  | 'wh'
  | 'evt'
  | 'dlv'
  | 'brg'
  | 'aud'
  | 'att'
  | 'mem'
  | 'box'
export type Id<P extends IdPrefix> = Branded<string, P>
export type KeyId = Id<'key'>
export type LineId = Id<'line'>
export type MessageId = Id<'msg'>
export type ConversationId = Id<'conv'>
export type WebhookId = Id<'wh'>
export type EventId = Id<'evt'>
export type DeliveryId = Id<'dlv'>
export type BridgeId = Id<'brg'>
export type AuditId = Id<'aud'>
export type AttachmentId = Id<'att'>
export type MemberId = Id<'mem'>
export type BoxId = Id<'box'>

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_LENGTH = 26
/** Two zero bits and the 48 bits of the time. */
const TIME_LENGTH = 10
const TIME_BYTES = 6
/** Two characters for each ten bits: half the steps of one by one, and every message has many ids. */
const PAIRS = Array.from(ALPHABET, (first) =>
  Array.from(ALPHABET, (second) => first + second),
).flat()
const LAST_TIMESTAMP = 2 ** 48 - 1

export function timestamp(ms: number): Timestamp {
  return Math.trunc(ms) as Timestamp // The brand says "whole milliseconds", which trunc makes true.
}

/** The 16 bytes of a UUIDv7: `at` in milliseconds, and 10 bytes of which 74 bits are used. */
export function uuidV7(at: Timestamp, random: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16)
  const ms = Math.min(Math.max(at, 0), LAST_TIMESTAMP)
  for (let i = 0; i < TIME_BYTES; i += 1) bytes[i] = Math.floor(ms / 2 ** (8 * (5 - i))) & 0xff
  // A view of those 10 bytes would cost more than all the rest.
  for (let i = 0; i < 10; i += 1) bytes[i + 6] = random[i] ?? 0
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes
}

/** `msg_` and 26 characters of base32 for 16 bytes. */
export function idFromBytes<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Id<P> {
  // 128 bits are 25 characters of 5 bits and a first one of 3: two zero bits are put in front.
  return withBase32(`${prefix}_`, bytes, { from: 0, zeroBits: 2 }) as Id<P> // The form of an id.
}

/** Adds the bytes from `from` on to `text`, behind so many zero bits: ten bits each time. */
function withBase32(
  text: string,
  bytes: Uint8Array,
  { from, zeroBits }: { readonly from: number; readonly zeroBits: number },
): string {
  let bits = zeroBits
  let value = 0
  for (let i = from; i < bytes.length; i += 1) {
    value = (value << 8) | (bytes[i] ?? 0)
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[value >>> bits] ?? ''
    value &= (1 << bits) - 1
  }
  return text
}

/**
 * An id that the same fact always gives again: a UUIDv7 of its time whose random bits are a hash of
 * what it is. `hash` has at least 10 bytes.
 */
export function derivedId<P extends IdPrefix>(prefix: P, at: Timestamp, hash: Uint8Array): Id<P> {
  return idFromBytes(prefix, uuidV7(at, hash))
}

/** `derivedId` for the moment inside another id, whose time is taken as written there. */
export function siblingId<P extends IdPrefix>(
  prefix: P,
  sibling: Id<IdPrefix>,
  hash: Uint8Array,
): Id<P> {
  const bytes = uuidV7(timestamp(0), hash)
  const behindTime = { from: TIME_BYTES, zeroBits: 0 }
  return withBase32(`${prefix}_${timeOf(sibling)}`, bytes, behindTime) as Id<P> // The form of an id.
}

/** The characters of an id that stand for its time. */
export function timeOf(id: Id<IdPrefix>): string {
  const start = id.indexOf('_') + 1
  return id.slice(start, start + TIME_LENGTH)
}

/** The id in `text`, or null where it cannot be one of ours. */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | null {
  if (text.length !== prefix.length + 1 + ID_LENGTH || !text.startsWith(`${prefix}_`)) return null
  for (const character of text.slice(prefix.length + 1)) {
    if (!ALPHABET.includes(character)) return null
  }
  return text as Id<P> // Shape checked above.
}

/** An upper-case UUID in its usual form from 16 bytes, as Messages writes guids. */
export function guidFromBytes(bytes: Uint8Array): string {
  const hex = bytes.toHex().toUpperCase()
  const [a, b, c] = [hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${hex.slice(0, 8)}-${a}-${b}-${c}-${hex.slice(20, 32)}`
}
