// Whether the text that somebody was asked to send has come.

import type { Message, PhoneLine } from '../resources.ts'

export type TestOutcome =
  | { readonly outcome: 'waiting' }
  /** It came from the line's own number: reading works, and no more is shown by it. */
  | { readonly outcome: 'own' }
  | { readonly outcome: 'arrived'; readonly message: Message }

/** `code` is in the text, and in no other. `messages` are those of the line. */
export function testOutcome(
  messages: readonly Message[],
  line: PhoneLine,
  code: string,
): TestOutcome {
  const told = messages.filter(({ text }) => text.includes(code))
  const message = told.find((one) => one.direction === 'inbound' && !isOwn(one, line))
  if (message !== undefined) return { outcome: 'arrived', message }
  return { outcome: told.some((one) => isOwn(one, line)) ? 'own' : 'waiting' }
}

/** Typed on the device itself, or on another one of the same account, which writes to itself. */
function isOwn({ source, direction, handle }: Message, { phone_number }: PhoneLine): boolean {
  if (direction === 'inbound') return handle === phone_number
  return source === 'device'
}
