// Chance that a failing test can repeat: all of it follows from the seed.

export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A number in [0, 1). */
  chance(): number {
    // The generator mulberry32: 32 bits of state are enough for test data.
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from 0 up to `limit`, which is left out. */
  below(limit: number): number {
    return Math.floor(this.chance() * limit)
  }

  /** One of `all`, which has one at least. */
  of<T>(all: readonly T[]): T {
    const found = all[this.below(all.length)]
    if (found === undefined) throw new Error('There is nothing to choose from.')
    return found
  }

  /** Well-formed Unicode of so many bytes in UTF-8. */
  text(byteCount: number): string {
    let text = ''
    for (let left = byteCount; left > 0;) {
      const width = 1 + this.below(Math.min(left, WIDTHS.length))
      const [first, last] = WIDTHS[width - 1] ?? [0, 0]
      text += String.fromCodePoint(first + this.below(last - first + 1))
      left -= width
    }
    return text
  }
}

/** Code points by how many bytes they take; the surrogates lie between the last of three and four. */
const WIDTHS: readonly (readonly [first: number, last: number])[] = [
  [0x0, 0x7f],
  [0x80, 0x7ff],
  [0xe000, 0xffff],
  [0x1_0000, 0x10_ffff],
]
