import { FILENAME_BYTES_MAX } from '../domain/attachment.ts'

/**
 * Characters of no name: controls, lone surrogates, and those that turn the direction of writing, by which
 * `exe.gpj` reads `jpg.exe`.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu
const EXTENSION = /\.[^.]{1,20}$/
const UNNAMED = 'attachment'

/** A base name of 255 bytes at most that no folder, terminal or page misreads; a file without a name is named by its type. */
export function safeFilename(given: string | null, mimeType = ''): string {
  const base = (given ?? '').replaceAll('\\', '/').split('/').at(-1) ?? ''
  const plain = base.replaceAll(FORBIDDEN, '').trim()
  const isName = plain !== '' && plain !== '.' && plain !== '..'
  return isName ? shortened(plain) : withEnding(UNNAMED, mimeType)
}

/** An ending has a letter: that of "Report 3.5" is none. */
const ENDING = /\.\d*[a-z][a-z0-9]{0,7}$/i

/** The name with the ending of the file's type, by which a receiver opens it, if it has no ending. */
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

/** The name in a `Content-Disposition`, of an answer or of a field of a form; null if there is none. */
export function filenameIn(disposition: string): string | null {
  const [, charset = '', encoded = ''] =
    /;\s*filename\*\s*=\s*"?(utf-8|iso-8859-1)'[^']*'([^;"]+)/i.exec(disposition) ?? []
  const bytes = encoded.trim().replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => byteOf(hex))
  if (bytes !== '') return charset.toLowerCase() === 'utf-8' ? fromUtf8(bytes) : bytes
  const plain = parameterIn(disposition, 'filename')
  return plain === null ? null : fromUtf8(plain)
}

/** Browsers write a quotation mark in a name as `%22`, others put a backslash before it. */
export function parameterIn(header: string, name: string): string | null {
  const value = `(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`
  const match = new RegExp(`;\\s*${name}\\s*=\\s*${value}`, 'i').exec(header)
  const found = match?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? match?.[2]
  return found?.replaceAll('%22', '"') ?? null
}

function byteOf(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

/** A header's bytes are its characters: read as UTF-8 if they are that. */
function fromUtf8(bytes: string): string {
  if (/[^\0-\xff]/.test(bytes)) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}

/** Keeps the extension, by which a receiver opens it. */
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
