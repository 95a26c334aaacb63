/** One line of the table: what was measured, against what, and the floor it must hold. */
export type Figure = {
  readonly id: string
  readonly what: string
  readonly measured: string
  readonly yardstick: string
  /** Compared with `floor`: at least it, or at most if `isCeiling`. */
  readonly value: number
  readonly floor: number
  readonly isCeiling: boolean
}

export function atLeast(figure: Omit<Figure, 'isCeiling'>): Figure {
  return { ...figure, isCeiling: false }
}

export function atMost(figure: Omit<Figure, 'isCeiling'>): Figure {
  return { ...figure, isCeiling: true }
}

export function holds({ value, floor, isCeiling }: Figure): boolean {
  return isCeiling ? value <= floor : value >= floor
}

/** `at least 0.06`. */
export function bound({ floor, isCeiling }: Figure): string {
  return `${isCeiling ? 'at most' : 'at least'} ${floor}`
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

/** `12.3 k/s`. */
export function rate(perSecond: number): string {
  return perSecond >= 1_000 ? `${(perSecond / 1_000).toFixed(1)} k/s` : `${perSecond.toFixed(0)}/s`
}
