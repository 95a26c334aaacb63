// Property lists, in which usbmuxd and iPhones speak: as XML, or as Apple's binary form. A phone is a
// stranger, and a pair record is full of secrets: nothing is read without bounds, and no error quotes
// what it was about.

import { types } from 'node:util'

import { parseBuffer } from 'bplist-parser'
import { build, parse } from 'plist'

export type PropertyValue =
  | string
  | number
  | boolean
  | Uint8Array
  | Date
  | readonly PropertyValue[]
  | PropertyDictionary

export type PropertyDictionary = { readonly [key: string]: PropertyValue }

/** The bytes are no property list, or one beyond the bounds. It says what is wrong and quotes nothing. */
export class PropertyListError extends Error {
  override readonly name = 'PropertyListError'
}

const BYTES_MAX = 16_777_216
const BINARY_MAGIC = 'bplist'

/**
 * The value that `bytes` hold, in whichever of the two forms. Whole numbers beyond 2^53 are rounded,
 * and a null of the binary form is left out. Throws a `PropertyListError` for more than 16 MiB, for
 * more than 32 levels, for XML that declares or holds anything but a property list, and for what is
 * damaged.
 */
export function parsePropertyList(bytes: Uint8Array): PropertyValue {
  if (bytes.byteLength > BYTES_MAX) throw new PropertyListError('A property list is too long')
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isBinary = buffer.toString('latin1', 0, BINARY_MAGIC.length) === BINARY_MAGIC
  const value = valueOf(isBinary ? readBinary(buffer) : readXml(buffer.toString('utf8')))
  if (value === null) throw new PropertyListError('A property list holds nothing')
  return value
}

/** The text of `value` in XML. Throws a `PropertyListError` for characters that XML cannot hold. */
export function xmlPropertyList(value: PropertyValue): string {
  try {
    return build(writable(value), { pretty: false })
  } catch {
    throw new PropertyListError('A value cannot be written as a property list')
  }
}

/** The dictionary that `value` is; null for anything else. */
export function dictionaryOf(value: PropertyValue | null | undefined): PropertyDictionary | null {
  return typeof value === 'object' && value !== null && isDictionary(value) ? value : null
}

export function listOf(value: PropertyValue | null | undefined): readonly PropertyValue[] | null {
  return Array.isArray(value) ? value : null
}

export function textOf(value: PropertyValue | null | undefined): string | null {
  return typeof value === 'string' ? value : null
}

export function numberOf(value: PropertyValue | null | undefined): number | null {
  return typeof value === 'number' ? value : null
}

export function switchOf(value: PropertyValue | null | undefined): boolean | null {
  return typeof value === 'boolean' ? value : null
}

export function bytesOf(value: PropertyValue | null | undefined): Uint8Array | null {
  return value instanceof Uint8Array ? value : null
}

function readBinary(buffer: Buffer): unknown {
  const problem = binaryProblem(buffer)
  if (problem !== null) throw new PropertyListError(problem)
  try {
    return parseBuffer<unknown>(buffer)[0]
  } catch {
    throw new PropertyListError('A binary property list is damaged')
  }
}

function readXml(text: string): unknown {
  const checked = checkedXml(text)
  if ('problem' in checked) throw new PropertyListError(checked.problem)
  try {
    return parse(checked.body)
  } catch {
    throw new PropertyListError('A property list in XML is damaged')
  }
}

/** What both packages give, in one form; null for nothing. How deep it goes was looked at before. */
function valueOf(given: unknown): PropertyValue | null {
  if (typeof given === 'string' || typeof given === 'boolean') return given
  if (typeof given === 'number' || typeof given === 'bigint') return Number(given)
  if (given === null) return null
  if (typeof given === 'object') return structureOf(given)
  throw new PropertyListError('A property list holds what none can hold')
}

function structureOf(given: object): PropertyValue {
  if (Buffer.isBuffer(given)) return new Uint8Array(given)
  if (types.isDate(given)) return given
  if (Array.isArray(given)) return given.map(valueOf).filter((value) => value !== null)
  const pairs = Object.entries(given).flatMap(([key, inner]) => {
    const value = valueOf(inner)
    return value === null ? [] : [[key, value] as const]
  })
  return Object.fromEntries(pairs)
}

/** The package writes the whole memory behind a view; of a Buffer it writes what is in it. */
function writable(value: PropertyValue): unknown {
  if (typeof value !== 'object' || types.isDate(value)) return value
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (!isDictionary(value)) return value.map(writable)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, writable(inner)]))
}

function isDictionary(
  value: Exclude<PropertyValue, string | number | boolean>,
): value is PropertyDictionary {
  return !Array.isArray(value) && !types.isDate(value) && !(value instanceof Uint8Array)
}

