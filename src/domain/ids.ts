// Branded ids and times, made only here. An id is a prefix and a UUIDv7 (RFC 9562) in lower-case Crockford
// base32, which has 26 characters and sorts by time as text.

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
  | 'site'
  | 'chan'
  | 'alert'
  | 'ntc'
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
export type SiteId = Id<'site'>
export type ChannelId = Id<'chan'>
export type AlertId = Id<'alert'>
export type NoticeId = Id<'ntc'>

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ID_LENGTH = 26
/** Characters for two zero bits and the 48 bits of the time. */
const TIME_LENGTH = 10
const TIME_BYTES = 6
/** Two characters for each ten bits: twice as fast as one by one, and every message has many ids. */
const PAIRS = Array.from(ALPHABET, (first) =>
  Array.from(ALPHABET, (second) => first + second),
).flat()
const LAST_TIMESTAMP = 2 ** 48 - 1

/** Milliseconds since 1970, without their fraction. For a row to be stored, take the time from `LogicalClock.now`. */
export function timestamp(ms: number): Timestamp {
  return Math.trunc(ms) as Timestamp // The brand means "whole milliseconds".
}

/** The 16 bytes of a UUIDv7 from `at` in milliseconds and 10 random bytes, of which 74 bits are used. */
export function uuidV7(at: Timestamp, random: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16)
  const ms = Math.min(Math.max(at, 0), LAST_TIMESTAMP)
  for (let i = 0; i < TIME_BYTES; i += 1) bytes[i] = Math.floor(ms / 2 ** (8 * (5 - i))) & 0xff
  // Copied one by one, because a view of the bytes would cost more than everything else here.
  for (let i = 0; i < 10; i += 1) bytes[i + 6] = random[i] ?? 0
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes
}

/** The prefix, `_`, and 26 characters of base32 for 16 bytes. */
export function idFromBytes<P extends IdPrefix>(prefix: P, bytes: Uint8Array): Id<P> {
  // 26 characters have 130 bits, so two zero bits come first.
  return withBase32(`${prefix}_`, bytes, { from: 0, zeroBits: 2 }) as Id<P> // It has the form of an id.
}

/** Appends the bytes from `from` on to `text` in base32, after `zeroBits` zero bits; ten bits at a time. */
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
 * An id that is always the same for the same fact: a UUIDv7 with a hash in place of the random bits. `hash` has
 * at least 10 bytes.
 */
export function derivedId<P extends IdPrefix>(prefix: P, at: Timestamp, hash: Uint8Array): Id<P> {
  return idFromBytes(prefix, uuidV7(at, hash))
}

/** Like `derivedId`, with the time of another id. */
export function siblingId<P extends IdPrefix>(
  prefix: P,
  sibling: Id<IdPrefix>,
  hash: Uint8Array,
): Id<P> {
  const bytes = uuidV7(timestamp(0), hash)
  const afterTime = { from: TIME_BYTES, zeroBits: 0 }
  return withBase32(`${prefix}_${timeOf(sibling)}`, bytes, afterTime) as Id<P> // It has the form of an id.
}

/** The characters of an id that encode its time. */
export function timeOf(id: Id<IdPrefix>): string {
  const start = id.indexOf('_') + 1
  return id.slice(start, start + TIME_LENGTH)
}

/** The id in `text`, or null if it doesn't have the form of one. */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | null {
  if (text.length !== prefix.length + 1 + ID_LENGTH || !text.startsWith(`${prefix}_`)) return null
  for (const character of text.slice(prefix.length + 1)) {
    if (!ALPHABET.includes(character)) return null
  }
  return text as Id<P> // Shape checked above.
}

/** The 16 bytes of an id in hexadecimal, for APIs whose ids are a prefix and hexadecimal digits. */
export function hexOfId(id: Id<IdPrefix>): string {
  let value = 0n
  for (const character of id.slice(id.indexOf('_') + 1)) {
    value = (value << 5n) | BigInt(ALPHABET.indexOf(character))
  }
  return (value & ALL_BITS).toString(16).padStart(32, '0')
}

const ALL_BITS = 2n ** 128n - 1n

/** A UUID of version 4 from 16 random bytes. */
export function uuidV4(random: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(random)
  bytes[6] = 0x40 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes
}

/** An upper-case UUID from 16 bytes, as Messages writes guids. */
export function guidFromBytes(bytes: Uint8Array): string {
  const hex = bytes.toHex().toUpperCase()
  const [a, b, c] = [hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${hex.slice(0, 8)}-${a}-${b}-${c}-${hex.slice(20, 32)}`
}
