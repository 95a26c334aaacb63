// The archive format of NSArchiver, in which Messages stores the body of a message. Values are typed by
// shared strings, and objects, classes and C strings are numbered as they begin, so that later ones
// can refer to them. The format is described by the project python-typedstream.

import { TAG, TypedStreamBytes, TypedStreamError } from './typed-stream-bytes.ts'

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

/** Values that were written together: one for each type in `encoding`. */
export type TypedGroup = { readonly encoding: string; readonly values: readonly TypedValue[] }

type CString = { readonly kind: 'c_string'; readonly text: string | null }
type Numbered = TypedObject | TypedClass | CString

const SIGNATURE_LENGTH = 11
const LITTLE_ENDIAN = 'streamtyped'
const BIG_ENDIAN = 'typedstream'
const HEADER_BYTES = 2 + SIGNATURE_LENGTH
const STREAMER_VERSION = 4
/** References are counted from the lowest number that is no tag. */
const FIRST_REFERENCE = -110

/** Far above the longest message. */
export const BLOB_BYTES_MAX = 1_048_576
const OBJECTS_MAX = 20_000
const DEPTH_MAX = 64
const CLASS_CHAIN_MAX = 16
/** Groups, values, levels, names and letters of types: a few bytes must not cause endless work. */
const STEPS_MAX = 100_000

/**
 * First group of values in `blob`; the rest is not read. Objects may contain themselves. Throws a
 * `TypedStreamError` for anything but a whole little-endian typedstream within the budgets.
 */
export function readTypedStream(blob: Uint8Array): TypedGroup {
  return new TypedStreamReader(blob).read()
}

/** True for an object of the class `name` or of a subclass. */
export function isKindOf(value: TypedValue | undefined, name: string): value is TypedObject {
  if (value === null || typeof value !== 'object' || !('kind' in value)) return false
  return value.kind === 'object' && value.class.names.includes(name)
}

class TypedStreamReader {
  readonly #bytes: TypedStreamBytes
  readonly #strings: string[] = []
  readonly #shapes = new Map<string, readonly Shape[]>()
  /** Null while it is being read: it cannot be referred to yet. */
  readonly #numbered: (Numbered | null)[] = []
  #depth = 0
  #steps = 0

  constructor(blob: Uint8Array) {
    if (blob.byteLength > BLOB_BYTES_MAX) throw new TypedStreamError('the stream is too long')
    this.#bytes = new TypedStreamBytes(blob)
  }

  read(): TypedGroup {
    this.#readHeader()
    return this.#readGroup(this.#bytes.byte())
  }

