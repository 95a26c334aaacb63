// Finds what a person meant by a word with a typing mistake.

/** Nobody mistypes a longer word, and each comparison takes the product of both lengths. */
const LENGTH_MAX = 100

/** The word of `known` that is nearest to `written`; null if none is within `most` mistakes. */
export function nearest(
  written: string,
  known: Iterable<string>,
  most = Math.max(1, Math.floor(written.length / 3)),
): string | null {
  if (written.length > LENGTH_MAX) return null
  let best: { readonly word: string; readonly distance: number } | null = null
  for (const word of known) {
    const distance = distanceOf(written, word)
    if (distance < (best?.distance ?? Infinity)) best = { word, distance }
  }
  return best !== null && best.distance <= most ? best.word : null
}

/** The number of letters to change, drop, add or swap with their neighbor. */
function distanceOf(from: string, to: string): number {
  let [beforeLast, last]: [number[], number[]] = [
    [],
    Array.from({ length: to.length + 1 }, (_, i) => i),
  ]
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const changed = (last[j - 1] ?? 0) + (isSame ? 0 : 1)
      const swapped = isSwapped ? (beforeLast[j - 2] ?? 0) + 1 : Infinity
      row.push(Math.min(changed, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[to.length] ?? 0
}
