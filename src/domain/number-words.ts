/** "7,180": how every text for people writes a number. They are all in English. */
export function grouped(value: number): string {
  return value.toLocaleString('en')
}
