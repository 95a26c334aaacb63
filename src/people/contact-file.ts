// Reads contact files, vCard or CSV, as cards. A card that can't be read is reported with its reason and never
// affects the next one.

import type { ContactFile } from './card.ts'
import { csvCards } from './csv.ts'
import { vcardCards } from './vcard.ts'

const BYTE_ORDER_MARKS = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const

/** Decodes UTF-8, UTF-16 with a byte order mark, or else Windows-1252. */
export function decodeContacts(bytes: Uint8Array): string {
  const marked = BYTE_ORDER_MARKS.find((mark) => mark.bytes.every((byte, i) => bytes[i] === byte))
  if (marked !== undefined) return new TextDecoder(marked.encoding).decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

export function readContacts(text: string): ContactFile {
  if (/^[ \t\uFEFF]*BEGIN:VCARD[ \t\r]*$/im.test(text.slice(0, 10_000))) {
    return { head: '', cards: vcardCards(text) }
  }
  return csvCards(text)
}
