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

const KEY_BYTES = 16

export class Outbox {
  readonly #api: Pick<Api, 'post'>
  #last: { readonly draft: Draft; readonly key: string } | null = null
  #isSending = false

  constructor(api: Pick<Api, 'post'>) {
    this.#api = api
  }

  /**
   * Hands the draft to the relay, which answers as soon as it has it written down. Null while a send is
   * under way. The same draft again after a failure is the same send for the relay; after a success it
   * is a new one.
   */
  async send(draft: Draft): Promise<Answer<Message> | null> {
    if (this.#isSending) return null
    this.#isSending = true
    const key = this.#keyOf(draft)
    this.#last = { draft, key }
    const answer = await sendOnce(this.#api, draft, key)
    if (answer.ok) this.#last = null
    this.#isSending = false
    return answer
  }

  #keyOf({ to, text, lineId }: Draft): string {
    const last = this.#last
    const isSame =
      last !== null &&
      last.draft.to === to &&
      last.draft.text === text &&
      last.draft.lineId === lineId
    return isSame ? last.key : `dashboard-${randomHex()}`
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

function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
