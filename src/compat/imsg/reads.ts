// Requests that read: chats, history, states.

import type { Message } from '../../api/messages.ts'
import { timestamp } from '../../domain/ids.ts'
import { DAY_MS } from '../../domain/time.ts'
import { isoTime, isoTimeOrNull } from '../../system/iso-time.ts'
import { chatOf, collected, entriesOf, statusOf, type Chat } from '../chats.ts'
import { messageNumber, timeIn } from '../numbers.ts'
import { chatView, chatWithNumber } from './chats.ts'
import { invalidParams } from './errors.ts'
import {
  flagParam,
  numberParam,
  requiredText,
  textParam,
  textsParam,
  type Params,
} from './params.ts'
import type { ImsgRelay } from './relay.ts'
import { messageView, type FileAt } from './views.ts'

export type Reading = {
  readonly relay: ImsgRelay
  readonly fileAt: FileAt
  readonly now: () => number
}

const PAGE_MAX = { min: 1, max: 1_000 }

export async function listChats({ relay }: Reading, params: Params): Promise<object> {
  const limit = numberParam(params, 'limit', PAGE_MAX) ?? 20
  const unread = flagParam(params, 'unread_only', 'unreadOnly') ? 'true' : undefined
  const found = await collected(limit, (page) =>
    relay.ask('listConversations', { query: { type: 'all', unread, ...page } }),
  )
  return { chats: found.map(chatView) }
}

export async function getChat({ relay }: Reading, params: Params): Promise<object> {
  return chatView(await chatWithNumber(relay, params))
}

export async function history(reading: Reading, params: Params): Promise<object> {
  const { relay, fileAt } = reading
  const chat = chatOf(await chatWithNumber(relay, params))
  const limit = numberParam(params, 'limit', PAGE_MAX) ?? 50
  const senders = textsParam(params, 'participants')
  const choice = {
    conversation_id: chat.conversationId,
    created_after: isoTimeOrNull(timeParam(params, 'start', -1)) ?? undefined,
    created_before: isoTimeOrNull(timeParam(params, 'end', 0)) ?? undefined,
  }
  const found = await collected(limit, (page) =>
    relay.ask('listMessages', { query: { ...choice, ...page } }),
  )
  const wanted = found.filter(
    (message) => senders?.includes(message.sender?.handle ?? message.handle) ?? true,
  )
  const files = flagParam(params, 'attachments') ? fileAt : null
  return { messages: await Promise.all(wanted.map((each) => messageView(each, chat, files))) }
}

export async function search({ relay }: Reading, params: Params): Promise<object> {
  const query = requiredText(params, 'query')
  const limit = numberParam(params, 'limit', PAGE_MAX) ?? 50
  const { messages } = await relay.ask('search', { query: { q: query, limit: '50' } })
  const views = messages.slice(0, limit).map(async ({ message, conversation_id: id }) => {
    return messageView(message, await chatWithId(relay, id), null)
  })
  return { messages: await Promise.all(views) }
}

/** Columns of a message that waits in Send Later, as in the Messages database. */
const SEND_LATER = { schedule_type: 2, schedule_state: 1 }

/** Messages that wait for their `send_at`, the next one first. */
export async function scheduled({ relay }: Reading, params: Params): Promise<object> {
  const limit = numberParam(params, 'limit', PAGE_MAX) ?? 50
  const choice = { type: 'all', queued_reason: 'scheduled' } as const
  const found: Message[] = []
  const waiting = entriesOf((page) => relay.ask('listMessages', { query: { ...choice, ...page } }))
  for await (const message of waiting) found.push(message)
  const at = ({ send_at: time, created_at: otherwise }: Message) => timeIn(time ?? otherwise)
  const next = found.sort((a, b) => at(a) - at(b)).slice(0, limit)
  const views = next.map(async (message) => {
    const chat = await chatWithId(relay, message.conversation_id)
    return {
      id: messageNumber(message),
      guid: message.id,
      chat_id: chat.number,
      chat_identifier: chat.identifier,
      chat_guid: chat.guid,
      chat_name: chat.name,
      text: message.text,
      service: message.service,
      scheduled_at: message.send_at,
      ...SEND_LATER,
    }
  })
  return { messages: await Promise.all(views) }
}

/** The states of imsg. A message that may have arrived is neither sent nor failed. */
const STATES: Readonly<Record<string, string>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  failed: 'failed',
  expired: 'failed',
}

export function sendState(message: Pick<Message, 'status' | 'error'>): string {
  return STATES[statusOf(message)] ?? 'pending'
}

export async function sendStatus({ relay, now }: Reading, params: Params): Promise<object> {
  const guid = requiredText(params, 'guid')
  if (!guid.startsWith('msg_')) {
    throw invalidParams('guid must be one that a send answered; send.tracked answers a repeat')
  }
  const message = await relay.ask('getMessage', { params: { id: guid } })
  const { status, service, delivered_at: delivered, read_at: read } = message
  const state = sendState(message)
  return {
    ok: true,
    guid,
    send_state: state,
    service,
    checked_at: isoTime(timestamp(now())),
    ...(delivered !== null && { delivered_at: delivered }),
    status_fields: {
      is_sent: state === 'sent' || state === 'delivered',
      is_delivered: state === 'delivered',
      is_finished: state !== 'pending',
      error: state === 'failed' ? 1 : 0,
      date_delivered: delivered,
      date_read: read,
      is_delayed: status === 'queued',
      is_prepared: false,
      is_pending_satellite_send: false,
      was_downgraded: message.downgraded_at !== undefined,
      // Fields that imsg itself doesn't have.
      status,
      queued_reason: message.queued_reason,
      detail: message.error?.message ?? null,
    },
  }
}

export async function chatWithId(relay: ImsgRelay, id: string): Promise<Chat> {
  return chatOf(await relay.ask('getConversation', { params: { id } }))
}

/** A time parameter, moved by `moveMs`, because the relay's bounds are exclusive. */
function timeParam(params: Params, name: string, moveMs: number) {
  const text = textParam(params, name)
  if (text === undefined) return null
  const at = timeIn(text)
  if (at < DAY_MS) throw invalidParams(`${name} must be an ISO 8601 time with its zone`)
  return timestamp(at + moveMs)
}
