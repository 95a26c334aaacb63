// Messages and conversations as the API has them: read, listed, counted, and settled by hand.

import type * as api from '../api/messages.ts'
import { type PageRequest, decodeCursor, pageOf } from '../api/paging.ts'
import type { Page } from '../api/schema.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { deviceHandle } from '../domain/handle.ts'
import { parseId, type Timestamp, timestamp } from '../domain/ids.ts'
import type { Message, Outbound } from '../domain/message.ts'
import { hasRules, type KeyCaller } from '../domain/permissions.ts'
import { includesLine, type LineLimit } from '../domain/routing.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Audit } from '../storage/audit.ts'
import {
  countUnread,
  getConversation,
  listConversations,
  markRead,
  pauseAutomation,
  type ConversationFilter,
  type Conversation,
} from '../storage/conversations.ts'
import type { Db } from '../storage/database.ts'
import { handleAsked } from '../storage/handles.ts'
import {
  countAttention,
  listChanges,
  listMessages,
  messagesAfter,
  type MessageFilter,
} from '../storage/message-lists.ts'
import { countByStatus } from '../storage/message-queue.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import { optOutsOf, type OptOut } from '../storage/opt-outs.ts'
import { evidenceOf } from '../storage/recipients.ts'
import type { Settings } from '../storage/settings.ts'
import type { Writer } from '../storage/writer.ts'
import type { ConfirmedClock } from '../system/confirmed-clock.ts'
import { isoTimeOrNull } from '../system/iso-time.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Signal } from '../system/signal.ts'
import type { PublishUnplaced } from '../webhooks/publish.ts'
import { createApprovals, type Decider } from './approvals.ts'
import { exportConversation } from './export.ts'
import { type LineDirectory, takesMessages } from './line-directory.ts'
import { separateTalk } from './merges.ts'
import { createOptOuts } from './opt-outs.ts'
import {
  contactFields,
  conversationResource,
  messageResource,
  type WaitReason,
} from './resource.ts'
import { search } from './search.ts'
import { checkedRecipient, previewSend } from './send-target.ts'
import { applyReceipt, failMessage, type SettleTools } from './settle.ts'

export type ConversationChanges = { readonly isAutomationPaused: boolean }

export type ListFilter = MessageFilter & {
  /** Inclusive; turns the order to oldest change first. */
  readonly updatedSince?: Timestamp | undefined
  /** Id of a message of `conversationId`, in the middle of the first page. */
  readonly around?: string | undefined
}

type Tools = SettleTools & {
  readonly db: Db
  readonly writer: Writer
  readonly clock: ConfirmedClock
  readonly directory: LineDirectory
  readonly waitReason: WaitReason
  readonly dispatchSignal: Signal
  readonly audit: Pick<Audit, 'record'>
  readonly publish: PublishUnplaced
  readonly settings: Pick<Settings, 'get'>
}

/** Age up to which a failed message is shown as one that needs attention. */
const ATTENTION_MS = 7 * DAY_MS

