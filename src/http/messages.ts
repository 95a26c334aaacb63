import { Elysia } from 'elysia'
import { type Static, Type } from 'typebox'

import {
  ApprovalRequest,
  Conversation,
  ConversationChanges,
  ConversationList,
  DenialRequest,
  EXPORT_FORMATS,
  type ExportFormat,
  Message,
  MessageDirection,
  MessageList,
  MessageStatus,
  ListType,
  ReadMark,
  Resolution,
  RecipientEvidence,
} from '../api/messages.ts'
import { enumOf, id } from '../api/schema.ts'
import { DEFERRAL_REASONS } from '../domain/message.ts'
import type { Decider } from '../messages/approvals.ts'
import type { ListFilter, createReading } from '../messages/message-service.ts'
import { mayTake, takes } from './body.ts'
import { answerWithFile, fileAnswers } from './file-answer.ts'
import { BY_ID, documentationOf, operation, requireScope } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readHandle, readQuery, timeParameter } from './query.ts'
import { callerOf, linesOf, originOf } from './request-context.ts'
import { pathSchema } from './typebox.ts'

type Reading = ReturnType<typeof createReading>

export type MessageActions = Reading['messages']

const NAMES = {
  contact_names: Type.Boolean({
    default: false,
    description:
      'True adds `contact_name` to messages with a person of the contacts; needs `contacts:read`.',
  }),
}

const NamesQuery = Type.Object(NAMES)

const MessageQuery = Type.Object({
  ...PAGE_QUERY,
  ...NAMES,
  phone_line_id: Type.Optional(id('line', 'Messages of this line.')),
  conversation_id: Type.Optional(id('conv', 'Messages of this conversation.')),
  handle: Type.Optional(Type.String({ description: 'The counterpart.', example: '+12025550147' })),
  direction: Type.Optional(MessageDirection),
  status: Type.Optional(MessageStatus),
  queued_reason: Type.Optional(
    enumOf('DeferralReason', DEFERRAL_REASONS, 'Queued messages that wait for this.'),
  ),
  service: Type.Optional(
    Type.String({ description: 'The service that carried it.', example: 'SMS' }),
  ),
  type: Type.Optional(ListType),
  around: Type.Optional(
    id('msg', 'The first page is that with this message in its middle; needs `conversation_id`.'),
  ),
  created_after: timeParameter('Exclusive.'),
  created_before: timeParameter('Exclusive.'),
  updated_since: timeParameter('Inclusive; turns the order to oldest change first.'),
})

const LIST = operation('Messages', {
  id: 'listMessages',
  summary: 'List messages',
  description:
    'Newest first. With `updated_since`, oldest change first: to catch up without a gap.',
  scope: 'messages:read',
  query: MessageQuery,
  answers: { 200: MessageList },
})

const GET = operation('Messages', {
  id: 'getMessage',
  summary: 'Read a message',
  description: 'Its current status, and the times of its steps.',
  scope: 'messages:read',
  query: NamesQuery,
  answers: { 200: Message },
  errors: ['not_found'],
})

const RESOLVE = operation('Messages', {
  id: 'resolveMessage',
  summary: 'Settle an uncertain message',
  description: 'Mark it as sent or failed, after a look at the device.',
  scope: 'messages:send',
  answers: { 200: Message },
  errors: ['not_found', 'not_uncertain', 'storage_full'],
})

const CANCEL = operation('Messages', {
  id: 'cancelMessage',
  summary: 'Cancel a queued message',
  description:
    'It is never sent: it has `failed` with the code `canceled`. Once it was handed over to the device ' +
    'it cannot be canceled any more.',
  scope: 'messages:send',
  answers: { 200: Message },
  errors: ['not_found', 'not_queued', 'storage_full'],
})

const APPROVE = operation('Messages', {
  id: 'approveMessage',
  summary: 'Approve a message',
  description:
    'Sends a message whose `queued_reason` is `approval`, with another text if you like. A key never ' +
    'decides on its own messages; of two decisions the first one counts.',
  scope: 'approvals:write',
  answers: { 200: Message },
  errors: ['not_found', 'not_awaiting_approval', 'storage_full'],
})

