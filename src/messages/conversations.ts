// Changes and exports conversations.

import type * as api from '../api/messages.ts'
import type { Origin } from '../domain/audit.ts'
import { BYTE_ORDER_MARK, csvRecord } from '../domain/csv.ts'
import { RelayError } from '../domain/errors.ts'
import { markRead, pauseAutomation, type Conversation } from '../storage/conversations.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { messagesAfter } from '../storage/message-lists.ts'
import { noMessage, requireMessage } from '../storage/messages.ts'
import type { Signal } from '../system/signal.ts'
import { separateTalk } from './merges.ts'
import { conversationResource, messageResource, type WaitReason } from './resource.ts'
import { requireConversation } from './send-target.ts'

export type ConversationChanges = ReturnType<typeof createConversationChanges>

export function createConversationChanges(
  core: Core,
  given: { readonly waitReason: WaitReason; readonly dispatchSignal: Signal },
) {
  const { waitReason, dispatchSignal } = given
  const { db, writer, audit } = core
  const read = (id: string): api.Conversation =>
    conversationResource(db, requireConversation(db, id), waitReason)
  return {
    /** Messages that were already accepted are still sent, except those of agents. */
    async pauseAutomation(
      id: string,
      isPaused: boolean,
      isByKey: boolean,
    ): Promise<api.Conversation> {
      const known = requireConversation(db, id)
      if (!isPaused && isByKey && known.loopedAt !== null) throw onlyAPerson()
      await writer.write((tx) => pauseAutomation(tx, known.id, isPaused))
      return read(id)
    },
    async markRead(id: string, messageId: string): Promise<api.Conversation> {
      const known = requireConversation(db, id)
      const own = known.movedTo ?? known.id
      await writer.write((tx) => {
        const message = requireMessage(tx, messageId)
        if (message.conversationId !== own) throw noMessage()
        markRead(tx, own, message.seq)
      })
      return read(id)
    },
    async separate(id: string, origin: Origin): Promise<api.Conversation> {
      await writer.write((tx) => separateTalk(core, tx, id, origin))
      dispatchSignal.notify()
      return read(id)
    },
    /** All its messages as a file, in chunks. `requireSeen` throws before a page that the caller may no longer see. */
    async export(
      id: string,
      { format, requireSeen }: { format: api.ExportFormat; requireSeen: () => void },
      origin: Origin,
    ) {
      const found = requireConversation(db, id)
      const about = { kind: 'conversation', id: found.id } as const
      await writer.write((tx) =>
        audit.record(tx, origin, { action: 'conversation.exported', about }),
      )
      const pages = pagesOf(db, waitReason, found, requireSeen)
      return format === 'csv'
        ? asTable(pages)
        : asJson(conversationResource(db, found, waitReason), pages)
    },
  }
}

function onlyAPerson(): RelayError {
  const message =
    'Two programs answered each other here: only a person lets it go on, in the dashboard.'
  return new RelayError('forbidden', message)
}

const PAGE = 200

type Pages = Iterable<readonly api.Message[]>

async function* asJson(conversation: api.Conversation, pages: Pages) {
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

/** Reads each page when the consumer asks for it. */
function* pagesOf(
  db: Db,
  waitReason: WaitReason,
  { id, movedTo }: Conversation,
  requireSeen: () => void,
) {
  for (let after = 0; ;) {
    requireSeen()
    const page = messagesAfter(db, { conversationId: movedTo ?? id, after, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map((message) => messageResource(db, message, waitReason))
    after = last.seq
  }
}
