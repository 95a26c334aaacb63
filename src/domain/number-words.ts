import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts'

/** "7,180": a whole number in the relay's texts, which are all in English. */
export function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** "1 event", "30,020 events", "2 deliveries"; `write` formats the number. */
export function countWords(count: number, noun: string, write = grouped): string {
  return `${write(count)} ${count === 1 ? noun : pluralOf(noun)}`
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return noun.endsWith('x') ? `${noun}es` : `${noun}s`
}

const UNITS = [
  ['day', DAY_MS, 48 * HOUR_MS],
  ['hour', HOUR_MS, 120 * MINUTE_MS],
  ['minute', MINUTE_MS, 60 * SECOND_MS],
] as const

/** "1 second", "4 minutes", "3 hours", "2 days": rounded to a whole number, and at least a second. */
export function durationWords(ms: number): string {
  const [unit, size] = UNITS.find(([, , from]) => ms >= from) ?? ['second', SECOND_MS]
  return countWords(Math.max(1, Math.round(ms / size)), unit)
}
