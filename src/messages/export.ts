// A whole conversation as a file, oldest message first, read page by page.

import type * as api from '../api/messages.ts'
import { BYTE_ORDER_MARK, csvRecord } from '../domain/csv.ts'
import type { Conversation } from '../storage/conversations.ts'
import type { Db } from '../storage/database.ts'
import { messagesAfter } from '../storage/message-lists.ts'
import { conversationResource, messageResource, type WaitReason } from './resource.ts'

type Tools = { readonly db: Db; readonly waitReason: WaitReason }

const PAGE = 200

export function exportConversation(
  tools: Tools,
  conversation: Conversation,
  format: api.ExportFormat,
): AsyncGenerator<string, undefined> {
  return format === 'csv' ? asTable(tools, conversation) : asJson(tools, conversation)
}

async function* asJson(
  tools: Tools,
  conversation: Conversation,
): AsyncGenerator<string, undefined> {
  const head = JSON.stringify(conversationResource(tools.db, conversation, tools.waitReason))
  yield `{"conversation":${head},"messages":[`
  let separator = '\n'
  for (const page of pagesOf(tools, conversation)) {
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

async function* asTable(
  tools: Tools,
  conversation: Conversation,
): AsyncGenerator<string, undefined> {
  yield BYTE_ORDER_MARK + csvRecord(Object.keys(COLUMNS))
  const rowOf = (message: api.Message) => csvRecord(Object.values(COLUMNS).map((of) => of(message)))
  for (const page of pagesOf(tools, conversation)) yield page.map(rowOf).join('')
  return undefined
}

/** Each page is read once the one before it was taken. */
function* pagesOf({ db, waitReason }: Tools, { id, movedTo }: Conversation) {
  for (let after = 0; ;) {
    const page = messagesAfter(db, { conversationId: movedTo ?? id, after, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map((message) => messageResource(db, message, waitReason))
    after = last.seq
  }
}
