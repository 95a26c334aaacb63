import { FILENAME_BYTES_MAX } from '../domain/attachment.ts'

/** Removed characters: controls, lone surrogates, and direction marks, which make `exe.gpj` look like `jpg.exe`. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu
const EXTENSION = /\.[^.]{1,20}$/

/** A safe base name of at most 255 bytes; a file without a name is named after its type. */
export function safeFilename(given: string | null, mimeType = ''): string {
  const base = (given ?? '').replaceAll('\\', '/').split('/').at(-1) ?? ''
  const plain = base.replaceAll(FORBIDDEN, '').trim()
  const isName = plain !== '' && plain !== '.' && plain !== '..'
  return isName ? shortened(plain) : withEnding('attachment', mimeType)
}

/** An extension has a letter: "Report 3.5" has none. */
const ENDING = /\.\d*[a-z][a-z0-9]{0,7}$/i

/** Adds the extension of the file's type, which a receiver needs to open it, if the name has none. */
export function withEnding(name: string, mimeType: string): string {
  const ending = ENDINGS[mimeType]
  return ENDING.test(name) || ending === undefined ? name : shortened(`${name}.${ending}`)
}

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const ENDINGS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  [`${OFFICE}.presentationml.presentation`]: 'pptx',
  [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
  [`${OFFICE}.wordprocessingml.document`]: 'docx',
  'application/zip': 'zip',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/x-caf': 'caf',
  'audio/x-m4a': 'm4a',
  'image/apng': 'png',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/heif': 'heif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/tiff': 'tif',
  'image/webp': 'webp',
  'text/calendar': 'ics',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'video/x-m4v': 'm4v',
}

/** The file name in a `Content-Disposition` header of a response or a form field; null if none. */
export function filenameIn(disposition: string): string | null {
  const [, charset = '', encoded = ''] =
    /;\s*filename\*\s*=\s*"?(utf-8|iso-8859-1)'[^']*'([^;"]+)/i.exec(disposition) ?? []
  const byteOf = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  const bytes = encoded.trim().replaceAll(/%([0-9a-f]{2})/gi, byteOf)
  if (bytes !== '') return charset.toLowerCase() === 'utf-8' ? fromUtf8(bytes) : bytes
  const plain = parameterIn(disposition, 'filename')
  return plain === null ? null : fromUtf8(plain)
}

/** In names, browsers write a quotation mark as `%22`; others escape it with a backslash. */
export function parameterIn(header: string, name: string): string | null {
  const value = `(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`
  const match = new RegExp(`;\\s*${name}\\s*=\\s*${value}`, 'i').exec(header)
  const found = match?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? match?.[2]
  return found?.replaceAll('%22', '"') ?? null
}

/** Each character is one byte of the header: decodes them as UTF-8 if valid. */
function fromUtf8(bytes: string): string {
  if (/[^\0-\xff]/.test(bytes)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}

/** Shortens the stem and keeps the extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= FILENAME_BYTES_MAX) return name
  const extension = EXTENSION.exec(name)?.[0] ?? ''
  const stem = name.slice(0, name.length - extension.length)
  let kept = ''
  let room = FILENAME_BYTES_MAX - Buffer.byteLength(extension)
  for (const character of stem) {
    room -= Buffer.byteLength(character)
    if (room < 0) break
    kept += character
  }
  return kept + extension
}
