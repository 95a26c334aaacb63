// Sending what was composed exactly once, however often the button is pressed and whether or not the
// answer to an earlier attempt arrived.

import type { Message } from '../api/messages.ts'
import type { Answer, Api } from './api.ts'

export type Draft = {
  readonly to: string
  readonly text: string
  /** Null for the first available line. */
  readonly lineId: string | null
  /** Ids of uploads, in the order in which they are sent, before the text. */
  readonly attachments?: readonly string[] | undefined
  /** Set for a group, which has no recipient to name. */
  readonly groupId?: string | undefined
  /** Null or left out for now. */
  readonly sendAt?: string | null | undefined
  /** The service to send by; the device chooses where it is left out. */
  readonly service?: Message['service_requested']
  /** Further ones of the request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Of 32 bits each. */
const KEY_NUMBERS = 4

/**
 * A function that hands drafts to the relay. The same draft again, before there is an answer or after a
 * failure, is the same send for the relay; after a success it is a new one.
 */
export function createOutbox(api: Pick<Api, 'call'>): (draft: Draft) => Promise<Answer<Message>> {
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
  api: Pick<Api, 'call'>,
  draft: Draft,
  key: string,
): Promise<Answer<Message>> {
  const headers = { 'idempotency-key': key, prefer: 'respond-async', ...draft.headers }
  const { to, lineId, groupId, service } = draft
  const content = contentOf(draft)
  if (groupId !== undefined) {
    return api.call('sendInConversation', { params: { id: groupId }, body: content, headers })
  }
  const body = { to, ...content, phone_line_id: lineId, ...(service && { service }) }
  return api.call('sendMessage', { body, headers })
}

/** Text and files; a text without a word is left out where there are files. */
function contentOf({ text, attachments = [], sendAt }: Draft) {
  const later = sendAt ? { send_at: sendAt } : {}
  if (attachments.length === 0) return { text, ...later }
  const files = { attachments: attachments.map((id) => ({ id })), ...later }
  return text.trim() === '' ? files : { text, ...files }
}

/**
 * The message once more, without the parts that are known to have arrived. A part that may have been sent
 * is never part of a failed message.
 */
export function draftOf(message: Message): Draft {
  const { handle, text, phone_line_id, conversation_id, service_requested } = message
  const unsent = (message.attachments ?? []).filter(({ sent }) => sent !== true)
  return {
    to: handle,
    text,
    lineId: phone_line_id,
    ...(unsent.length > 0 && { attachments: unsent.map(({ id }) => id) }),
    ...(message.conversation_type === 'group' && { groupId: conversation_id }),
    ...(service_requested && { service: service_requested }),
  }
}

/**
 * Sends a message that failed once more, by SMS if that is asked for: once, however many pages are open. Gives the
 * new message as it is now, because a repetition gets the answer of the first time.
 */
export async function sendAgain(
  api: Pick<Api, 'call'>,
  message: Message,
  service?: 'SMS',
): Promise<Answer<Message>> {
  const draft = { ...draftOf(message), ...(service && { service }) }
  const answer = await sendOnce(api, draft, `${service ?? 'again'}-${message.id}`)
  if (!answer.ok) return answer
  const now = await api.call('getMessage', { params: { id: answer.value.id } })
  return now.ok ? now : answer
}

function randomKey(): string {
  return `dashboard-${crypto.getRandomValues(new Uint32Array(KEY_NUMBERS)).join('-')}`
}

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** A number or an address as it can be read before the library for numbers is loaded. */
export function tidyHandle(typed: string): string {
  const text = typed
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
  if (text.includes('@')) return text.toLowerCase()
  return text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+')
}

/** True for a tidy handle that is complete enough to ask the relay about. */
export function isWhole(handle: string): boolean {
  return E164.test(handle) || EMAIL.test(handle)
}
