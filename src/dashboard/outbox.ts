// Sends what somebody composed, once: however often the button is pressed, and whether or not the
// answer to an earlier try arrived.

import type { Api } from './api.ts'
import type { Answer } from './request.ts'
import type { Message } from './resources.ts'

export type Draft = {
  readonly to: string
  readonly text: string
  /** Null for the first line that is ready. */
  readonly lineId: string | null
}

/** Of 32 bits each. */
const KEY_NUMBERS = 4

/**
 * Gives what hands a draft to the relay, which answers as soon as it has it written down. The same draft
 * again, before there is an answer or after a failure, is the same send for the relay; after a success
 * it is a new one.
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

/** Sends under a key of the caller's own: what has the same key is sent once. */
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
