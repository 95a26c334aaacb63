// Texts as they are compared: Messages writes numbers with marks of direction and no-break spaces, and a
// label has passed through the accessibility of iOS.

/** Marks of direction, which iOS puts around numbers. */
const MARKS = /[\u200E\u200F\u202A-\u202E\u2066-\u2069]/
const ALL_MARKS = new RegExp(MARKS, 'g')
const CONTROLS = /(?!\n)\p{Cc}/u

/** A text for comparing: composed, white space as single spaces, without marks of direction. */
export function comparable(text: string): string {
  return text.normalize('NFC').replaceAll(ALL_MARKS, '').replaceAll(/\s+/g, ' ').trim()
}

/** The same with its lines kept: what a composer must hold before it is sent. */
export function comparableLines(text: string): string {
  const lines = withPlainLines(text.normalize('NFC').replaceAll(ALL_MARKS, '')).split('\n')
  return lines.map(comparable).join('\n').trim()
}

/** A text with its lines ended by LF, as it is typed. */
export function withPlainLines(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

/** Whether a keyboard cannot type it: control characters other than the end of a line. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text)
}

/**
 * Where `text` goes on after `prefix`, or -1 where it does not begin so. Marks of direction do not count,
 * and every white space is the same.
 */
export function endOfPrefix(text: string, prefix: string): number {
  const wanted = comparable(prefix)
  let at = 0
  for (const character of wanted) {
    while (MARKS.test(text.charAt(at))) at += 1
    const here = String.fromCodePoint(text.codePointAt(at) ?? 0)
    const isSame = here === character || (character === ' ' && /\s/.test(here))
    if (!isSame) return -1
    at += here.length
  }
  return at
}
