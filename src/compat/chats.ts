// Chats as Apple's Messages names them: by guids such as `any;-;+12025550147`, or `iMessage;+;chat…` for a group.

import type { Conversation, Message } from '../api/messages.ts'
import type { SentEvent } from './compat-api.ts'
import { chatNumber } from './numbers.ts'

export type Chat = {
  readonly conversationId: string
  readonly number: number
  readonly identifier: string
  readonly guid: string
  readonly name: string
  readonly participants: readonly string[]
  readonly isGroup: boolean
  readonly contactName: string | undefined
}

const DIRECT_GUID = /^(?:iMessage|SMS|RCS|any);-;(.+)$/i

/** The person that the guid of a direct chat, a number or an address names; undefined if it names none. */
export function personNamed(name: string): string | undefined {
  const isPerson = name.startsWith('+') || name.includes('@')
  return DIRECT_GUID.exec(name)?.[1] ?? (isPerson ? name : undefined)
}

/** The guid of a direct chat, without the service, which may change. Messages of macOS 26 does the same. */
export function directGuid(handle: string): string {
  return `any;-;${handle}`
}

export function chatOf(conversation: Conversation): Chat {
  const { chat_identifier: identifier, handle, contact_name: contactName } = conversation
  const isGroup = conversation.type === 'group'
  const members = conversation.participants?.map((person) => person.handle) ?? []
  return {
    conversationId: conversation.id,
    number: chatNumber(conversation),
    identifier,
    guid: isGroup ? (conversation.chat_guid ?? identifier) : directGuid(handle),
    name: (isGroup ? conversation.name : contactName) ?? identifier,
    participants: isGroup ? members : [handle],
    isGroup,
    contactName,
  }
}

type PageOf<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }
type ReadPage<T> = (query: {
  readonly limit: string
  readonly cursor: string | undefined
}) => Promise<PageOf<T>>

const PAGE_MAX = 200

/** Iterates over a list of the API, reading it in pages of `size` entries, at most 200. */
export async function* entriesOf<T>(page: ReadPage<T>, size = PAGE_MAX): AsyncGenerator<T> {
  const limit = String(Math.min(size, PAGE_MAX))
  let cursor: string | undefined
  do {
    const { data, next_cursor: next } = await page({ limit, cursor })
    yield* data
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

/** The first `limit` entries of a list; of several entries with the same key only the first. */
export async function collected<T>(
  limit: number,
  page: ReadPage<T>,
  keyOf: (entry: T) => unknown = (entry) => entry,
): Promise<readonly T[]> {
  const found = new Map<unknown, T>()
  for await (const entry of entriesOf(page, limit)) {
    if (!found.has(keyOf(entry))) found.set(keyOf(entry), entry)
    if (found.size >= limit) break
  }
  return [...found.values()]
}

/** Reads conversations by latest message, because the wanted one is nearly always on the first page. */
export async function findChat(
  page: ReadPage<Conversation>,
  isIt: (conversation: Conversation) => boolean,
): Promise<Conversation | undefined> {
  for await (const conversation of entriesOf(page)) if (isIt(conversation)) return conversation
  return undefined
}

export function isGroupNamed(name: string) {
  return ({ type, chat_guid: guid, chat_identifier: identifier }: Conversation): boolean =>
    type === 'group' && (guid === name || identifier === name)
}

/** The fields of a message that events contain. */
export type ReportedMessage = Omit<
  Message,
  | 'guid'
  | 'platform_guid'
  | 'to'
  | 'from'
  | 'phone_line_id'
  | 'conversation_id'
  | 'source'
  | 'queued_reason'
> & { readonly conversation_id?: string }

/** Failures after which all or part of the message may have arrived. */
const DOUBTFUL = ['outcome_unknown', 'restored', 'partly_sent']

/** True if all or part of the message may have arrived although it wasn't a success. */
export function mayHaveArrived({ status, error }: Pick<Message, 'status' | 'error'>): boolean {
  return status === 'uncertain' || (status === 'failed' && DOUBTFUL.includes(error?.code ?? ''))
}

/**
 * The status as compatible APIs report it. Their clients resend failed messages, so a message that may have arrived is
 * reported as `uncertain` instead.
 */
export function statusOf(message: Pick<Message, 'status' | 'error'>): Message['status'] {
  return mayHaveArrived(message) ? 'uncertain' : message.status
}

/** The message of an event, with the event's status; null for an event without a message, such as a test. */
export function messageOf({ event, time, line }: SentEvent): ReportedMessage | null {
  if (!('message' in event) || event.message === null) return null
  const { isFromMe, attachments, replyTo, error = null, ...message } = event.message
  const group = 'conversation' in event ? event.conversation : undefined
  const status = event.event.split('.')[1] as Message['status'] // Events of messages are named so.
  return {
    ...message,
    direction: isFromMe ? 'outbound' : 'inbound',
    status: statusOf({ status, error }),
    error,
    phone_number: line ?? '',
    created_at: time,
    updated_at: time,
    sent_at: time,
    delivered_at: null,
    read_at: null,
    ...(attachments && { attachments }),
    ...(replyTo && { reply_to: replyTo }),
    ...(group && { conversation_type: 'group', conversation_id: group.id }),
  }
}
