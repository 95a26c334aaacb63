// The number that this Mac sends as. Messages does not tell it; its rows do, each the address of ours
// that it was sent from or came to.

const E164 = /^\+[1-9][0-9]{6,14}$/
/** So much of the last messages must stand on one number before it is taken for the line's own. */
const SHARE_MIN = 2 / 3

/** The number that most of the last messages stand on; null where that is not clear. */
export function ownNumber(aliases: ReadonlyMap<string, number>): string | null {
  const numbers = numbersOf(aliases)
  const total = numbers.reduce((sum, [, count]) => sum + count, 0)
  const [first] = numbers
  return first !== undefined && first[1] >= total * SHARE_MIN ? first[0] : null
}

/** The phone numbers among our addresses, the one that is used most first. */
export function numbersOf(
  aliases: ReadonlyMap<string, number>,
): readonly (readonly [number: string, count: number])[] {
  return [...aliases].filter(([alias]) => E164.test(alias)).sort((a, b) => b[1] - a[1])
}
