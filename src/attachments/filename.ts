import { FILENAME_BYTES_MAX } from '../domain/attachment.ts'

/**
 * Characters of no name: controls, lone surrogates, and those that turn the direction of writing, by which
 * `exe.gpj` reads `jpg.exe`.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu
const EXTENSION = /\.[^.]{1,20}$/
const UNNAMED = 'attachment'

/** A base name of 255 bytes at most that no folder, terminal or page misreads. */
export function safeFilename(given: string | null): string {
  const base = (given ?? '').replaceAll('\\', '/').split('/').at(-1) ?? ''
  const plain = base.replaceAll(FORBIDDEN, '').trim()
  const isName = plain !== '' && plain !== '.' && plain !== '..'
  return isName ? shortened(plain) : UNNAMED
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
