export type Random = {
  /** Unpredictable bytes. */
  bytes(length: number): Uint8Array
  /** A number in [0, 1), for jitter; not for secrets. */
  chance(): number
}

export const systemRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  chance: () => Math.random(),
}

/** Chance that is the same in each run: all of it follows from the seed, or from an earlier `state`. */
export function seededRandom(seed: number): Random & { state(): number } {
  let state = seed
  // The generator mulberry32.
  const chance = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(chance() * 256)),
    chance,
    state: () => state,
  }
}