const DENY = operation('Messages', {
  id: 'denyMessage',
  summary: 'Deny a message',
  description: 'It is never sent: it has `failed` with the code `denied`.',
  scope: 'approvals:write',
  answers: { 200: Message },
  errors: ['not_found', 'not_awaiting_approval', 'storage_full'],
})

export function messageRoutes(messages: MessageActions) {
  return new Elysia({ prefix: '/api/v1/messages' })
    .get(
      '',
      ({ request }) => {
        const query = readQuery(request, MessageQuery)
        const page = messages.list(filterIn(request, query), pageOfQuery(query))
        if (!asksForNames(request, query)) return page
        return { ...page, data: page.data.map(messages.named) }
      },
      LIST,
    )
    .get(
      '/:id',
      ({ request, params }) => {
        const isNamed = asksForNames(request, readQuery(request, NamesQuery))
        const message = messages.get(params.id)
        return isNamed ? messages.named(message) : message
      },
      { ...BY_ID, ...GET },
    )
    .delete('/:id', ({ request, params }) => messages.cancel(params.id, deciderOf(request)), {
      ...BY_ID,
      ...CANCEL,
    })
    .post(
      '/:id/approve',
      ({ request, params, body }) => messages.approve(params.id, body, deciderOf(request)),
      { ...BY_ID, ...mayTake(ApprovalRequest), ...APPROVE },
    )
    .post(
      '/:id/deny',
      ({ request, params, body }) => messages.deny(params.id, body, deciderOf(request)),
      { ...BY_ID, ...mayTake(DenialRequest), ...DENY },
    )
    .post(
      '/:id/resolve',
      ({ request, params, body }) => messages.resolve(params.id, body.status, deciderOf(request)),
      { ...BY_ID, ...takes(Resolution), ...RESOLVE },
    )
}

function deciderOf(request: Request): Decider {
  const caller = callerOf(request)
  return { origin: originOf(request), key: caller.kind === 'key' ? caller : null }
}

function asksForNames(request: Request, { contact_names }: Static<typeof NamesQuery>): boolean {
  if (contact_names) requireScope(request, 'contacts:read')
  return contact_names
}

function filterIn(request: Request, query: Static<typeof MessageQuery>): ListFilter {
  return {
    lineIds: linesOf(request, query.phone_line_id),
    conversationId: query.conversation_id,
    handle: readHandle(query.handle),
    direction: query.direction,
    status: query.status,
    queuedReason: query.queued_reason,
    service: query.service,
    // A caller that names a conversation knows which one it is.
    type: query.type ?? (query.conversation_id === undefined ? 'direct' : 'all'),
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedSince: query.updated_since,
    around: query.around,
  }
}

export type RecipientActions = Pick<Reading['beside'], 'recipient'>

const HandlePath = Type.Object({
  handle: Type.String({ description: 'E.164 with `+`, or an email address.' }),
})

const RECIPIENT = operation('Messages', {
  id: 'getRecipient',
  summary: "Read a recipient's service",
  description:
    "The service that reaches them, by this relay's own messages with them. Nobody is asked, and nothing is sent.",
  scope: 'messages:read',
  answers: { 200: RecipientEvidence },
  errors: ['invalid_recipient'],
})

export function recipientRoutes({ recipient }: RecipientActions) {
  return new Elysia().get(
    '/api/v1/recipients/:handle',
    ({ request, params }) => recipient(params.handle, linesOf(request)),
    { params: pathSchema(HandlePath), ...RECIPIENT },
  )
}

export type ConversationActions = ReturnType<typeof createReading>['conversations']

const ConversationQuery = Type.Object({
  ...PAGE_QUERY,
  phone_line_id: Type.Optional(id('line', 'Conversations of this line.')),
  handle: Type.Optional(Type.String({ description: 'The counterpart.', example: '+12025550147' })),
  type: Type.Optional(ListType),
  unread: Type.Boolean({
    default: false,
    description: 'True leaves out those without unread messages.',
  }),
  unanswered: Type.Boolean({
    default: false,
    description: 'True leaves out those whose latest message was sent.',
  }),
})

