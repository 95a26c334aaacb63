// Property lists, in which usbmuxd and iPhones speak: as XML, or as Apple's binary form. A phone is a
// stranger, and a pair record is full of secrets: nothing is read without bounds, and no error quotes
// what it was about.

import { types } from 'node:util'

import { parseBuffer } from 'bplist-parser'
import { build, parse } from 'plist'

import { binaryProblem } from './binary-plist-shape.ts'
import { checkedXml } from './xml-plist-shape.ts'

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
