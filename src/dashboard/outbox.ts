// Sending what was composed exactly once, however often the button is pressed and whether or not the
// answer to an earlier attempt arrived.

import type { Answer, Api } from './api.ts'
import type { Message } from './resources.ts'

export type Draft = {
  readonly to: string
  readonly text: string
  /** Null for the first available line. */
  readonly lineId: string | null
}

/** Of 32 bits each. */
const KEY_NUMBERS = 4

/**
 * A function that hands drafts to the relay. The same draft again, before there is an answer or after a
 * failure, is the same send for the relay; after a success it is a new one.
 */
export function createOutbox(api: Pick<Api, 'post'>): (draft: Draft) => Promise<Answer<Message>> {
  let last = ''
  let key = ''
  return async (draft) => {
    const content = JSON.stringify(draft)
    if (content !== last) key = randomKey()
    last = content
    const answer = await sendOnce(api, draft, key)
    if (answer.ok) last = ''
    return answer
  }
}

/** Sends with an idempotency key of the caller: drafts with the same key are sent once. */
export function sendOnce(
  api: Pick<Api, 'post'>,
  { to, text, lineId }: Draft,
  key: string,
): Promise<Answer<Message>> {
  const body = { to, text, phone_line_id: lineId }
  const headers = { 'idempotency-key': key, prefer: 'respond-async' }
  return api.post<Message>('messages/send', body, { headers })
}

function randomKey(): string {
  return `dashboard-${crypto.getRandomValues(new Uint32Array(KEY_NUMBERS)).join('-')}`
}

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** A typed number without blanks and dashes, or an address in lower case, as the relay takes them. */
export function tidyHandle(typed: string): string {
  const text = typed.trim()
  if (text.includes('@')) return text.toLowerCase()
  return text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+')
}

/** True for a tidy handle that is complete enough to ask the relay about. */
export function isWhole(handle: string): boolean {
  return E164.test(handle) || EMAIL.test(handle)
}
