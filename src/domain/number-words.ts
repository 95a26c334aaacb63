import { DAY_MS, MINUTE_MS, SECOND_MS } from './time.ts'

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

const MINUTES_OF_HOUR = 60

/** "20 seconds", "4 minutes", "3 hours 20 minutes", "2 days". */
export function durationWords(ms: number): string {
  if (ms < MINUTE_MS) return countWords(Math.max(1, Math.round(ms / SECOND_MS)), 'second')
  if (ms >= 2 * DAY_MS) return countWords(Math.round(ms / DAY_MS), 'day')
  const all = Math.round(ms / MINUTE_MS)
  const [hours, minutes] = [Math.floor(all / MINUTES_OF_HOUR), all % MINUTES_OF_HOUR]
  return [
    ...(hours > 0 ? [countWords(hours, 'hour')] : []),
    ...(minutes > 0 ? [countWords(minutes, 'minute')] : []),
  ].join(' ')
}

/** "2 failed", "2 failed and 1 expired", "2 failed, 1 expired and 1 became uncertain". */
export function listWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}
