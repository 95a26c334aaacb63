// Writes Apple's binary property list, whole ones and, object by object, such as nobody should follow.
// What it writes is what Python's plistlib reads and writes.

export type Writable =
  | string
  | number
  | boolean
  | Uint8Array
  | readonly Writable[]
  | { readonly [key: string]: Writable }

const OFFSET_BYTES = 4
const REFERENCE_BYTES = 2

export function binaryPropertyList(value: Writable): Buffer {
  const objects: Buffer[] = []
  collect(value, objects)
  return binaryOf(objects)
}

/** The bytes of a list whose first object is the top one. */
export function binaryOf(objects: readonly Uint8Array[]): Buffer {
  const offsets = Buffer.alloc(objects.length * OFFSET_BYTES)
  let at = 8
  for (const [index, object] of objects.entries()) {
    offsets.writeUInt32BE(at, index * OFFSET_BYTES)
    at += object.byteLength
  }
  return Buffer.concat([
    Buffer.from('bplist00'),
    ...objects,
    offsets,
    trailer({ objects: objects.length, table: at }),
  ])
}

export function trailer({
  objects,
  table,
  offsetBytes = OFFSET_BYTES,
  referenceBytes = REFERENCE_BYTES,
  top = 0,
}: {
  readonly objects: number
  readonly table: number
  readonly offsetBytes?: number | undefined
  readonly referenceBytes?: number | undefined
  readonly top?: number | undefined
}): Buffer {
  const bytes = Buffer.alloc(32)
  bytes.writeUInt8(offsetBytes, 6)
  bytes.writeUInt8(referenceBytes, 7)
  bytes.writeBigUInt64BE(BigInt(objects), 8)
  bytes.writeBigUInt64BE(BigInt(top), 16)
  bytes.writeBigUInt64BE(BigInt(table), 24)
  return bytes
}

/** An array, whatever its references lead to. */
export function arrayObject(references: readonly number[]): Buffer {
  return Buffer.concat([marker(0xa, references.length), ...references.map(reference)])
}

/** The first byte of an object, and its count if that has no room in it. */
export function marker(kind: number, count: number): Buffer {
  if (count < 0xf) return Buffer.from([(kind << 4) | count])
  const bytes = Buffer.from([(kind << 4) | 0xf, 0x12, 0, 0, 0, 0])
  bytes.writeUInt32BE(count, 2)
  return bytes
}

/** Adds `value` and what it holds, and gives the place of it among the objects. */
function collect(value: Writable, objects: Buffer[]): number {
  const place = objects.length
  objects.push(Buffer.alloc(0))
  objects[place] = objectOf(value, objects)
  return place
}

function objectOf(value: Writable, objects: Buffer[]): Buffer {
  if (typeof value === 'boolean') return Buffer.from([value ? 0x09 : 0x08])
  if (typeof value === 'string') return textObject(value)
  if (typeof value === 'number') return numberObject(value)
  if (value instanceof Uint8Array) return Buffer.concat([marker(0x4, value.byteLength), value])
  if (isList(value)) return arrayObject(value.map((member) => collect(member, objects)))
  const entries = Object.entries(value)
  const keys = entries.map(([key]) => reference(collect(key, objects)))
  const values = entries.map(([, member]) => reference(collect(member, objects)))
  return Buffer.concat([marker(0xd, entries.length), ...keys, ...values])
}

/** Whole numbers up to 255 in a byte, the others as a real of eight. */
function numberObject(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0 && value <= 0xff) return Buffer.from([0x10, value])
  const bytes = Buffer.alloc(9, 0x23)
  bytes.writeDoubleBE(value, 1)
  return bytes
}

function textObject(text: string): Buffer {
  if (/^[\0-\x7F]*$/.test(text))
    return Buffer.concat([marker(0x5, text.length), Buffer.from(text, 'latin1')])
  return Buffer.concat([marker(0x6, text.length), Buffer.from(text, 'utf16le').swap16()])
}

function reference(place: number): Buffer {
  const bytes = Buffer.alloc(REFERENCE_BYTES)
  bytes.writeUInt16BE(place)
  return bytes
}

/** Unlike Array.isArray, it knows a readonly array for one. */
function isList(value: object): value is readonly Writable[] {
  return Array.isArray(value)
}
