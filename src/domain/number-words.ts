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
