// Property lists, the language of usbmuxd and iPhones, in XML or Apple's binary form. A phone is not trusted, and a
// pair record is full of secrets: nothing is read without a limit, and no error quotes a list.

import { types } from 'node:util'

import { build, parse } from 'plist'

import {
  DEPTH_MAX,
  isBinaryPropertyList,
  isDictionary,
  PropertyListError,
  readBinaryPropertyList,
  type PropertyValue,
} from '../../../../system/binary-plist.ts'

const BYTES_MAX = 16_777_216

/**
 * The value in `bytes`, in either form. Rounds whole numbers beyond 2^53; leaves out dates, and nulls of the binary
 * form. Throws a `PropertyListError` for more than 16 MiB or 32 levels, for XML that declares or contains anything
 * but a property list, and for damaged bytes.
 */
export function parsePropertyList(bytes: Uint8Array): PropertyValue {
  if (bytes.byteLength > BYTES_MAX) throw new PropertyListError('A property list is too long')
  const value = isBinaryPropertyList(bytes)
    ? readBinaryPropertyList(bytes)
    : readXml(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  if (value === null) throw new PropertyListError('A property list is empty')
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

/** Turns byte arrays into Buffers: of any other view, the package would write all of the memory behind it. */
function writable(value: PropertyValue): unknown {
  if (typeof value !== 'object') return value
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (!isDictionary(value)) return value.map(writable)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, writable(inner)]))
}

const VALUES_MAX = 100_000

/** No white space may match two parts of the pattern: ten thousand spaces would take minutes. */
const HEAD =
  /^\uFEFF?\s*(?:<\?xml[^<>?]*\?>\s*)?(?:<!DOCTYPE\s+plist(?:\s+(?:PUBLIC|SYSTEM)(?:\s+"[^"<>[\]]*"){1,2})?\s*>\s*)?(?=<plist\b)/
/** A tag of a property list (plist.dtd), text, or a known entity. */
const PIECE =
  /<(\/?)(plist|dict|array|key|string|data|date|integer|real|true|false)(?: version="[\d.]*")?\s*(\/?)>|[^<&]+|&(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[\da-f]{1,6});/iy
const CONTAINERS: ReadonlySet<string | undefined> = new Set(['plist', 'dict', 'array'])

/** Checks the shape first: the parser is lenient, prints warnings, and has no bound on depth. */
function readXml(text: string): PropertyValue | null {
  const head = HEAD.exec(text)?.[0]
  if (head === undefined) throw new PropertyListError('It does not begin as a property list in XML')
  const shape = new XmlShape()
  const piece = new RegExp(PIECE)
  piece.lastIndex = head.length
  while (!shape.isWhole) {
    const found = piece.exec(text)
    if (found === null) throw new PropertyListError('It ends too early, or is no property list')
    shape.take(found)
  }
  assertXml(text.slice(piece.lastIndex).trim() === '', 'Something follows its end')
  try {
    // The parser prints a warning about U+FFFD, which stands for a byte that was not UTF-8.
    return valueOf(parse(text.slice(head.length).replaceAll('\uFFFD', '&#xFFFD;')))
  } catch {
    throw new PropertyListError('A property list in XML is damaged')
  }
}

/** The value in our types; null for a date, and if there is no value. */
function valueOf(given: unknown): PropertyValue | null {
  if (typeof given === 'string' || typeof given === 'boolean') return given
  if (typeof given === 'number') return given
  if (Buffer.isBuffer(given)) return new Uint8Array(given)
  if (Array.isArray(given)) return given.map(valueOf).filter((value) => value !== null)
  if (typeof given !== 'object' || given === null || types.isDate(given)) return null
  const entries = Object.entries(given).map(([key, inner]) => [key, valueOf(inner)] as const)
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  )
}

/** The open elements around the next piece of a text. */
class XmlShape {
  /** Outermost first. */
  readonly #open: string[] = []
  #values = 0
  /** True if the outermost element has ended. */
  isWhole = false

  /** Throws if the next piece is not allowed here. */
  take([found, slash, name, end]: RegExpExecArray): void {
    if (name === undefined) {
      const isPlace = !CONTAINERS.has(this.#open.at(-1)) && this.#open.length > 0
      assertXml(isPlace || found.trim() === '', 'It has text outside of its values')
    } else if (slash === '') {
      this.#begin(name, end === '/')
    } else {
      assertXml(end === '' && this.#open.pop() === name, 'Its elements do not match')
      this.isWhole = this.#open.length === 0
    }
  }

  #begin(name: string, isEmpty: boolean): void {
    const depth = this.#open.length
    assertXml((name === 'plist') === (depth === 0), 'Its elements do not match')
    assertXml(depth === 0 || CONTAINERS.has(this.#open.at(-1)), 'A value holds an element')
    // The outermost element does not count as a level, and holds one value.
    assertXml(depth <= DEPTH_MAX, 'It is nested too deeply')
    assertXml(depth !== 1 || this.#values === 0, 'It holds more than one value')
    if (depth > 0) this.#values += 1
    if (!isEmpty) this.#open.push(name)
    assertXml(this.#values <= VALUES_MAX, 'It holds too many values')
  }
}

function assertXml(holds: boolean, problem: string): void {
  if (!holds) throw new PropertyListError(problem)
}