  #readHeader(): void {
    const header = this.#bytes.take(Math.min(this.#bytes.left, HEADER_BYTES))
    const [version, length] = header
    const signature = String.fromCharCode(...header.subarray(2))
    if (version !== STREAMER_VERSION || length !== SIGNATURE_LENGTH) throw notTyped()
    if (signature === BIG_ENDIAN) throw new TypedStreamError('the stream is big-endian')
    if (signature !== LITTLE_ENDIAN) throw notTyped()
    // The version of the writing system does not change the format.
    this.#bytes.narrowInteger(true)
  }

  #readGroup(head: number): TypedGroup {
    this.#spend(1)
    const encoding = this.#readSharedString(head)
    if (encoding === null) throw this.#bytes.problem('values have no type')
    const values = this.#shapesOf(encoding).map((shape) => this.#readValue(shape))
    return { encoding, values }
  }

  #shapesOf(encoding: string): readonly Shape[] {
    const known = this.#shapes.get(encoding)
    if (known !== undefined) return known
    this.#spend(encoding.length)
    const shapes = shapesOf(encoding)
    this.#shapes.set(encoding, shapes)
    return shapes
  }

  #readValue(shape: Shape): TypedValue {
    this.#spend(1)
    switch (shape.shape) {
      case 'char':
        return this.#bytes.char(shape.isSigned)
      case 'integer':
        return this.#bytes.integer(shape.isSigned)
      case 'decimal':
        return this.#bytes.decimal(shape.sizeBytes)
      case 'object':
        return this.#readObject()
      case 'class':
        return this.#readClass()
      case 'c_string':
        return this.#readCString()
      case 'shared_string':
        return this.#readSharedString(this.#bytes.byte())
      case 'counted_bytes':
        return this.#bytes.counted()
      case 'bytes':
        return this.#bytes.take(shape.length)
      case 'array':
        return this.#readArray(shape.length, shape.element)
      case 'struct':
        return this.#nested(() => shape.fields.map((field) => this.#readValue(field)))
    }
  }

  /** Elements may take no byte at all, so the length is paid for before they are allocated. */
  #readArray(length: number, element: Shape): readonly TypedValue[] {
    if (length > this.#bytes.left) throw this.#bytes.problem('an array is too long')
    this.#spend(length)
    return this.#nested(() => Array.from({ length }, () => this.#readValue(element)))
  }

  #readObject(): TypedObject | null {
    const head = this.#bytes.byte()
    if (head === TAG.nil) return null
    if (head !== TAG.new) {
      const known = this.#referredTo(head)
      if (known.kind !== 'object') throw this.#bytes.problem('a reference names no object')
      return known
    }
    const number = this.#takeNumber()
    const ownClass = this.#readClass()
    if (ownClass === null) throw this.#bytes.problem('an object has no class')
    const groups: TypedGroup[] = []
    const object: TypedObject = { kind: 'object', class: ownClass, groups }
    // Its content may refer to it.
    this.#numbered[number] = object
    this.#nested(() => this.#readGroupsInto(groups))
    return object
  }

  #readGroupsInto(groups: TypedGroup[]): void {
    for (let head = this.#bytes.byte(); head !== TAG.end; head = this.#bytes.byte()) {
      groups.push(this.#readGroup(head))
    }
  }

  /** A class comes with its superclasses, up to a known one or the root. */
  #readClass(): TypedClass | null {
    const begun: { readonly number: number; readonly name: string }[] = []
    let head = this.#bytes.byte()
    while (head === TAG.new) {
      const number = this.#takeNumber()
      const name = this.#readSharedString(this.#bytes.byte())
      if (name === null) throw this.#bytes.problem('a class has no name')
      begun.push({ number, name })
      // The version of the class: the parts that are read are the same in all versions.
      this.#bytes.narrowInteger(true)
      head = this.#bytes.byte()
    }
    let known = head === TAG.nil ? null : this.#knownClass(head)
    for (const { number, name } of begun.toReversed()) {
      const names: readonly string[] = [name, ...(known?.names ?? [])]
      if (names.length > CLASS_CHAIN_MAX) throw this.#bytes.problem('a class has too many above it')
      known = { kind: 'class', names }
      this.#numbered[number] = known
    }
    return known
  }

  #knownClass(head: number): TypedClass {
    const known = this.#referredTo(head)
    if (known.kind !== 'class') throw this.#bytes.problem('a reference names no class')
    return known
  }

  #readCString(): string | null {
    const head = this.#bytes.byte()
    if (head === TAG.nil) return null
    if (head !== TAG.new) {
      const known = this.#referredTo(head)
      if (known.kind !== 'c_string') throw this.#bytes.problem('a reference names no C string')
      return known.text
    }
    const number = this.#takeNumber()
    const text = this.#readSharedString(this.#bytes.byte())
    this.#numbered[number] = { kind: 'c_string', text }
    return text
  }

  #readSharedString(head: number): string | null {
    if (head === TAG.nil) return null
    if (head === TAG.new) {
      this.#spend(1)
      const text = this.#bytes.countedName()
      this.#strings.push(text)
      return text
    }
    const known = this.#strings[this.#readReference(head)]
    if (known === undefined) throw this.#bytes.problem('a reference names no string')
    return known
  }

  #referredTo(head: number): Numbered {
    const known = this.#numbered[this.#readReference(head)]
    if (known === undefined || known === null) {
      throw this.#bytes.problem('a reference names nothing that is known yet')
    }
    return known
  }

  #readReference(head: number): number {
    return this.#bytes.narrowInteger(true, head) - FIRST_REFERENCE
  }

  /** Number of a value that begins here; it is assigned before the content is read. */
  #takeNumber(): number {
    const number = this.#numbered.push(null) - 1
    if (number >= OBJECTS_MAX) throw this.#bytes.problem('there are too many objects')
    return number
  }

  #nested<T>(read: () => T): T {
    this.#spend(1)
    this.#depth += 1
    if (this.#depth > DEPTH_MAX) throw this.#bytes.problem('values are nested too deep')
    const value = read()
    this.#depth -= 1
    return value
  }

  #spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > STEPS_MAX) throw this.#bytes.problem('the stream takes too much work')
  }
}

