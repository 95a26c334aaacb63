import type { QueryOf } from '../api/operation.ts'
import { CONVERSATIONS } from '../api/operations/conversations.ts'
import { MESSAGES } from '../api/operations/messages.ts'
import { RelayError } from '../domain/errors.ts'
import { hasRules, requirePermission, permissionsOf } from '../domain/permissions.ts'
import type { Decider } from '../messages/decisions.ts'
import type { ListFilter } from '../messages/reading.ts'
import { isSeenBy } from '../storage/line-limits.ts'
import { bind } from './bind.ts'
import { requirePermissionsNow } from './current-permissions.ts'
import { answerWithFile } from './file-answer.ts'
import { pageOfQuery, readHandle } from './input.ts'
import type { Relay } from './relay.ts'
import {
  callerOf,
  contextOf,
  conversationsOf,
  linesAsked,
  linesOf,
  originOf,
  unauthorized,
  viewerOf,
} from './request-context.ts'

export function messageBindings({ reading, decisions }: Pick<Relay, 'decisions' | 'reading'>) {
  const { messages } = reading
  return [
    bind(MESSAGES.listMessages, ({ request, query }) => {
      const page = messages.list(filterIn(request, query), pageOfQuery(query))
      if (!asksForNames(request, query)) return page
      return { ...page, data: page.data.map(messages.named) }
    }),
    bind(MESSAGES.getMessage, ({ request, params, query }) => {
      const isNamed = asksForNames(request, query)
      const message = messages.get(params.id)
      return isNamed ? messages.named(message) : message
    }),
    bind(MESSAGES.cancelMessage, ({ request, params }) =>
      decisions.cancel(params.id, deciderOf(request)),
    ),
    bind(MESSAGES.approveMessage, ({ request, params, body }) =>
      decisions.approve(params.id, body, deciderOf(request)),
    ),
    bind(MESSAGES.denyMessage, ({ request, params, body }) =>
      decisions.deny(params.id, body, deciderOf(request)),
    ),
    bind(MESSAGES.resolveMessage, ({ request, params, body }) =>
      decisions.resolve(params.id, body.status, deciderOf(request)),
    ),
  ]
}

function staysTakenOver(): RelayError {
  const message = "A key with rules or conversations can't end a person's takeover."
  return new RelayError('forbidden', message)
}

function deciderOf(request: Request): Decider {
  const caller = callerOf(request)
  return { origin: originOf(request), key: caller.kind === 'key' ? caller : null }
}

function asksForNames(
  request: Request,
  { contact_names }: QueryOf<typeof MESSAGES.getMessage>,
): boolean {
  if (contact_names) requirePermission(permissionsOf(callerOf(request)), 'contacts:read')
  return contact_names
}

function filterIn(request: Request, query: QueryOf<typeof MESSAGES.listMessages>): ListFilter {
  return {
    lineIds: linesOf(request, query),
    conversationIds: conversationsOf(request),
    conversationId: query.conversation_id,
    handle: readHandle(query.handle),
    direction: query.direction,
    status: query.status,
    queuedReason: query.queued_reason,
    endedOnPurpose: query.ended_on_purpose,
    service: query.service,
    // A caller that names a conversation knows whether it is a group.
    type: query.type ?? (query.conversation_id === undefined ? 'direct' : 'all'),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedSince: query.updated_since,
    around: query.around,
  }
}

export function recipientBindings({ recipient }: Relay['reading']) {
  return [
    bind(MESSAGES.getRecipient, ({ request, params }) =>
      recipient(params.handle, linesOf(request)),
    ),
  ]
}

export function conversationBindings(
  relay: Pick<Relay, 'access' | 'authenticate' | 'conversationChanges' | 'reading'>,
) {
  const { conversationChanges: changes } = relay
  const { conversations } = relay.reading
  return [
    bind(CONVERSATIONS.listConversations, ({ request, query }) => {
      const lineIds = linesOf(request, query)
      const conversationIds = conversationsOf(request)
      const { type = 'direct' } = query
      const handle = readHandle(query.handle)
      const filter = { ...query, lineIds, conversationIds, handle, type }
      return conversations.list(filter, pageOfQuery(query))
    }),
    bind(CONVERSATIONS.getConversation, ({ params }) => conversations.get(params.id)),
    bind(CONVERSATIONS.updateConversation, ({ request, params, body }) => {
      const isPaused = body.automation_paused
      const caller = callerOf(request)
      const isEnd = !isPaused && conversations.get(params.id).automation_paused
      if (isEnd && hasRules(permissionsOf(caller))) throw staysTakenOver()
      return changes.pauseAutomation(params.id, isPaused, caller.kind === 'key')
    }),
    bind(
      CONVERSATIONS.exportConversation,
      async ({ request, params, query: { format }, origin }) => {
        const { db } = contextOf(request)
        // Before each page: the line may move to another site. An error ends the file.
        const requireSeen = () => {
          const permissions = requirePermissionsNow(request, relay)
          const lineIds = linesAsked(db, permissions, {})
          const viewer = { ...viewerOf(request), lineIds }
          if (!isSeenBy(db, viewer, params.id)) throw unauthorized()
        }
        const texts = await changes.export(params.id, { format, requireSeen }, origin)
        const type = format === 'csv' ? 'text/csv' : 'application/json'
        return answerWithFile(request, { name: `conversation.${format}`, type }, texts)
      },
    ),
    bind(CONVERSATIONS.markConversationRead, ({ params, body }) =>
      changes.markRead(params.id, body.message_id),
    ),
  ]
}
