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