function notTyped(): TypedStreamError {
  return new TypedStreamError('this is no typedstream')
}

// Shapes of values, in the letters of Objective-C's type encodings: `iI` is two integers,
// `[8c]` eight bytes, `{_NSPoint=ff}` a struct of two floats.

export type Shape =
  | { readonly shape: 'char' | 'integer'; readonly isSigned: boolean }
  | { readonly shape: 'decimal'; readonly sizeBytes: 4 | 8 }
  | { readonly shape: 'object' | 'class' | 'c_string' | 'shared_string' | 'counted_bytes' }
  /** Chars in a row are written as they are, without heads. */
  | { readonly shape: 'bytes'; readonly length: number }
  | { readonly shape: 'array'; readonly length: number; readonly element: Shape }
  | { readonly shape: 'struct'; readonly fields: readonly Shape[] }

/** Arrays and structs within each other. */
const NESTING_MAX = 64
const LENGTH_DIGITS_MAX = 7

const SIMPLE: Readonly<Record<string, Shape>> = {
  c: { shape: 'char', isSigned: true },
  C: { shape: 'char', isSigned: false },
  B: { shape: 'char', isSigned: false },
  s: { shape: 'integer', isSigned: true },
  S: { shape: 'integer', isSigned: false },
  i: { shape: 'integer', isSigned: true },
  I: { shape: 'integer', isSigned: false },
  l: { shape: 'integer', isSigned: true },
  L: { shape: 'integer', isSigned: false },
  q: { shape: 'integer', isSigned: true },
  Q: { shape: 'integer', isSigned: false },
  f: { shape: 'decimal', sizeBytes: 4 },
  d: { shape: 'decimal', sizeBytes: 8 },
  '@': { shape: 'object' },
  '#': { shape: 'class' },
  '*': { shape: 'c_string' },
  ':': { shape: 'shared_string' },
  '%': { shape: 'shared_string' },
  '+': { shape: 'counted_bytes' },
}

type Cursor = { readonly text: string; at: number }

/** Shapes of an encoding, in order. Throws a `TypedStreamError`. */
function shapesOf(encoding: string): readonly Shape[] {
  const cursor = { text: encoding, at: 0 }
  const shapes: Shape[] = []
  while (cursor.at < encoding.length) shapes.push(readShape(cursor, 0))
  return shapes
}

/** Reads one shape and moves the cursor behind it, by at least one letter. */
function readShape(cursor: Cursor, nesting: number): Shape {
  if (nesting > NESTING_MAX) throw new TypedStreamError('a type encoding is nested too deep')
  const letter = cursor.text[cursor.at] ?? ''
  cursor.at += 1
  if (letter === '[') return readArray(cursor, nesting + 1)
  if (letter === '{') return readStruct(cursor, nesting + 1)
  const simple = SIMPLE[letter]
  if (simple === undefined) throw new TypedStreamError('a type encoding has an unknown letter')
  return simple
}

function readArray(cursor: Cursor, nesting: number): Shape {
  const start = cursor.at
  while (/^\d$/.test(cursor.text[cursor.at] ?? '')) cursor.at += 1
  const digits = cursor.text.slice(start, cursor.at)
  if (digits === '' || digits.length > LENGTH_DIGITS_MAX) {
    throw new TypedStreamError('an array in a type encoding has no length that can be')
  }
  const element = readShape(cursor, nesting)
  if (cursor.text[cursor.at] !== ']')
    throw new TypedStreamError('an array in a type encoding is open')
  cursor.at += 1
  const length = Number(digits)
  return element.shape === 'char' ? { shape: 'bytes', length } : { shape: 'array', length, element }
}

function readStruct(cursor: Cursor, nesting: number): Shape {
  skipStructName(cursor)
  const fields: Shape[] = []
  while (cursor.at < cursor.text.length) {
    if (cursor.text[cursor.at] === '}') {
      cursor.at += 1
      return { shape: 'struct', fields }
    }
    fields.push(readShape(cursor, nesting))
  }
  throw new TypedStreamError('a struct in a type encoding is open')
}

/** The name and its `=` may be left out; then the first field comes at once. */
function skipStructName(cursor: Cursor): void {
  const name = /[^=[\]{}]*=/y
  name.lastIndex = cursor.at
  if (name.test(cursor.text)) cursor.at = name.lastIndex
}
