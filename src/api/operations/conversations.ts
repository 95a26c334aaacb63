import { Type } from 'typebox'

import * as api from '../messages.ts'
import { CHANGE, READ, rows } from '../operation.ts'
import { PAGE_QUERY, textParameter } from '../query.ts'
import { enumOf, id } from '../schema.ts'

const SHARED = {
  callers: 'keys',
  tag: 'Conversations',
  limits: ['lines', 'conversations'],
} as const
const READS = { ...SHARED, ...READ, scope: 'messages:read' } as const
const CHANGES = { ...SHARED, ...CHANGE, scope: 'conversations:write', password: 'no' } as const

const ConversationQuery = Type.Object({
  ...PAGE_QUERY,
  phone_line_id: Type.Optional(id('line', 'Conversations of this line.')),
  site_id: Type.Optional(id('site', 'Conversations of the lines of this site.')),
  handle: textParameter('The counterpart.', '+12025550147'),
  type: Type.Optional(api.ListType),
  unread: Type.Boolean({
    default: false,
    description: 'True leaves out those without unread messages.',
  }),
  unanswered: Type.Boolean({
    default: false,
    description: 'True leaves out those whose latest message was sent.',
  }),
})

const ExportQuery = Type.Object({
  format: Type.Unsafe<api.ExportFormat>({
    ...enumOf('ExportFormat', api.EXPORT_FORMATS, '`csv` is a table for spreadsheets.'),
    default: 'json',
  }),
})

const TEXT = { schema: { type: 'string' } }

export const CONVERSATIONS = rows({
  listConversations: {
    ...READS,
    route: 'GET /conversations',
    summary: 'List conversations',
    description: 'By latest message, newest first.',
    query: ConversationQuery,
    answers: { 200: api.ConversationList },
    member: 'yes',
  },
  getConversation: {
    ...READS,
    route: 'GET /conversations/:id',
    summary: 'Read a conversation',
    description: 'With its latest message.',
    answers: { 200: api.Conversation },
    errors: ['not_found'],
    member: 'yes',
  },
  updateConversation: {
    ...CHANGES,
    route: 'PATCH /conversations/:id',
    summary: 'Turn human takeover on or off',
    description:
      'With `automation_paused` a person answers. Agents and keys of some conversations send nothing then, and what ' +
      'they sent before and still waits fails. Messages of other keys that were accepted before are still sent; the ' +
      'setting `enforce_automation_pause` decides whether their later sends are refused.',
    body: api.ConversationChanges,
    answers: { 200: api.Conversation },
    errors: ['not_found', 'storage_full'],
    audit: null,
  },
  exportConversation: {
    ...READS,
    route: 'GET /conversations/:id/export',
    summary: 'Export a conversation',
    description: 'All its messages as a file, oldest first.',
    query: ExportQuery,
    answers: {},
    fileAnswers: {
      200: { description: 'The file.', content: { 'application/json': TEXT, 'text/csv': TEXT } },
    },
    errors: ['not_found', 'storage_full'],
    audit: 'conversation.exported',
  },
  markConversationRead: {
    ...CHANGES,
    route: 'POST /conversations/:id/read',
    summary: 'Mark as read',
    description:
      'Up to one of its messages; later ones stay unread. A message sent in the conversation marks it as ' +
      'read as well, one that waits for an approval when it is approved. Nobody else sees the mark.',
    body: api.ReadMark,
    answers: { 200: api.Conversation },
    errors: ['not_found', 'storage_full'],
    member: 'yes',
    audit: null,
  },
})