// Whether bytes have the shape of Apple's binary property list, before a parser follows them that trusts
// every length and reference: a few bytes can name a value that contains itself, or one that is a
// thousand times in each of a thousand others. The form is described in CFBinaryPList.c of Apple's
// CoreFoundation.

const MAGIC_BYTES = 8
const TRAILER_BYTES = 32
/** Far deeper than anything that usbmuxd or a phone says. */
const DEPTH_MAX = 32
/** The parser's own bound is 32,768. */
const OBJECTS_MAX = 20_000
/** What all values would take once they are read, each counted as often as it is referred to. */
const COST_MAX = 16_777_216
const COST_EACH = 128

/** Kinds of objects, by the upper half of their first byte. */
const INTEGER = 0x1
const DATA = 0x4
const ARRAY = 0xa
const DICTIONARY = 0xd
const COUNT_FOLLOWS = 0xf
/** Null, false, true, and the byte that only fills. */
const SIMPLE_MARKERS = [0x00, 0x08, 0x09, 0x0f]

/** How many bytes of content follow, for each kind; null where that count is not one of its own. */
const LENGTHS: Readonly<Record<number, (count: number, marker: number) => number | null>> = {
  0x0: (_, marker) => (SIMPLE_MARKERS.includes(marker) ? 0 : null),
  [INTEGER]: (power) => (power <= 4 ? 2 ** power : null),
  // A real number.
  0x2: (power) => (power === 2 || power === 3 ? 2 ** power : null),
  // A date.
  0x3: (power) => (power === 3 ? 8 : null),
  [DATA]: (count) => count,
  // Text in ASCII, and in UTF-16.
  0x5: (count) => count,
  0x6: (count) => count * 2,
  [ARRAY]: () => 0,
  [DICTIONARY]: () => 0,
}

type Extent = { readonly from: number; readonly length: number; readonly references: number }

/** What is wrong with `bytes`, quoting nothing of them; null where they may be read. */
function binaryProblem(bytes: Buffer): string | null {
  const shape = BinaryShape.of(bytes)
  if (shape === null) return 'A binary property list has no true trailer'
  return shape.isSound() ? null : 'A binary property list is damaged, or larger than it looks'
}

class BinaryShape {
  readonly #bytes: Buffer
  readonly #offsetBytes: number
  readonly #referenceBytes: number
  readonly #objects: number
  readonly #top: number
  readonly #table: number
  #cost = 0

  private constructor(bytes: Buffer) {
    const trailer = bytes.subarray(-TRAILER_BYTES)
    this.#bytes = bytes
    this.#offsetBytes = trailer.readUInt8(6)
    this.#referenceBytes = trailer.readUInt8(7)
    this.#objects = Number(trailer.readBigUInt64BE(8))
    this.#top = Number(trailer.readBigUInt64BE(16))
    this.#table = Number(trailer.readBigUInt64BE(24))
  }

  static of(bytes: Buffer): BinaryShape | null {
    if (bytes.byteLength < MAGIC_BYTES + TRAILER_BYTES) return null
    const shape = new BinaryShape(bytes)
    return shape.#hasTable() ? shape : null
  }

  /** Whether everything that the top object leads to lies within the bytes and the bounds. */
  isSound(): boolean {
    return this.#isValueSound(this.#top, 1)
  }

