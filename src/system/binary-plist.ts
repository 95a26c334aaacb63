// Reads Apple's binary property lists, which phones send and Messages stores. Their authors aren't trusted: all
// reading has bounds, and no error quotes a list. The packages bplist-parser 0.5.0, @plist/binary.parse 1.1.0 and
// @parseaple/bplist 1.0.1 have no bounds: 309 bytes, 30 arrays that each name the next one twice, kept each of them
// busy for more than half a minute.

export type PropertyValue =
  | string
  | number
  | boolean
  | Uint8Array
  | readonly PropertyValue[]
  | PropertyDictionary

export type PropertyDictionary = { readonly [key: string]: PropertyValue }

/** The bytes aren't a property list, or exceed the bounds. The message quotes nothing of them. */
export class PropertyListError extends Error {
  override readonly name = 'PropertyListError'
}

const BYTES_MAX = 16_777_216
/** The deepest nesting; far deeper than anything that Apple's programs write. */
export const DEPTH_MAX = 32
const MAGIC = 'bplist'

export function isBinaryPropertyList(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC
}

/**
 * The value in `bytes`; null for a date or a null. Integers beyond 2^53 are rounded; dates and nulls inside are
 * left out. Throws a `PropertyListError` for more than 16 MiB or 32 levels, and for damaged bytes.
 */
export function readBinaryPropertyList(bytes: Uint8Array): PropertyValue | null {
  if (bytes.byteLength > BYTES_MAX) throw new PropertyListError('A property list is too long')
  return new BinaryReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).read()
}

export function isDictionary(value: PropertyValue): value is PropertyDictionary {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array)
}

type Given = PropertyValue | null | undefined

/** Each of these returns the value if it has that type, else null. */
export function dictionaryOf(value: Given): PropertyDictionary | null {
  return value != null && isDictionary(value) ? value : null
}

export function textOf(value: Given): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOf(value: Given): number | null {
  return typeof value === 'number' ? value : null
}

export function booleanOf(value: Given): boolean | null {
  return typeof value === 'boolean' ? value : null
}

export function bytesOf(value: Given): Uint8Array | null {
  return value instanceof Uint8Array ? value : null
}

const MAGIC_BYTES = 8
const TRAILER_BYTES = 32
const OBJECTS_MAX = 20_000
/** Limits the size of all values, each counted as often as it is referred to. */
const COST_MAX = 16_777_216
const COST_EACH = 128

/** Object types, in the upper half of the first byte. */
const INTEGER = 0x1
const DATA = 0x4
const COUNT_FOLLOWS = 0xf

/**
 * Reads the binary form (CFBinaryPList.c of Apple's CoreFoundation). A few bytes can describe a value that contains
 * itself, or that is contained a thousand times in each of a thousand others.
 */
class BinaryReader {
  readonly #bytes: Buffer
  readonly #offsetBytes: number
  readonly #referenceBytes: number
  readonly #objects: number
  readonly #top: number
  readonly #table: number
  #cost = 0

