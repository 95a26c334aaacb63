// The search of the manual, which runs in the browser over an index of all sections.

import { folded, wordsOf } from './search-text.ts'

/** A part of a guide below one heading, or an operation of the API. */
export type Section = {
  readonly href: string
  /** The guide's title. */
  readonly place: string
  /** Empty for the text before the first heading. */
  readonly heading: string
  readonly text: string
}

const FOUND_MAX = 12
/** The weights of a word in the heading, the place, and the text. */
const WEIGHTS = [12, 5, 1] as const
const WEIGHT_AT_START_OF_WORD = 2

/** Makes a search for sections with all words of a query, the best first. */
export function sectionFinder(sections: readonly Section[]): (query: string) => readonly Section[] {
  const known = sections.map((section) => {
    const { heading, place, text } = section
    return { section, texts: [heading, place, text].map(folded) }
  })
  return (query) => {
    const words = wordsOf(query)
    return known
      .map(({ section, texts }) => ({ section, scores: words.map((word) => scoreOf(texts, word)) }))
      .filter(({ scores }) => scores.length > 0 && !scores.includes(0))
      .map(({ section, scores }) => ({ section, score: scores.reduce((sum, one) => sum + one) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, FOUND_MAX)
      .map(({ section }) => section)
  }
}

function scoreOf(texts: readonly string[], word: string): number {
  return texts.reduce((sum, text, place) => {
    const at = text.indexOf(word)
    if (at === -1) return sum
    const isStart = !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))
    return sum + (WEIGHTS[place] ?? 0) * (isStart ? WEIGHT_AT_START_OF_WORD : 1)
  }, 0)
}
