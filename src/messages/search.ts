import type { SearchResult } from '../api/contacts.ts'
import type { LineLimit } from '../domain/routing.ts'
import { excerptOf } from '../domain/search-text.ts'
import { contactResource } from '../people/resource.ts'
import { conversationsWithSeqs } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import { messagesWithSeqs } from '../storage/message-lists.ts'
import { bestPeople, parseQuery, searchConversations, searchMessages } from '../storage/search.ts'
import {
  contactFields,
  conversationResource,
  messageResource,
  type WaitReason,
} from './resource.ts'

/** Reading of messages ends after this time: no send waits longer. */
const TIME_MS = 40

/** People, conversations and messages for one query, at most `limit` of each. */
export function search(
  { db, clock }: Core,
  waitReason: WaitReason,
  q: string,
  { limit, lines }: { readonly limit: number; readonly lines: LineLimit },
): SearchResult {
  const until = clock.monotonic() + TIME_MS
  const isTimeUp = () => clock.monotonic() > until
  const query = parseQuery(q)
  const persons = bestPeople(db, query, { limit, lines })
  const conversations = searchConversations(db, query, { limit, lines, persons })
  const { seqs, isComplete } = searchMessages(db, query, { limit, lines, isTimeUp })
  return {
    people: persons.map(contactResource),
    conversations: conversationsWithSeqs(db, conversations).map((found) =>
      conversationResource(db, found, waitReason),
    ),
    messages: messagesWithSeqs(db, seqs).map((found) => ({
      message: messageResource(db, found, waitReason),
      excerpt: excerptOf(found.text, query.words),
      conversation_id: found.conversationId,
      ...(found.isGroup ? {} : contactFields(db, found.handle)),
    })),
    is_complete: isComplete,
  }
}