const LIST_CONVERSATIONS = operation('Conversations', {
  id: 'listConversations',
  summary: 'List conversations',
  description: 'By latest message, newest first.',
  scope: 'messages:read',
  query: ConversationQuery,
  answers: { 200: ConversationList },
})

const GET_CONVERSATION = operation('Conversations', {
  id: 'getConversation',
  summary: 'Read a conversation',
  description: 'With its latest message.',
  scope: 'messages:read',
  answers: { 200: Conversation },
  errors: ['not_found'],
})

const PATCH_CONVERSATION = operation('Conversations', {
  id: 'updateConversation',
  summary: 'Turn human takeover on or off',
  description:
    'With `automation_paused` a person answers. Messages accepted before are still sent; the setting ' +
    '`enforce_automation_pause` decides whether later sends of API keys are refused.',
  scope: 'conversations:write',
  answers: { 200: Conversation },
  errors: ['not_found', 'storage_full'],
})

const ExportQuery = Type.Object({
  format: Type.Unsafe<ExportFormat>({
    ...enumOf('ExportFormat', EXPORT_FORMATS, '`csv` is a table for spreadsheets.'),
    default: 'json',
  }),
})

const EXPORT = documentationOf('Conversations', {
  id: 'exportConversation',
  summary: 'Export a conversation',
  description: 'All its messages as a file, oldest first.',
  scope: 'messages:read',
  query: ExportQuery,
  answers: {},
  errors: ['not_found', 'storage_full'],
})
const EXPORTED = fileAnswers('application/json', 'text/csv')

const MARK_READ = operation('Conversations', {
  id: 'markConversationRead',
  summary: 'Mark as read',
  description:
    'Up to one of its messages; later ones stay unread. A message sent in the conversation marks it as ' +
    'read as well, one that waits for an approval when it is approved. Nobody else sees the mark.',
  scope: 'conversations:write',
  answers: { 200: Conversation },
  errors: ['not_found', 'storage_full'],
})

export function conversationRoutes(conversations: ConversationActions) {
  return new Elysia({ prefix: '/api/v1/conversations' })
    .get(
      '',
      ({ request }) => {
        const query = readQuery(request, ConversationQuery)
        const filter = {
          lineIds: linesOf(request, query.phone_line_id),
          handle: readHandle(query.handle),
          type: query.type ?? 'direct',
          isUnread: query.unread,
          isUnanswered: query.unanswered,
        }
        return conversations.list(filter, pageOfQuery(query))
      },
      LIST_CONVERSATIONS,
    )
    .get('/:id', ({ params }) => conversations.get(params.id), { ...BY_ID, ...GET_CONVERSATION })
    .patch(
      '/:id',
      ({ params, body }) =>
        conversations.patch(params.id, { isAutomationPaused: body.automation_paused }),
      { ...BY_ID, ...takes(ConversationChanges), ...PATCH_CONVERSATION },
    )
    .get('/:id/export', ({ request, params }) => exported(request, conversations, params.id), {
      ...BY_ID,
      beforeHandle: ({ request }) => void callerOf(request),
      detail: { ...EXPORT, responses: { ...EXPORTED, ...EXPORT.responses } },
    })
    .post('/:id/read', ({ params, body }) => conversations.markRead(params.id, body.message_id), {
      ...BY_ID,
      ...takes(ReadMark),
      ...MARK_READ,
    })
}

async function exported(
  request: Request,
  conversations: ConversationActions,
  id: string,
): Promise<Response> {
  const { format } = readQuery(request, ExportQuery)
  const texts = await conversations.export(id, format, originOf(request))
  const type = format === 'csv' ? 'text/csv' : 'application/json'
  return answerWithFile(request, { name: `conversation.${format}`, type }, texts)
}
