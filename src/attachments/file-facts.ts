// Facts from a file's first bytes: its type, the size of a picture, the duration of a film. The uploader's name and
// headers decide nothing.

import { fileTypeFromBuffer } from 'file-type'

export type FileFacts = {
  readonly mimeType: string
  readonly width: number | null
  readonly height: number | null
  readonly durationMs: number | null
}

/** Only the head of a file is read; some cameras put 100 KB before a picture's size. */
export const HEAD_BYTES = 256 * 1_024

/** Declared types that are trusted: texts have no signature in their first bytes. */
const TEXT_TYPE = /^(text\/[a-z0-9.+-]{1,60}|application\/json)$/

/** `declaredType` only chooses between types of plain text. */
export async function factsOf(head: Uint8Array, declaredType: string | null): Promise<FileFacts> {
  const mimeType = (await markedType(head)) ?? unmarkedType(head, declaredType)
  const [width, height] = sizeOf(head, mimeType) ?? [null, null]
  return { mimeType, width, height, durationMs: durationOf(head, mimeType) }
}

/** The type by its signature; null if there is none or the file is damaged. */
async function markedType(head: Uint8Array): Promise<string | null> {
  try {
    const found = await fileTypeFromBuffer(head)
    return found?.mime.replace(/;.*$/, '') ?? null
  } catch {
    return null
  }
}

function unmarkedType(head: Uint8Array, declaredType: string | null): string {
  if (!isText(head)) return 'application/octet-stream'
  const declared = declaredType?.replace(/;.*$/, '').trim().toLowerCase() ?? ''
  return TEXT_TYPE.test(declared) ? declared : 'text/plain'
}

/** UTF-8 without NUL bytes; the head may end within a character. */
function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return true
  } catch {
    return false
  }
}

type Size = readonly [width: number, height: number]

/** A picture's stored size in pixels, ignoring EXIF rotation. */
function sizeOf(head: Uint8Array, mimeType: string): Size | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  try {
    return SIZES[mimeType]?.(view) ?? null
  } catch {
    // The head ends before the size.
    return null
  }
}

const SIZES: Readonly<Record<string, (view: DataView) => Size | null>> = {
  'image/png': (view) => [view.getUint32(16), view.getUint32(20)],
  'image/apng': (view) => [view.getUint32(16), view.getUint32(20)],
  'image/gif': (view) => [view.getUint16(6, true), view.getUint16(8, true)],
  'image/jpeg': sizeOfJpeg,
  'image/webp': sizeOfWebp,
  'image/heic': sizeInBoxes,
  'image/heif': sizeInBoxes,
  'image/avif': sizeInBoxes,
}

/** Skips segments until the frame header, which has the size. */
function sizeOfJpeg(view: DataView): Size | null {
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)]
  }
  return null
}

function sizeOfWebp(view: DataView): Size | null {
  const form = String.fromCharCode(view.getUint8(15))
  const threeBytes = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
  if (form === 'X') return [threeBytes(24) + 1, threeBytes(27) + 1]
  if (form !== 'L') return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
  const bits = view.getUint32(21, true)
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
}

/** The largest size in the `ispe` boxes: tiles and thumbnails are smaller. */
function sizeInBoxes(view: DataView): Size | null {
  let largest: Size | null = null
  for (const at of placesOf(view, 'ispe')) {
    const size: Size = [view.getUint32(at + 8), view.getUint32(at + 12)]
    if (largest === null || size[0] * size[1] > largest[0] * largest[1]) largest = size
  }
  return largest
}

/** The duration from the `mvhd` box of films and voice messages, in milliseconds; null if the box is at their end. */
function durationOf(head: Uint8Array, mimeType: string): number | null {
  if (!/^(video|audio)\/(mp4|quicktime|x-m4[av])$/.test(mimeType)) return null
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const [at] = placesOf(view, 'mvhd')
  if (at === undefined || at + 36 > view.byteLength) return null
  const isLong = view.getUint8(at + 4) === 1
  const scale = view.getUint32(at + (isLong ? 24 : 16))
  const length = isLong ? Number(view.getBigUint64(at + 28)) : view.getUint32(at + 20)
  return scale === 0 ? null : Math.round((length * 1_000) / scale)
}

function placesOf({ buffer, byteOffset, byteLength }: DataView, name: string): readonly number[] {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const places: number[] = []
  for (let at = bytes.indexOf(name); at !== -1; at = bytes.indexOf(name, at + 4)) places.push(at)
  return places
}
