import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { Conversation, ConversationChanges, ConversationList } from '../api/messages.ts'
import { id } from '../api/schema.ts'
import type { createReading } from '../messages/message-service.ts'
import { takes } from './body.ts'
import { BY_ID, operation } from './operation.ts'
import { PAGE_QUERY, pageOfQuery, readHandle, readQuery } from './query.ts'

export type ConversationActions = ReturnType<typeof createReading>['conversations']

const ConversationQuery = Type.Object({
  ...PAGE_QUERY,
  phone_line_id: Type.Optional(id('line', 'Conversations of this line.')),
  handle: Type.Optional(Type.String({ description: 'The counterpart.', example: '+12025550147' })),
})

const LIST = operation({
  id: 'listConversations',
  summary: 'List conversations',
  description: 'By latest message, newest first.',
  tag: 'Conversations',
  query: ConversationQuery,
  answers: { 200: ConversationList },
})

const GET = operation({
  id: 'getConversation',
  summary: 'Read a conversation',
  description: 'With its latest message.',
  tag: 'Conversations',
  answers: { 200: Conversation },
  errors: ['not_found'],
})

const PATCH = operation({
  id: 'updateConversation',
  summary: 'Turn human takeover on or off',
  description:
    'With `automation_paused` a person answers. Messages accepted before are still sent; the setting ' +
    '`enforce_automation_pause` decides whether later sends of API keys are refused.',
  tag: 'Conversations',
  answers: { 200: Conversation },
  errors: ['not_found', 'storage_full'],
})

export function conversationRoutes(conversations: ConversationActions) {
  return new Elysia({ prefix: '/api/v1/conversations' })
    .get(
      '',
      ({ request }) => {
        const query = readQuery(request, ConversationQuery)
        const filter = { lineId: query.phone_line_id, handle: readHandle(query.handle) }
        return conversations.list(filter, pageOfQuery(query))
      },
      LIST,
    )
    .get('/:id', ({ params }) => conversations.get(params.id), { ...BY_ID, ...GET })
    .patch(
      '/:id',
      ({ params, body }) =>
        conversations.patch(params.id, { isAutomationPaused: body.automation_paused }),
      { ...BY_ID, ...takes(ConversationChanges), ...PATCH },
    )
}
