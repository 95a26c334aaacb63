// Lists, reads, counts and searches messages and conversations for the API. Writes nothing.

import type { SearchResult } from '../api/contacts.ts'
import type * as api from '../api/messages.ts'
import { type PageRequest, decodeCursor, pageOf } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import { invalidRequest } from '../domain/errors.ts'
import { deviceHandle } from '../domain/handle.ts'
import { type Timestamp, timestamp } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import { excerptOf } from '../domain/search-text.ts'
import { DAY_MS } from '../domain/time.ts'
import { contactResource } from '../people/resource.ts'
import {
  conversationsWithSeqs,
  countUnread,
  getConversation,
  listConversations,
  type Conversation,
  type ConversationFilter,
} from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { handleAsked } from '../storage/handles.ts'
import { isInConversations } from '../storage/line-limits.ts'
import {
  countAttention,
  listChanges,
  listMessages,
  messagesAfter,
  messagesWithSeqs,
  type MessageFilter,
} from '../storage/message-lists.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import { optOutsOf, type OptOut } from '../storage/opt-outs.ts'
import { evidenceOf } from '../storage/recipients.ts'
import { bestPeople, parseQuery, searchConversations, searchMessages } from '../storage/search.ts'
import { isoTimeOrNull } from '../system/iso-time.ts'
import {
  contactFields,
  conversationResource,
  messageResource,
  type WaitReason,
} from './resource.ts'
import { checkedRecipient, requireConversation } from './send-target.ts'

export type ListFilter = MessageFilter & {
  /** Inclusive; sorts by oldest change first. */
  readonly updatedSince?: Timestamp | undefined
  /** A message id in `conversationId`: the first page has it in its middle. */
  readonly around?: string | undefined
}

/** A failed message needs attention for this long. */
const ATTENTION_MS = 7 * DAY_MS

export function createReading(core: Core, { waitReason }: { readonly waitReason: WaitReason }) {
  const { db, clock } = core
  return {
    messages: {
      list(asked: ListFilter, page: PageRequest): Page<api.Message> {
        const filter = withPerson(db, asked)
        return filter.updatedSince === undefined
          ? newestFirst(db, waitReason, filter, page)
          : changesSince(db, waitReason, filter, { ...page, since: filter.updatedSince })
      },
      get: (id: string): api.Message => messageResource(db, requireMessage(db, id), waitReason),
      /** Adds the contact's name, if there is one. */
      named: (message: api.Message): api.Message => ({
        ...message,
        ...contactFields(db, deviceHandle(message.handle)),
      }),
      times: (id: string) => ({ handed_over_at: isoTimeOrNull(requireMessage(db, id).passedAt) }),
    },
    conversations: {
      list(asked: ConversationFilter, page: PageRequest): Page<api.Conversation> {
        const [before = null] = cursorParts(page.cursor, 1) ?? []
        const limit = page.limit + 1
        const found = listConversations(db, withPerson(db, asked), { limit, before })
        const resource = (row: Conversation) => conversationResource(db, row, waitReason)
        return pageOf(found, page.limit, resource, (row) => [row.lastSeq])
      },
      get: (id: string): api.Conversation =>
        conversationResource(db, requireConversation(db, id), waitReason),
      countUnread: (lines: LineLimit) => countUnread(db, lines),
    },
    attention: (lines: LineLimit) =>
      countAttention(db, timestamp(clock.now() - ATTENTION_MS), lines),
    recipient: (handle: string, lines: LineLimit) => recipientResource(db, handle, lines),
    search: (q: string, limit: number, lines: LineLimit) =>
      search(core, waitReason, q, { limit, lines }),
  }
}

export type Reading = ReturnType<typeof createReading>

function withPerson<F extends { readonly handle?: string | undefined }>(db: Db, filter: F): F {
  return filter.handle === undefined
    ? filter
    : { ...filter, handle: handleAsked(db, filter.handle) }
}

function newestFirst(db: Db, waitReason: WaitReason, filter: ListFilter, page: PageRequest) {
  const [before = startAround(db, filter, page.limit)] = cursorParts(page.cursor, 1) ?? []
  const found = listMessages(db, filter, { limit: page.limit + 1, before })
  const resource = (row: Message) => messageResource(db, row, waitReason)
  return pageOf(found, page.limit, resource, (row) => [row.seq])
}

/** The upper bound of a page with `around` in its middle; null for the first page. */
function startAround(
  db: Db,
  { around, conversationId, lineIds, conversationIds }: ListFilter,
  limit: number,
) {
  if (around === undefined) return null
  if (conversationId === undefined) {
    throw invalidRequest({ path: 'around', message: 'needs conversation_id' })
  }
  const { seq, lineId, conversationId: own } = requireMessage(db, around)
  const asked = getConversation(db, conversationId)
  const isThere =
    own === (asked?.movedTo ?? asked?.id) &&
    includesLine(lineIds ?? null, lineId) &&
    isInConversations(db, { conversationIds, caller: 'owner' }, own)
  if (!isThere) throw noMessage()
  const half = Math.floor(limit / 2)
  return messagesAfter(db, { conversationId: own, after: seq, limit: half + 1 })[half]?.seq ?? null
}

function changesSince(
  db: Db,
  waitReason: WaitReason,
  filter: ListFilter,
  page: PageRequest & { readonly since: Timestamp },
): Page<api.Message> {
  const [updatedAt, revision] = cursorParts(page.cursor, 2) ?? []
  const cursor = updatedAt === undefined || revision === undefined ? null : { updatedAt, revision }
  const { since, limit } = page
  const found = listChanges(db, filter, { limit: limit + 1, since, cursor })
  const resource = (row: Message) => messageResource(db, row, waitReason)
  return pageOf(found, limit, resource, (row) => [row.updatedAt, row.revision])
}

function cursorParts(cursor: string | null, length: number): readonly number[] | null {
  if (cursor === null) return null
  const parts = decodeCursor(cursor, length)
  if (parts !== null) return parts
  throw invalidRequest({
    path: 'cursor',
    message: 'must be the next_cursor of a page of this list, with the same order',
  })
}

function recipientResource(db: Db, to: string, lines: LineLimit): api.RecipientEvidence {
  const { handle } = checkedRecipient(db, to, lines)
  const { service, evidence, lastSeenAt, lineId } = evidenceOf(db, handle, lines)
  const last_seen_at = isoTimeOrNull(lastSeenAt)
  const isIncluded = (one: OptOut) => one.lineId === null || includesLine(lines, one.lineId)
  const optedOut = optOutsOf(db, handle).some(isIncluded) ? { opted_out: true } : {}
  return { handle, service, evidence, last_seen_at, phone_line_id: lineId, ...optedOut }
}

/** The search of messages stops after this, so that sends are not delayed. */
const TIME_MS = 20

function search(
  { db, clock }: Core,
  waitReason: WaitReason,
  q: string,
  { limit, lines }: { readonly limit: number; readonly lines: LineLimit },
): SearchResult {
  const query = parseQuery(q)
  const persons = bestPeople(db, query, { limit, lines })
  const conversations = searchConversations(db, query, { limit, lines, persons })
  const until = clock.monotonic() + TIME_MS
  const isTimeUp = () => clock.monotonic() >= until
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
