// The two long lists: all conversations, and the messages of one.

import { withQuery } from './address.ts'
import type { Api } from './api.ts'
import type { FeedSource } from './feed.ts'
import type { Answer } from './request.ts'
import type { Conversation, Message } from './resources.ts'

const CONVERSATIONS_MAX = 20_000
/** Of one conversation, in the page. */
export const MESSAGES_MAX = 2_000

/** All conversations, or those of one line. */
export function conversationSource(api: Api, lineId: string | null): FeedSource<Conversation> {
  return {
    page: (cursor, limit, signal) =>
      api.get(withQuery('conversations', { phone_line_id: lineId, cursor, limit }), signal),
    one: async (id, signal) => listed(await api.get(`conversations/${id}`, signal)),
    concerned: ({ what, id, conversation_id = null }) =>
      what === 'conversation' ? id : conversation_id,
    rises: (fresh, old) => fresh.updated_at > old.updated_at,
    countMax: CONVERSATIONS_MAX,
  }
}

/** One that another line took over is listed under its new id only. */
function listed(answer: Answer<Conversation>): Answer<Conversation> {
  return answer.ok && answer.value.moved_to !== undefined ? MOVED : answer
}

const MOVED: Answer<Conversation> = {
  ok: false,
  failure: { code: 'not_found', message: '', status: 404, details: {}, retryAfterSeconds: null },
}

export function messageSource(api: Api, conversationId: string): FeedSource<Message> {
  return {
    page: (cursor, limit, signal) =>
      api.get(withQuery('messages', { conversation_id: conversationId, cursor, limit }), signal),
    one: (id, signal) => api.get(`messages/${id}`, signal),
    concerned: ({ id, conversation_id }) => (conversation_id === conversationId ? id : null),
    rises: () => false,
    countMax: MESSAGES_MAX,
  }
}
