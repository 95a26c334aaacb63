// The archive format of NSArchiver, in which Messages stores the body of a message. Values are typed by
// shared strings, and objects, classes and C strings are numbered as they begin, so that later ones can
// refer to them (described by python-typedstream). Strangers write these bytes: the package
// @parseaple/typedstream 2.0.2 has no bounds on work, and refuses the 64-bit numbers of current macOS.

export type TypedClass = {
  readonly kind: 'class'
  /** Its own name first, the root class last. */
  readonly names: readonly string[]
}

export type TypedObject = {
  readonly kind: 'object'
  readonly class: TypedClass
  readonly groups: readonly TypedGroup[]
}

/** `bigint` beyond the exact range of a number; an array for arrays and structs; null for nil. */
export type TypedValue =
  | number
  | bigint
  | string
  | Uint8Array
  | TypedClass
  | TypedObject
  | readonly TypedValue[]
  | null

/** Values that were written together, one for each type in `encoding`. */
export type TypedGroup = { readonly encoding: string; readonly values: readonly TypedValue[] }

/** The bytes are no valid typedstream, or exceed a limit. */
export class TypedStreamError extends Error {
  override readonly name = 'TypedStreamError'
}

type CString = { readonly kind: 'c_string'; readonly text: string | null }
type Numbered = TypedObject | TypedClass | CString

type Read = () => TypedValue
type Cursor = { readonly text: string; at: number }

const HEADER_BYTES = 13
const STREAMER_VERSION = 4
/** References count up from the lowest number that is not a tag. */
const FIRST_REFERENCE = -110

/** Head bytes that announce a value instead of being one. */
const TAG = {
  int16: 0x81,
  int32: 0x82,
  decimal: 0x83,
  new: 0x84,
  nil: 0x85,
  end: 0x86,
  /** Current macOS writes it for large numbers; older descriptions of the format lack it. */
  int64: 0x87,
} as const
const FIRST_TAG = 0x80
const LAST_TAG = 0x91

/** Far above the longest message. */
export const BLOB_BYTES_MAX = 1_048_576
const OBJECTS_MAX = 20_000
const DEPTH_MAX = 64
const NESTING_MAX = 64
const LENGTH_DIGITS_MAX = 7
const CLASS_CHAIN_MAX = 16
/** Groups, values, levels, names and letters of types, so that a few bytes cannot cause endless work. */
const STEPS_MAX = 100_000
const UTF8 = new TextDecoder()

/**
 * Returns the first group of values in `blob`; the rest is not read. Objects may contain themselves.
 * Throws a `TypedStreamError` for anything but a whole little-endian typedstream within the limits.
 */
export function readTypedStream(blob: Uint8Array): TypedGroup {
  return new TypedStreamReader(blob).read()
}

export function isKindOf(value: TypedValue | undefined, name: string): value is TypedObject {
  if (value === null || typeof value !== 'object' || !('kind' in value)) return false
  return value.kind === 'object' && value.class.names.includes(name)
}

class TypedStreamReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #strings: string[] = []
  /** By a group's encoding. */
  readonly #reads = new Map<string, readonly Read[]>()
  /** By letter of Objective-C's type encodings. */
  readonly #letters: Readonly<Record<string, Read>>
  /** Null while an object is being read and cannot be referred to yet. */
  readonly #numbered: (Numbered | null)[] = []
  #at = 0
  #depth = 0
  #steps = 0

  constructor(blob: Uint8Array) {
    if (blob.byteLength > BLOB_BYTES_MAX) throw new TypedStreamError('the stream is too long')
    this.#bytes = blob
    this.#view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
    const char = () => this.#byte()
    const signed = () => this.#integer(true)
    const unsigned = () => this.#integer(false)
    const shared = () => this.#sharedString()
    this.#letters = {
      c: () => this.#view.getInt8(this.#skip(1)),
      C: char,
      B: char,
      s: signed,
      S: unsigned,
      i: signed,
      I: unsigned,
      l: signed,
      L: unsigned,
      q: signed,
      Q: unsigned,
      f: () => this.#decimal((at) => this.#view.getFloat32(at, true), 4),
      d: () => this.#decimal((at) => this.#view.getFloat64(at, true), 8),
      '@': () => this.#object(),
      '#': () => this.#class(),
      '*': () => this.#cString(),
      ':': shared,
      '%': shared,
      '+': () => this.#counted(),
    }
  }

  read(): TypedGroup {
    const header = this.#take(Math.min(this.#left, HEADER_BYTES))
    const signature = String.fromCharCode(...header.subarray(2))
    const isKnown = header[0] === STREAMER_VERSION && header[1] === HEADER_BYTES - 2
    if (isKnown && signature === 'typedstream') {
      throw new TypedStreamError('the stream is big-endian')
    }
    if (!isKnown || signature !== 'streamtyped') {
      throw new TypedStreamError('this is no typedstream')
    }
    // The version of the writing system does not change the format.
    this.#narrowInteger(true)
    return this.#group(this.#byte())
  }

  #group(head: number): TypedGroup {
    this.#spend(1)
    const encoding = this.#sharedString(head)
    if (encoding === null) throw this.#problem('values have no type')
    const reads = this.#reads.get(encoding) ?? this.#readsOf(encoding)
    return { encoding, values: reads.map((read) => this.#value(read)) }
  }

  #value(read: Read): TypedValue {
    this.#spend(1)
    return read()
  }

  #object(): TypedObject | null {
    const head = this.#byte()
    if (head === TAG.nil) return null
    if (head !== TAG.new) {
      const known = this.#referredTo(head)
      if (known.kind !== 'object') throw this.#problem('a reference names no object')
      return known
    }
    const number = this.#takeNumber()
    const ownClass = this.#class()
    if (ownClass === null) throw this.#problem('an object has no class')
    const groups: TypedGroup[] = []
    const object: TypedObject = { kind: 'object', class: ownClass, groups }
    // Its content may refer to it.
    this.#numbered[number] = object
    this.#nested(() => {
      for (let next = this.#byte(); next !== TAG.end; next = this.#byte()) {
        groups.push(this.#group(next))
      }
    })
    return object
  }

  /** A class comes with its superclasses, up to a known one or the root. */
  #class(): TypedClass | null {
    const begun: { readonly number: number; readonly name: string }[] = []
    let head = this.#byte()
    while (head === TAG.new) {
      const number = this.#takeNumber()
      const name = this.#sharedString()
      if (name === null) throw this.#problem('a class has no name')
      begun.push({ number, name })
      // The version of the class does not change the parts that are read.
      this.#narrowInteger(true)
      head = this.#byte()
    }
    let known = head === TAG.nil ? null : this.#referredTo(head)
    if (known !== null && known.kind !== 'class') {
      throw this.#problem('a reference names no class')
    }
    for (const { number, name } of begun.toReversed()) {
      const names: readonly string[] = [name, ...(known?.names ?? [])]
      if (names.length > CLASS_CHAIN_MAX) throw this.#problem('a class has too many above it')
      known = { kind: 'class', names }
      this.#numbered[number] = known
    }
    return known
  }

  #cString(): string | null {
    const head = this.#byte()
    if (head === TAG.nil) return null
    if (head !== TAG.new) {
      const known = this.#referredTo(head)
      if (known.kind !== 'c_string') throw this.#problem('a reference names no C string')
      return known.text
    }
    const number = this.#takeNumber()
    const text = this.#sharedString()
    this.#numbered[number] = { kind: 'c_string', text }
    return text
  }

  #sharedString(head = this.#byte()): string | null {
    if (head === TAG.nil) return null
    if (head === TAG.new) {
      this.#spend(1)
      const text = UTF8.decode(this.#counted())
      this.#strings.push(text)
      return text
    }
    const known = this.#strings[this.#reference(head)]
    if (known === undefined) throw this.#problem('a reference names no string')
    return known
  }

  #referredTo(head: number): Numbered {
    const known = this.#numbered[this.#reference(head)]
    if (known === undefined || known === null) {
      throw this.#problem('a reference names nothing that is known yet')
    }
    return known
  }

  #reference(head: number): number {
    return this.#narrowInteger(true, head) - FIRST_REFERENCE
  }

  /** Numbers a value before its content is read. */
  #takeNumber(): number {
    const number = this.#numbered.push(null) - 1
    if (number >= OBJECTS_MAX) throw this.#problem('there are too many objects')
    return number
  }

  #nested<T>(read: () => T): T {
    this.#spend(1)
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw this.#problem('values are nested too deep')
    const value = read()
    this.#depth -= 1
    return value
  }

  #spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > STEPS_MAX) throw this.#problem('the stream takes too much work')
  }

  // Type encodings: `iI` is two integers, `[8c]` eight bytes, `{_NSPoint=ff}` a struct of two floats.

  #readsOf(encoding: string): readonly Read[] {
    this.#spend(encoding.length)
    const cursor = { text: encoding, at: 0 }
    const reads: Read[] = []
    while (cursor.at < encoding.length) reads.push(this.#readOf(cursor, 0))
    this.#reads.set(encoding, reads)
    return reads
  }

  /** Reads one type and moves the cursor by at least one letter. */
  #readOf(cursor: Cursor, nesting: number): Read {
    if (nesting > NESTING_MAX) throw new TypedStreamError('a type encoding is nested too deep')
    const letter = cursor.text[cursor.at] ?? ''
    cursor.at += 1
    if (letter === '[') return this.#arrayOf(cursor, nesting + 1)
    if (letter === '{') return this.#structOf(cursor, nesting + 1)
    const read = this.#letters[letter]
    if (read === undefined) throw new TypedStreamError('a type encoding has an unknown letter')
    return read
  }

  #arrayOf(cursor: Cursor, nesting: number): Read {
    const digits = skip(cursor, /\d*/y)
    if (digits === '' || digits.length > LENGTH_DIGITS_MAX) {
      throw new TypedStreamError('an array in a type encoding has no length that can be')
    }
    const isOfChars = /[cCB]/.test(cursor.text[cursor.at] ?? '')
    const element = this.#readOf(cursor, nesting)
    if (skip(cursor, /\]/y) === '') {
      throw new TypedStreamError('an array in a type encoding is open')
    }
    const length = Number(digits)
    // Chars in an array are written without heads.
    return isOfChars ? () => this.#take(length) : () => this.#array(length, element)
  }

  /** Elements may take no byte at all, so the length is counted as work before the array is allocated. */
  #array(length: number, element: Read): readonly TypedValue[] {
    if (length > this.#left) throw this.#problem('an array is too long')
    this.#spend(length)
    return this.#nested(() => Array.from({ length }, () => this.#value(element)))
  }

  #structOf(cursor: Cursor, nesting: number): Read {
    // The name and its `=` may be missing; then the first field comes at once.
    skip(cursor, /[^=[\]{}]*=/y)
    const fields: Read[] = []
    while (skip(cursor, /\}/y) === '') {
      if (cursor.at >= cursor.text.length) {
        throw new TypedStreamError('a struct in a type encoding is open')
      }
      fields.push(this.#readOf(cursor, nesting))
    }
    return () => this.#nested(() => fields.map((field) => this.#value(field)))
  }

  // Little-endian numbers and bytes, never beyond the end of the stream.

  get #left(): number {
    return this.#bytes.byteLength - this.#at
  }

  /** An error with the offset. It quotes nothing: the bytes may be a message. */
  #problem(what: string): TypedStreamError {
    return new TypedStreamError(`${what}, at byte ${this.#at} of ${this.#bytes.byteLength}`)
  }

  #byte(): number {
    return this.#view.getUint8(this.#skip(1))
  }

  /** The next `length` bytes, not copied. */
  #take(length: number): Uint8Array {
    const at = this.#skip(length)
    return this.#bytes.subarray(at, at + length)
  }

  #counted(): Uint8Array {
    return this.#take(this.#narrowInteger(false))
  }

  /** An integer of any width; a bigint beyond the exact range of a number. */
  #integer(isSigned: boolean, head = this.#byte()): number | bigint {
    if (head !== TAG.int64) return this.#narrowInteger(isSigned, head)
    const at = this.#skip(8)
    const wide = isSigned ? this.#view.getBigInt64(at, true) : this.#view.getBigUint64(at, true)
    const value = Number(wide)
    return Number.isSafeInteger(value) ? value : wide
  }

  #narrowInteger(isSigned: boolean, head = this.#byte()): number {
    if (head === TAG.int16) {
      const at = this.#skip(2)
      return isSigned ? this.#view.getInt16(at, true) : this.#view.getUint16(at, true)
    }
    if (head === TAG.int32) {
      const at = this.#skip(4)
      return isSigned ? this.#view.getInt32(at, true) : this.#view.getUint32(at, true)
    }
    if (head >= FIRST_TAG && head <= LAST_TAG) throw this.#problem('a tag stands for an integer')
    return isSigned && head > LAST_TAG ? head - 0x100 : head
  }

  /** A number that may have decimals; a whole number is written as an integer. */
  #decimal(read: (at: number) => number, sizeBytes: number): number | bigint {
    const head = this.#byte()
    return head === TAG.decimal ? read(this.#skip(sizeBytes)) : this.#integer(true, head)
  }

  /** Moves on by `length` bytes and returns the offset before. */
  #skip(length: number): number {
    if (length > this.#left) throw this.#problem('the stream ends too early')
    const at = this.#at
    this.#at += length
    return at
  }
}

/** Moves the cursor past `pattern`, which is sticky, and returns the match. */
function skip(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.at
  const [found = ''] = pattern.exec(cursor.text) ?? []
  cursor.at += found.length
  return found
}