/** Lists, single messages and conversations, as the API has them. */
export function createReading(tools: Tools) {
  const { db, waitReason } = tools
  return {
    beside: {
      optOuts: createOptOuts(tools),
      search: (q: string, limit: number, lines: LineLimit) => search(tools, q, { limit, lines }),
      times: (id: string) => ({ handed_over_at: isoTimeOrNull(requireMessage(db, id).passedAt) }),
      attention: () => countAttention(db, timestamp(tools.clock.now() - ATTENTION_MS)),
      recipient: (handle: string, lines: LineLimit) => recipientResource(db, handle, lines),
      previewSend: (send: Parameters<typeof previewSend>[1]) => previewSend(tools, send),
    },
    messages: {
      list(asked: ListFilter, page: PageRequest): Page<api.Message> {
        const filter = withPerson(db, asked)
        return filter.updatedSince === undefined
          ? newestFirst(tools, filter, page)
          : changesSince(tools, filter, { ...page, since: filter.updatedSince })
      },
      get: (id: string): api.Message => messageResource(db, requireMessage(db, id), waitReason),
      /** With the name of its person, where the contacts have one. */
      named: (message: api.Message): api.Message => ({
        ...message,
        ...contactFields(db, deviceHandle(message.handle)),
      }),
      resolve: (id: string, status: 'sent' | 'failed', decider: Decider) =>
        resolveByHand(tools, id, status, decider),
      cancel: (id: string, decider: Decider) => cancelQueued(tools, id, decider),
      ...createApprovals(tools),
    },
    conversations: {
      list: (filter: ConversationFilter, page: PageRequest) =>
        pageOfConversations(tools, withPerson(db, filter), page),
      get: (id: string): api.Conversation =>
        conversationResource(db, existingConversation(db, id), waitReason),
      patch: (id: string, changes: ConversationChanges) => patchConversation(tools, id, changes),
      markRead: (id: string, messageId: string) => markConversationRead(tools, id, messageId),
      /** Undoes the merge of the conversation with this id. */
      separate: async (id: string, origin: Origin): Promise<api.Conversation> => {
        await tools.writer.write((tx) => separateTalk(tools, tx, id, origin))
        tools.dispatchSignal.notify()
        return conversationResource(db, existingConversation(db, id), waitReason)
      },
      countUnread: () => countUnread(db),
      /** A file of all its messages, in pieces. */
      export: async (id: string, format: api.ExportFormat, origin: Origin) => {
        const found = existingConversation(db, id)
        const about = { kind: 'conversation', id: found.id } as const
        const change = { action: 'conversation.exported', about } as const
        await tools.writer.write((tx) => tools.audit.record(tx, origin, change))
        return exportConversation(tools, found, format)
      },
    },
  }
}

function withPerson<F extends { readonly handle?: string | undefined }>(db: Db, filter: F): F {
  return filter.handle === undefined
    ? filter
    : { ...filter, handle: handleAsked(db, filter.handle) }
}

async function resolveByHand(
  tools: Tools,
  id: string,
  status: 'sent' | 'failed',
  { origin, key }: Decider,
): Promise<api.Message> {
  await tools.writer.write((tx) => {
    const message = requireMessage(tx, id)
    if (message.status !== 'uncertain') {
      throw new RelayError('not_uncertain', `The message is ${message.status}, not uncertain.`)
    }
    requireOwn(message, key)
    const at = tools.ids.now()
    if (status === 'sent') applyReceipt(tools, tx, message, { kind: 'sent', at, reason: null })
    else failMessage(tools, tx, message, 'resolved_by_hand')
    tools.audit.record(tx, origin, {
      action: 'message.resolved',
      about: { kind: 'message', id: message.id },
      before: { status: message.status },
      after: { status },
    })
  })
  tools.dispatchSignal.notify()
  return messageResource(tools.db, requireMessage(tools.db, id), tools.waitReason)
}

function requireOwn(message: Outbound, key: KeyCaller | null): void {
  if (key === null || message.keyId === key.keyId || !hasRules(key.permissions)) return
  throw new RelayError('forbidden', 'A key with rules decides only on its own messages.')
}

/** One that a driver has in hand and did not let go yet is never sent. */
async function cancelQueued(
  tools: Tools,
  id: string,
  { origin, key }: Decider,
): Promise<api.Message> {
  await tools.writer.write((tx) => {
    const message = requireMessage(tx, id)
    if (message.status !== 'queued' && message.status !== 'deferred') {
      throw new RelayError('not_queued', `The message is ${message.status}, not queued.`)
    }
    const { kind, id: by } = origin.actor
    if (kind === 'member' && message.extras?.memberId !== by) {
      throw new RelayError('forbidden', 'Members cancel only their own messages.')
    }
    requireOwn(message, key)
    failMessage(tools, tx, message, 'canceled')
    const about = { kind: 'message', id: message.id } as const
    tools.audit.record(tx, origin, { action: 'message.canceled', about })
  })
  tools.dispatchSignal.notify()
  return messageResource(tools.db, requireMessage(tools.db, id), tools.waitReason)
}

/** Messages that were accepted before go on: a pause holds nothing back. */
async function patchConversation(
  { db, writer, waitReason }: Tools,
  id: string,
  { isAutomationPaused }: ConversationChanges,
): Promise<api.Conversation> {
  const known = parseId('conv', id)
  if (known === null) throw noConversation()
  const changed = await writer.write((tx) => pauseAutomation(tx, known, isAutomationPaused))
  if (changed === null) throw noConversation()
  return conversationResource(db, changed, waitReason)
}

