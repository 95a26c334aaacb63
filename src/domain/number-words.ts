/** "7,180": how texts of the relay write a number. They are all in English. */
export function grouped(value: number): string {
  return value.toLocaleString('en')
}

/** "1 event", "30,020 events", "2 deliveries"; `write` is how the number is written. */
export function countWords(count: number, noun: string, write = grouped): string {
  return `${write(count)} ${count === 1 ? noun : pluralOf(noun)}`
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return noun.endsWith('x') ? `${noun}es` : `${noun}s`
}
