// Text as searches compare it: without case and accents and in usual letters, so that "muller" finds "Müller" and
// "soren" finds "Søren".

/** A shorter word has no trigram, so it finds only names and numbers that begin with it. */
export const WORD_LENGTH_MIN = 3

const ASCII = /^[\0-\u007F]*$/
const MARKS = /\p{M}+/gu

/**
 * Unusual letters (without a separable accent), apostrophes and dashes, and what replaces them. The index's
 * triggers replace them too, so a new one needs a migration such as 0004.
 */
export const USUAL: ReadonlyMap<string, string> = new Map([
  ...written('øØǿǾ', 'o'),
  ...written('æÆǽǼ', 'ae'),
  ...written('œŒ', 'oe'),
  ...written('ßẞ', 'ss'),
  ...written('þÞ', 'th'),
  ...written('łŁ', 'l'),
  ...written('đĐðÐ', 'd'),
  ...written('ħĦ', 'h'),
  ...written('ŧŦ', 't'),
  ...written('ŋŊ', 'n'),
  ...written('ı', 'i'),
  ...written('‘’‛ʼʹʻ′`´＇', "'"),
  ...written('‐‑‒–—―−', '-'),
])
const UNUSUAL = new RegExp(`[${[...USUAL.keys()].join('')}]`, 'g')

function written(letters: string, usual: string): (readonly [letter: string, usual: string])[] {
  return Array.from(letters, (letter) => [letter, usual])
}

/** The text without case and accents, in usual letters; a Korean syllable stays one character. */
export function folded(text: string): string {
  const plain = text.replaceAll(UNUSUAL, (letter) => USUAL.get(letter) ?? letter)
  if (ASCII.test(plain)) return plain.toLowerCase()
  return plain.normalize('NFD').replaceAll(MARKS, '').normalize('NFC').toLowerCase()
}

/** The words of a query, each once. */
export function wordsOf(query: string): readonly string[] {
  return [...new Set(folded(query).split(/[\s\0]+/))].filter((word) => word !== '')
}

/** The digits of a query that looks like a phone number or a part of one; null for other queries. */
export function digitsIn(query: string): string | null {
  if (!/^\+?[\d\s()./-]+$/.test(query)) return null
  const digits = query.replaceAll(/\D/g, '')
  // "0170…" and "0049…" are stored without the leading zeros.
  return digits === '' ? null : digits.replace(/^0+(?=.)/, '')
}

/** A match in a text, in code points. */
export type Range = { readonly offset: number; readonly length: number }

export type Excerpt = { readonly text: string; readonly ranges: readonly Range[] }

const EXCERPT_LENGTH = 160
/** Characters shown before the first match. */
const LEAD_LENGTH = 40

/** The part of a text around the first match of `words`, with all matches in that part. */
export function excerptOf(text: string, words: readonly string[]): Excerpt {
  const points = Array.from(text)
  const all = rangesIn(points, words)
  const first = all[0]?.offset ?? 0
  const isShort = points.length <= EXCERPT_LENGTH
  const from = isShort
    ? 0
    : Math.max(0, Math.min(first - LEAD_LENGTH, points.length - EXCERPT_LENGTH))
  const to = Math.min(points.length, from + EXCERPT_LENGTH)
  const ranges = all
    .filter(({ offset }) => offset >= from && offset < to)
    .map(({ offset, length }) => {
      return { offset: offset - from, length: Math.min(length, to - offset) }
    })
  return { text: points.slice(from, to).join(''), ranges }
}

/** All matches of `words` in order; overlapping ones are joined. */
function rangesIn(points: readonly string[], words: readonly string[]): readonly Range[] {
  const { text, places } = foldedPoints(points)
  const found = words
    .flatMap((word) => occurrences(text, word))
    .map(({ from, to }) => ({ from: places[from] ?? 0, to: (places[to - 1] ?? 0) + 1 }))
    .toSorted((a, b) => a.from - b.from)
  const joined: { from: number; to: number }[] = []
  for (const { from, to } of found) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined.map(({ from, to }) => ({ offset: from, length: to - from }))
}

/** The folded text, and the index of the code point from which each of its units comes. */
function foldedPoints(points: readonly string[]): {
  readonly text: string
  readonly places: readonly number[]
} {
  const places: number[] = []
  const parts = points.map((point, place) => {
    const part = folded(point)
    for (let unit = 0; unit < part.length; unit += 1) places.push(place)
    return part
  })
  return { text: parts.join(''), places }
}

function occurrences(text: string, word: string): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    found.push({ from: at, to: at + word.length })
  }
  return found
}
