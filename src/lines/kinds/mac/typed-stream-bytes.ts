/** The bytes are no readable typedstream, are damaged, or exceed a budget. */
export class TypedStreamError extends Error {
  override readonly name = 'TypedStreamError'
}

/** Head bytes that are no values themselves: they announce the next one. */
export const TAG = {
  int16: 0x81,
  int32: 0x82,
  decimal: 0x83,
  new: 0x84,
  nil: 0x85,
  end: 0x86,
  /** Written by current macOS for large numbers; older descriptions of the format do not have it. */
  int64: 0x87,
} as const

const FIRST_TAG = 0x80
const LAST_TAG = 0x91
const UTF8 = new TextDecoder()

/** Reads the little-endian numbers and texts of a typedstream, and never beyond its end. */
export class TypedStreamBytes {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at
  }

  /** Error with its offset. It quotes nothing: the bytes may be a message. */
  problem(what: string): TypedStreamError {
    return new TypedStreamError(`${what}, at byte ${this.#at} of ${this.#bytes.byteLength}`)
  }

  byte(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  /** A char is always one byte: it has no head. */
  char(isSigned: boolean): number {
    return isSigned ? this.#view.getInt8(this.#skip(1)) : this.byte()
  }

  /** The next `length` bytes, not copied. */
  take(length: number): Uint8Array {
    const at = this.#skip(length)
    return this.#bytes.subarray(at, at + length)
  }

  /** An integer of any width; a bigint beyond the exact range of a number. */
  integer(isSigned: boolean, head: number = this.byte()): number | bigint {
    if (head === TAG.int64) {
      const at = this.#skip(8)
      const wide = isSigned ? this.#view.getBigInt64(at, true) : this.#view.getBigUint64(at, true)
      const value = Number(wide)
      return Number.isSafeInteger(value) ? value : wide
    }
    return this.narrowInteger(isSigned, head)
  }

  /** An integer of 32 bits at most. */
  narrowInteger(isSigned: boolean, head: number = this.byte()): number {
    if (head === TAG.int16) {
      const at = this.#skip(2)
      return isSigned ? this.#view.getInt16(at, true) : this.#view.getUint16(at, true)
    }
    if (head === TAG.int32) {
      const at = this.#skip(4)
      return isSigned ? this.#view.getInt32(at, true) : this.#view.getUint32(at, true)
    }
    if (head >= FIRST_TAG && head <= LAST_TAG) throw this.problem('a tag stands for an integer')
    return isSigned && head > LAST_TAG ? head - 0x100 : head
  }

  /** A number that may have decimals; a whole number is written as an integer. */
  decimal(sizeBytes: 4 | 8): number | bigint {
    const head = this.byte()
    if (head !== TAG.decimal) return this.integer(true, head)
    const at = this.#skip(sizeBytes)
    return sizeBytes === 4 ? this.#view.getFloat32(at, true) : this.#view.getFloat64(at, true)
  }

  /** Bytes with their length before them, not copied. */
  counted(): Uint8Array {
    return this.take(this.narrowInteger(false))
  }

  /** The name of a type or a class. */
  countedName(): string {
    return UTF8.decode(this.counted())
  }

  /** Moves on by `length` bytes and returns their offset. */
  #skip(length: number): number {
    if (length > this.left) throw this.problem('the stream ends too early')
    const at = this.#at
    this.#at += length
    return at
  }
}
