import { Type } from 'typebox'

import { DEFERRAL_REASONS } from '../../domain/message.ts'
import * as api from '../messages.ts'
import { CHANGE, READ, rows } from '../operation.ts'
import {
  PAGE_QUERY,
  countParameter,
  idempotencyHeader,
  textParameter,
  timeParameter,
} from '../query.ts'
import { flag, enumOf, id } from '../schema.ts'
import { Stats } from '../stats.ts'

const SHARED = { callers: 'keys', tag: 'Messages', limits: ['lines'] } as const
const READS = { ...SHARED, ...READ, scope: 'messages:read' } as const
const CHANGES = { ...SHARED, ...CHANGE, scope: 'messages:send', password: 'no' } as const

const SendHeaders = Type.Object({
  ...idempotencyHeader(
    'Retries of the same request get the first answer again, for 7 days.',
    'berlin-order-1042-ready',
  ),
  Prefer: textParameter(
    '`wait=N` waits at most N seconds (up to 60), `respond-async` not at all. `urgent` sends in the ' +
      "line's quiet hours, too.",
    'wait=15',
  ),
})

/** Limits of operations that a key of some conversations may call for them. */
const IN_CONVERSATIONS = ['lines', 'conversations'] as const

const REFUSALS = [
  'invalid_recipient',
  'attachment_needs_text',
  'attachment_not_found',
  'idempotency_conflict',
  'automation_paused',
  'recipient_opted_out',
  'phone_line_disabled',
  'attachment_not_ready',
  'attachment_gone',
  'payload_too_large',
  'send_failed',
  'not_supported',
  'attachment_fetch_failed',
  'recipient_not_allowed',
  'rate_limit_exceeded',
  'storage_full',
] as const

const SENDS = {
  ...CHANGES,
  limits: ['lines', 'conversations', 'recipients'],
  member: 'yes',
  audit: null,
  headers: SendHeaders,
  answers: { 200: api.Message, 202: api.Message },
  answerHeaders: {
    'Idempotency-Replayed': '`true` if this is the first answer, repeated.',
    'Preference-Applied': '`urgent` if that was asked for.',
  },
} as const

const NAMES = {
  contact_names: Type.Boolean({
    default: false,
    description:
      'True adds `contact_name` to messages with a person of the contacts; needs `contacts:read`.',
  }),
}

const MessageQuery = Type.Object({
  ...PAGE_QUERY,
  ...NAMES,
  phone_line_id: Type.Optional(id('line', 'Messages of this line.')),
  site_id: Type.Optional(id('site', 'Messages of the lines of this site.')),
  conversation_id: Type.Optional(id('conv', 'Messages of this conversation.')),
  handle: textParameter('The counterpart.', '+12025550147'),
  direction: Type.Optional(api.MessageDirection),
  status: Type.Optional(api.MessageStatus),
  queued_reason: Type.Optional(
    enumOf('DeferralReason', DEFERRAL_REASONS, 'Queued messages that wait for this.'),
  ),
  ended_on_purpose: Type.Optional(
    flag('True: only messages that were canceled, denied or marked as failed. False: only others.'),
  ),
  service: textParameter('The service that carried it.', 'SMS'),
  type: Type.Optional(api.ListType),
  around: Type.Optional(
    id('msg', 'The first page is that with this message in its middle; needs `conversation_id`.'),
  ),
  created_after: timeParameter('Exclusive.'),
  created_before: timeParameter('Exclusive.'),
  updated_since: timeParameter('Inclusive; turns the order to oldest change first.'),
})

const StatsQuery = Type.Object({
  days: countParameter(400, 14, 'How many days, today included.'),
  time_zone: textParameter(
    'IANA name of the time zone of the days; UTC if it is left out.',
    'Europe/Berlin',
  ),
  site_id: Type.Optional(
    id('site', 'Figures of the lines of this site, in its time zone unless `time_zone` is given.'),
  ),
})