  constructor(bytes: Buffer) {
    assertBinary(bytes.byteLength >= MAGIC_BYTES + TRAILER_BYTES)
    const trailer = bytes.subarray(-TRAILER_BYTES)
    this.#bytes = bytes
    this.#offsetBytes = trailer.readUInt8(6)
    this.#referenceBytes = trailer.readUInt8(7)
    this.#objects = Number(trailer.readBigUInt64BE(8))
    this.#top = Number(trailer.readBigUInt64BE(16))
    this.#table = Number(trailer.readBigUInt64BE(24))
    const widths = [this.#offsetBytes, this.#referenceBytes]
    assertBinary(widths.every((width) => width >= 1 && width <= 4))
    assertBinary(this.#objects >= 1 && this.#objects <= OBJECTS_MAX && this.#table > MAGIC_BYTES)
    const end = this.#table + this.#objects * this.#offsetBytes
    assertBinary(end <= bytes.byteLength - TRAILER_BYTES)
  }

  read(): PropertyValue | null {
    return this.#object(this.#top, 1)
  }

  #object(index: number, depth: number): PropertyValue | null {
    assertBinary(index < this.#objects && depth <= DEPTH_MAX)
    const entry = this.#table + index * this.#offsetBytes
    const offset = this.#bytes.readUIntBE(entry, this.#offsetBytes)
    assertBinary(offset >= MAGIC_BYTES && offset < this.#table)
    const marker = this.#bytes.readUInt8(offset)
    const { from, count } = this.#countOf(offset, marker)
    switch (marker >> 4) {
      case 0x0:
        return simpleValue(marker)
      case INTEGER:
        return integerIn(this.#content(from, powerOfTwo(count, 4)))
      case 0x2:
        return realIn(this.#content(from, powerOfTwo(count, 3)))
      case 0x3:
        // A date.
        this.#content(from, powerOfTwo(count, 3))
        return null
      case DATA:
        return new Uint8Array(this.#content(from, count))
      case 0x5:
        return this.#content(from, count).toString('latin1')
      case 0x6:
        return Buffer.from(this.#content(from, count * 2))
          .swap16()
          .toString('utf16le')
      case 0xa:
        return this.#objectsAt(from, count, depth).filter((value) => value !== null)
      case 0xd:
        return dictionaryIn(this.#objectsAt(from, count * 2, depth))
    }
    throw damagedBinary()
  }

  #objectsAt(from: number, count: number, depth: number): readonly (PropertyValue | null)[] {
    const references = this.#content(from, count * this.#referenceBytes)
    return Array.from({ length: count }, (_, i) => {
      const at = i * this.#referenceBytes
      return this.#object(references.readUIntBE(at, this.#referenceBytes), depth + 1)
    })
  }

  /** The count of an object: in the marker itself, or in an integer that follows it. */
  #countOf(offset: number, marker: number): { readonly from: number; readonly count: number } {
    const isCounted = marker >> 4 >= DATA
    if (!isCounted || (marker & 0xf) !== COUNT_FOLLOWS) {
      return { from: offset + 1, count: marker & 0xf }
    }
    const head = this.#content(offset + 1, 1).readUInt8()
    // Up to four bytes: no count within the bounds needs more.
    assertBinary(head >> 4 === INTEGER && (head & 0xf) <= 2)
    const width = 2 ** (head & 0xf)
    const count = this.#content(offset + 2, width).readUIntBE(0, width)
    return { from: offset + 2 + width, count }
  }

  #content(from: number, length: number): Buffer {
    this.#cost += length + COST_EACH
    assertBinary(from + length <= this.#table && this.#cost <= COST_MAX)
    return this.#bytes.subarray(from, from + length)
  }
}

function simpleValue(marker: number): boolean | null {
  // False, true, null, and the fill byte.
  assertBinary([0x08, 0x09, 0x00, 0x0f].includes(marker))
  return marker === 0x08 || marker === 0x09 ? marker === 0x09 : null
}

/** Integers of eight bytes are signed; those of sixteen exceed the largest signed one. */
function integerIn(content: Buffer): number {
  if (content.length === 16) return Number(content.readBigUInt64BE(8))
  return content.length === 8
    ? Number(content.readBigInt64BE())
    : content.readUIntBE(0, content.length)
}

function realIn(content: Buffer): number {
  assertBinary(content.length >= 4)
  return content.length === 4 ? content.readFloatBE() : content.readDoubleBE()
}

/** All keys come first, then all values. */
function dictionaryIn(objects: readonly (PropertyValue | null)[]): PropertyDictionary {
  const values = objects.slice(objects.length / 2)
  const pairs = values.flatMap((value, index) => {
    const key = objects[index]
    assertBinary(typeof key === 'string')
    return value === null || typeof key !== 'string' ? [] : [[key, value] as const]
  })
  return Object.fromEntries(pairs)
}

function powerOfTwo(power: number, max: number): number {
  assertBinary(power <= max)
  return 2 ** power
}

function assertBinary(holds: boolean): void {
  if (!holds) throw damagedBinary()
}

function damagedBinary(): PropertyListError {
  return new PropertyListError('A binary property list is damaged, or larger than it looks')
}