  #hasTable(): boolean {
    const isWide = (width: number) => width >= 1 && width <= 4
    if (!isWide(this.#offsetBytes) || !isWide(this.#referenceBytes)) return false
    if (this.#objects < 1 || this.#objects > OBJECTS_MAX || this.#top >= this.#objects) return false
    const end = this.#table + this.#objects * this.#offsetBytes
    return this.#table > MAGIC_BYTES && end <= this.#bytes.byteLength - TRAILER_BYTES
  }

  #isValueSound(object: number, depth: number): boolean {
    if (object >= this.#objects || depth > DEPTH_MAX) return false
    const extent = this.#extentOf(
      this.#bytes.readUIntBE(this.#table + object * this.#offsetBytes, this.#offsetBytes),
    )
    if (extent === null) return false
    this.#cost += extent.length + COST_EACH
    if (this.#cost > COST_MAX) return false
    for (let i = 0; i < extent.references; i += 1) {
      const at = extent.from + i * this.#referenceBytes
      const reference = this.#bytes.readUIntBE(at, this.#referenceBytes)
      if (!this.#isValueSound(reference, depth + 1)) return false
    }
    return true
  }

  /** Where the content of the object at `offset` lies; null where that cannot be. */
  #extentOf(offset: number): Extent | null {
    if (offset < MAGIC_BYTES || offset >= this.#table) return null
    const marker = this.#bytes.readUInt8(offset)
    const counted = this.#countOf(offset, marker)
    if (counted === null) return null
    const { from, count } = counted
    const references = this.#referencesOf(marker >> 4, count)
    const length = references > 0 ? references * this.#referenceBytes : lengthOf(marker, count)
    if (length === null || from + length > this.#table) return null
    return { from, length, references }
  }

  /** How many members the object has: in the marker itself, or in a whole number that follows it. */
  #countOf(
    offset: number,
    marker: number,
  ): { readonly from: number; readonly count: number } | null {
    const isCounted = marker >> 4 >= DATA
    if (!isCounted || (marker & 0xf) !== COUNT_FOLLOWS) {
      return { from: offset + 1, count: marker & 0xf }
    }
    if (offset + 1 >= this.#table) return null
    const head = this.#bytes.readUInt8(offset + 1)
    // Up to four bytes: no count of a list within the bounds needs more.
    if (head >> 4 !== INTEGER || (head & 0xf) > 2) return null
    const width = 2 ** (head & 0xf)
    if (offset + 2 + width > this.#table) return null
    return { from: offset + 2 + width, count: this.#bytes.readUIntBE(offset + 2, width) }
  }

  #referencesOf(kind: number, count: number): number {
    if (kind === ARRAY) return count
    return kind === DICTIONARY ? count * 2 : 0
  }
}

/** The bytes of content of an object without references; null for what we do not read. */
function lengthOf(marker: number, count: number): number | null {
  return LENGTHS[marker >> 4]?.(count, marker) ?? null
}

// Whether a text has the shape of a property list in XML, before a parser of all XML sees it. That one
// is lenient, quotes what it finds odd on standard error, and goes as deep as it is led.

const VALUES_MAX = 100_000

/** No white space may belong to either of two parts: ten thousand of it would be tried for minutes. */
const HEAD =
  /^\uFEFF?\s*(?:<\?xml[^<>?]*\?>\s*)?(?:<!DOCTYPE\s+plist(?:\s+(?:PUBLIC|SYSTEM)(?:\s+"[^"<>[\]]*"){1,2})?\s*>\s*)?(?=<plist\b)/
/** One tag of a property list (plist.dtd), a stretch of text, or one of the known entities. */
const PIECE =
  /<(\/?)(plist|dict|array|key|string|data|date|integer|real|true|false)(?: version="[\d.]*")?\s*(\/?)>|[^<&]+|&(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[\da-f]{1,6});/iy
const CONTAINERS: ReadonlySet<string | undefined> = new Set(['plist', 'dict', 'array'])

type CheckedXml = { readonly body: string } | { readonly problem: string }

/**
 * The list in `text` without its head, fit for the parser; or what is wrong with it, quoting nothing.
 */
function checkedXml(text: string): CheckedXml {
  const head = HEAD.exec(text)?.[0]
  if (head === undefined) return { problem: 'It does not begin as a property list in XML' }
  const shape = new XmlShape()
  const piece = new RegExp(PIECE)
  piece.lastIndex = head.length
  while (!shape.isWhole) {
    const found = piece.exec(text)
    if (found === null) return { problem: 'It ends too early, or is no property list' }
    const problem = shape.take(found)
    if (problem !== null) return { problem }
  }
  if (text.slice(piece.lastIndex).trim() !== '') return { problem: 'Something follows its end' }
  // The parser remarks on the sign itself, which stands for a byte that was no UTF-8.
  return { body: text.slice(head.length).replaceAll('\uFFFD', '&#xFFFD;') }
}

/** The elements around the next piece of a text. */
class XmlShape {
  /** Outermost first. */
  readonly #open: string[] = []
  #values = 0
  #hasEnded = false

  get isWhole(): boolean {
    return this.#hasEnded
  }

  /** What is wrong with the next piece; null where it may stand here. */
  take([found, slash, name, end]: RegExpExecArray): string | null {
    if (name === undefined) return this.#text(found)
    if (slash === '') return this.#begin(name, end === '/')
    return end === '' && this.#end(name) ? null : 'Its elements do not match'
  }

  #text(text: string): string | null {
    const isPlace = !CONTAINERS.has(this.#open.at(-1)) && this.#open.length > 0
    return isPlace || text.trim() === '' ? null : 'It has text outside of its values'
  }

  #begin(name: string, isEmpty: boolean): string | null {
    const depth = this.#open.length
    if ((name === 'plist') !== (depth === 0)) return 'Its elements do not match'
    if (depth > 0 && !CONTAINERS.has(this.#open.at(-1))) return 'A value holds an element'
    // The outermost element is no level of its own, and holds one value.
    if (depth > DEPTH_MAX) return 'It is nested too deeply'
    if (depth === 1 && this.#values > 0) return 'It holds more than one value'
    if (depth > 0) this.#values += 1
    if (!isEmpty) this.#open.push(name)
    return this.#values > VALUES_MAX ? 'It holds too many values' : null
  }

  #end(name: string): boolean {
    const isMatch = this.#open.pop() === name
    this.#hasEnded = this.#open.length === 0
    return isMatch
  }
}