export const MESSAGES = rows({
  sendMessage: {
    ...SENDS,
    route: 'POST /messages/send',
    summary: 'Send a message',
    description:
      'Nothing is lost once it is accepted. 200 when the line sent it in time; 202 when it is queued or ' +
      'still in progress. Set an `Idempotency-Key`, so that a retry never sends twice.',
    body: api.SendRequest,
    errors: [...REFUSALS, 'phone_line_not_found', 'no_phone_line'],
  },
  sendInConversation: {
    ...SENDS,
    tag: 'Conversations',
    route: 'POST /conversations/:id/messages',
    summary: 'Send in a conversation',
    description:
      "To its person or its group, by its line. A group is addressed by the device's own guid of it: it is " +
      'never created, and a person is never written to in its place. Headers and answers are those of a send.',
    body: api.ConversationSend,
    errors: [...REFUSALS, 'not_found'],
  },
  listMessages: {
    ...READS,
    limits: IN_CONVERSATIONS,
    route: 'GET /messages',
    summary: 'List messages',
    description:
      'Newest first. With `updated_since`, oldest change first: to catch up without a gap.',
    query: MessageQuery,
    answers: { 200: api.MessageList },
    member: 'yes',
    compress: 'of one conversation',
  },
  getMessage: {
    ...READS,
    limits: IN_CONVERSATIONS,
    route: 'GET /messages/:id',
    summary: 'Read a message',
    description: 'Its current status, and the times of its steps.',
    query: Type.Object(NAMES),
    answers: { 200: api.Message },
    errors: ['not_found'],
    member: 'yes',
  },
  cancelMessage: {
    ...CHANGES,
    limits: IN_CONVERSATIONS,
    route: 'DELETE /messages/:id',
    summary: 'Cancel a queued message',
    description:
      'It is never sent: it has `failed` with the code `canceled`. Once it was handed over to the device ' +
      'it cannot be canceled any more.',
    answers: { 200: api.Message },
    errors: ['not_found', 'not_queued', 'storage_full'],
    member: 'own',
    audit: 'message.canceled',
  },
  approveMessage: {
    ...CHANGES,
    route: 'POST /messages/:id/approve',
    summary: 'Approve a message',
    description:
      'Sends a message whose `queued_reason` is `approval`, with another text if you like. A key never ' +
      'decides on its own messages; of two decisions the first one counts.',
    scope: 'approvals:write',
    // If the text is changed, the deciding key counts as the sender.
    limits: ['lines', 'recipients'],
    body: api.ApprovalRequest,
    isBodyOptional: true,
    answers: { 200: api.Message },
    errors: ['not_found', 'not_awaiting_approval', 'storage_full'],
    audit: 'message.approved',
  },
  denyMessage: {
    ...CHANGES,
    route: 'POST /messages/:id/deny',
    summary: 'Deny a message',
    description: 'It is never sent: it has `failed` with the code `denied`.',
    scope: 'approvals:write',
    body: api.DenialRequest,
    isBodyOptional: true,
    answers: { 200: api.Message },
    errors: ['not_found', 'not_awaiting_approval', 'storage_full'],
    audit: 'message.denied',
  },
  resolveMessage: {
    ...CHANGES,
    route: 'POST /messages/:id/resolve',
    summary: 'Settle an uncertain message',
    description: 'Mark it as sent or failed, after a look at the device.',
    body: api.Resolution,
    answers: { 200: api.Message },
    errors: ['not_found', 'not_uncertain', 'storage_full'],
    audit: 'message.resolved',
  },
  getRecipient: {
    ...READS,
    route: 'GET /recipients/:handle',
    summary: "Read a recipient's service",
    description:
      "The service that reaches them, by this relay's own messages with them. Nobody is asked, and nothing is sent.",
    answers: { 200: api.RecipientEvidence },
    errors: ['invalid_recipient'],
  },
  getStats: {
    ...READS,
    route: 'GET /stats',
    summary: 'Read figures by day',
    description:
      'Messages by line, day on which they were recorded, and current outcome; oldest day first. ' +
      'Queued messages are not counted. With `time_zone` also new contacts and the time until messages were sent.',
    query: StatsQuery,
    answers: { 200: Stats },
    compress: true,
  },
})
