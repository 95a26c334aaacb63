// Whether bytes have the shape of Apple's binary property list, before a parser follows them that trusts
// every length and reference: a few bytes can name a value that contains itself, or one that is a
// thousand times in each of a thousand others. The form is described in CFBinaryPList.c of Apple's
// CoreFoundation.

const MAGIC_BYTES = 8
const TRAILER_BYTES = 32
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
export function binaryProblem(bytes: Buffer): string | null {
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
