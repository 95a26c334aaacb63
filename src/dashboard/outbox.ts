// Sends a composed message exactly once, however often the button is pressed and even if an earlier answer was
// lost.

import type { Message } from '../api/messages.ts'
import type { Answer, Api } from './api.ts'

/** The error code of a message to a person who wants none. */
export const OPTED_OUT = 'recipient_opted_out'

export type Draft = {
  readonly to: string
  readonly text: string
  /** Null for the first available line. */
  readonly lineId: string | null
  /** Ids of uploads, in the order in which they are sent, before the text. */
  readonly attachments?: readonly string[] | undefined
  /** The conversation id of a group, which has no single recipient. */
  readonly groupId?: string | undefined
  /** ISO 8601; null or left out to send now. */
  readonly sendAt?: string | null | undefined
  /** If left out, the device chooses. */
  readonly service?: Message['service_requested']
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns a function that sends drafts. Until a send succeeds, the same draft again has the same idempotency key, so
 * the relay sends it once; after a success it is a new message.
 */
export function createOutbox(api: Pick<Api, 'call'>): (draft: Draft) => Promise<Answer<Message>> {
  let last = ''
  let key = ''
  return async (draft) => {
    const content = JSON.stringify(draft)
    if (content !== last) key = `dashboard-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
    last = content
    const answer = await sendOnce(api, draft, key)
    if (answer.ok) last = ''
    return answer
  }
}

/** The relay sends drafts with the same idempotency `key` once. */
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

/** An empty text is left out if there are files. */
function contentOf({ text, attachments = [], sendAt }: Draft) {
  const later = sendAt ? { send_at: sendAt } : {}
  if (attachments.length === 0) return { text, ...later }
  const files = { attachments: attachments.map((id) => ({ id })), ...later }
  return text.trim() === '' ? files : { text, ...files }
}

/**
 * The message to send again, without the parts that were sent. A failed message never has a part that may have been
 * sent.
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
 * Sends a failed message again, only once even if several pages try. Reads the new message afterwards, because the
 * answer to a repeated send is the first one.
 */
export async function sendAgain(
  api: Pick<Api, 'call'>,
  message: Message,
  service?: 'SMS',
): Promise<Answer<Message>> {
  const headers = { 'x-hookline-resends': message.id }
  const draft = { ...draftOf(message), headers, ...(service && { service }) }
  const answer = await sendOnce(api, draft, `${service ?? 'again'}-${message.id}`)
  if (!answer.ok) return answer
  const now = await api.call('getMessage', { params: { id: answer.value.id } })
  return now.ok ? now : answer
}

const E164 = /^\+[1-9][0-9]{6,14}$/
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** Normalizes a handle without the phone number library. */
export function tidyHandle(typed: string): string {
  const text = typed
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
  if (text.includes('@')) return text.toLowerCase()
  return text.replaceAll(/[\s().\-/]/g, '').replace(/^00/, '+')
}

/** Returns whether a tidy handle is complete enough to ask the relay about. */
export function isWhole(handle: string): boolean {
  return E164.test(handle) || EMAIL.test(handle)
}
