// A whole conversation as a file, oldest message first, read page by page.

import type * as api from '../api/messages.ts'
import type { Conversation } from '../domain/conversation.ts'
import { BYTE_ORDER_MARK, csvRecord } from '../domain/csv.ts'
import type { Db } from '../storage/database.ts'
import { messagesAfter } from '../storage/message-lists.ts'
import { conversationResource, messageResource, type WaitReason } from './resource.ts'

const PAGE = 200

export function exportConversation(
  db: Db,
  waitReason: WaitReason,
  conversation: Conversation,
  format: api.ExportFormat,
): AsyncGenerator<string, undefined> {
  const pages = pagesOf(db, waitReason, conversation)
  return format === 'csv'
    ? asTable(pages)
    : asJson(conversationResource(db, conversation, waitReason), pages)
}

type Pages = Iterable<readonly api.Message[]>

async function* asJson(
  conversation: api.Conversation,
  pages: Pages,
): AsyncGenerator<string, undefined> {
  yield `{"conversation":${JSON.stringify(conversation)},"messages":[`
  let separator = '\n'
  for (const page of pages) {
    yield separator + page.map((message) => JSON.stringify(message)).join(',\n')
    separator = ',\n'
  }
  yield '\n]}\n'
  return undefined
}

const COLUMNS = {
  created_at: (message) => message.created_at,
  direction: (message) => message.direction,
  from: (message) => message.sender?.handle ?? message.from,
  to: (message) => message.to,
  text: (message) => message.text,
  attachments: ({ attachments = [] }) => attachments.map(({ filename }) => filename).join('; '),
  status: (message) => message.status,
  service: (message) => message.service,
  id: (message) => message.id,
} as const satisfies Record<string, (message: api.Message) => string>

async function* asTable(pages: Pages): AsyncGenerator<string, undefined> {
  yield BYTE_ORDER_MARK + csvRecord(Object.keys(COLUMNS))
  const rowOf = (message: api.Message) => csvRecord(Object.values(COLUMNS).map((of) => of(message)))
  for (const page of pages) yield page.map(rowOf).join('')
  return undefined
}

/** Each page is read once the one before it was taken. */
function* pagesOf(db: Db, waitReason: WaitReason, { id, movedTo }: Conversation) {
  for (let after = 0; ;) {
    const page = messagesAfter(db, { conversationId: movedTo ?? id, after, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map((message) => messageResource(db, message, waitReason))
    after = last.seq
  }
}