async function markConversationRead(
  { db, writer, waitReason }: Tools,
  id: string,
  messageId: string,
): Promise<api.Conversation> {
  const known = existingConversation(db, id)
  const own = known.movedTo ?? known.id
  await writer.write((tx) => {
    const message = requireMessage(tx, messageId)
    if (message.conversationId !== own) throw noMessage()
    markRead(tx, own, message.seq)
  })
  return conversationResource(db, existingConversation(db, id), waitReason)
}

function existingConversation(db: Db, id: string): Conversation {
  const found = parseId('conv', id) === null ? null : getConversation(db, id)
  if (found === null) throw noConversation()
  return found
}

function pageOfConversations(
  { db, waitReason }: Tools,
  filter: ConversationFilter,
  page: PageRequest,
): Page<api.Conversation> {
  const [before = null] = cursorParts(page.cursor, 1) ?? []
  const found = listConversations(db, filter, { limit: page.limit + 1, before })
  const resource = (row: Conversation) => conversationResource(db, row, waitReason)
  return pageOf(found, page.limit, resource, (row) => [row.lastSeq])
}

function newestFirst(tools: Tools, filter: ListFilter, page: PageRequest): Page<api.Message> {
  const [before = startAround(tools.db, filter, page.limit)] = cursorParts(page.cursor, 1) ?? []
  const found = listMessages(tools.db, filter, { limit: page.limit + 1, before })
  const resource = (row: Message) => messageResource(tools.db, row, tools.waitReason)
  return pageOf(found, page.limit, resource, (row) => [row.seq])
}

/** The bound of a page with the message `around` in its middle; null where that is the first page. */
function startAround(
  db: Db,
  { around, conversationId, lineIds }: ListFilter,
  limit: number,
): number | null {
  if (around === undefined) return null
  if (conversationId === undefined) {
    throw invalidRequest({ path: 'around', message: 'needs conversation_id' })
  }
  const { seq, lineId, conversationId: own } = requireMessage(db, around)
  const asked = getConversation(db, conversationId)
  const isThere = own === (asked?.movedTo ?? asked?.id) && includesLine(lineIds ?? null, lineId)
  if (!isThere) throw noMessage()
  const half = Math.floor(limit / 2)
  return messagesAfter(db, { conversationId: own, after: seq, limit: half + 1 })[half]?.seq ?? null
}

function changesSince(
  tools: Tools,
  filter: ListFilter,
  page: PageRequest & { readonly since: Timestamp },
): Page<api.Message> {
  const [updatedAt, revision] = cursorParts(page.cursor, 2) ?? []
  const cursor = updatedAt === undefined || revision === undefined ? null : { updatedAt, revision }
  const { since, limit } = page
  const found = listChanges(tools.db, filter, { limit: limit + 1, since, cursor })
  return pageOf(
    found,
    limit,
    (row) => messageResource(tools.db, row, tools.waitReason),
    (row) => [row.updatedAt, row.revision],
  )
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

function noConversation(): RelayError {
  return new RelayError('not_found', 'There is no conversation with this id.')
}

function recipientResource(db: Db, to: string, lines: LineLimit): api.RecipientEvidence {
  const { handle } = checkedRecipient(to)
  const { service, evidence, lastSeenAt, lineId } = evidenceOf(db, handle, lines)
  const last_seen_at = isoTimeOrNull(lastSeenAt)
  const isIncluded = (one: OptOut) => one.lineId === null || includesLine(lines, one.lineId)
  const optedOut = optOutsOf(db, handle).some(isIncluded) ? { opted_out: true } : {}
  return { handle, service, evidence, last_seen_at, phone_line_id: lineId, ...optedOut }
}

const STATUSES = ['queued', 'deferred', 'sending', 'uncertain'] as const

/** Gauges of waiting messages and of lines that take messages, counted when the metrics are read. */
export function observeMessages(
  metrics: Metrics,
  { db, directory }: { readonly db: Db; readonly directory: Pick<LineDirectory, 'lines'> },
): void {
  metrics.onCollect(() => {
    for (const status of STATUSES) {
      const count = countByStatus(db, status)
      metrics.set('hookline_messages', 'Messages that are not settled.', count, { status })
    }
    for (const found of directory.lines()) {
      const labels = { line: found.line.id, driver: found.line.driver }
      const value = takesMessages(found) ? 1 : 0
      metrics.set('hookline_line_ready', 'Whether a line takes messages.', value, labels)
    }
  })
}
