// The MCP tools. Each calls the API with its client's rights: the key's rules apply whatever a model asks.

import { Type, type TObject, type TProperties } from 'typebox'

import { RefusedError, type Answered, type CallArguments } from '../api/client.ts'
import { AGENT, type KeyRules } from '../api/keys.ts'
import type { Call, OperationId } from '../api/operations.ts'
import type { Shape } from '../api/schema.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import {
  UNTRUSTED,
  conversationView,
  findingView,
  lineView,
  messageView,
  partyView,
  receivedView,
} from './views.ts'

export type RelayApi = {
  call<Id extends OperationId>(id: Id, ...call: CallArguments<Id>): Promise<Answered<Id>>
  /** For operations that answer with a file. */
  file<Id extends OperationId>(id: Id, call: Call<Id>): Promise<Response>
}

export type McpClient = {
  readonly api: RelayApi
  /** The rules of its key; null for the owner. */
  readonly rules: KeyRules | null
  /** True if the client may call the operation, at least for some things. */
  readonly may: (operation: OperationId) => boolean
}

export type ToolCall = {
  readonly api: RelayApi
  readonly args: Readonly<Record<string, unknown>>
}

export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  /** The operation that it is for: a client that may not call it doesn't get the tool. */
  readonly operation: OperationId
  readonly effect: 'reads' | 'changes' | 'sends'
  run(call: ToolCall): Promise<object>
}

const CONVERSATION_ID = Type.String({
  description: 'The conversation_id of a conversation or a message.',
})
const LINE_ID = Type.String({ description: 'The line_id of a line, a conversation or a message.' })
/** Parameters of sends: say whether the message repeats an earlier one. */
const REPEAT_PARAMETERS = {
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x20-\\x7e]+$',
      description:
        'A name of your own for this message. A call that is repeated with it within 7 days sends nothing twice.',
    }),
  ),
  again: Type.Optional(
    Type.Boolean({
      description:
        'True sends it although the same was sent before. With an idempotency_key that was used, nothing is sent.',
    }),
  ),
}
const NOT_TAKEN_BACK = 'No tool takes it back.'
const REFUSED =
  'Refused: a message while a person answers there, and, without idempotency_key, the same text with nothing ' +
  'received in between.'
const TEXT = Type.String({ minLength: 1, maxLength: 20_000, description: 'The whole message.' })
const RECEIVED = 'message.received,group_message.received'
/** MCP clients give up after 60 seconds. */
const WAIT_SECONDS_MAX = 50

function limitOf(fallback: number, of = '') {
  const description = `How many${of} at most; ${fallback} if left out.`
  return Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description }))
}

/** Types the arguments of `run` by `input`. */
function tool<T extends TObject>(
  row: Omit<Tool, 'input' | 'run'> & {
    readonly input: T
    run(call: Omit<ToolCall, 'args'> & { readonly args: Shape<T> }): Promise<object>
  },
): Tool {
  // Safe: the server validates the arguments by `input` before each call.
  return row
}

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'list_lines',
    title: 'List phone lines',
    description: 'The phone lines that you may see, with their state.',
    operation: 'listPhoneLines',
    effect: 'reads',
    input: objectOf({}),
    async run({ api }) {
      const { body } = await api.call('listPhoneLines')
      return { lines: body.data.map(lineView) }
    },
  }),
  tool({
    name: 'list_conversations',
    title: 'List conversations',
    description: 'Conversations with people and groups, the latest message first.',
    operation: 'listConversations',
    effect: 'reads',
    input: objectOf({
      unanswered: Type.Optional(
        Type.Boolean({ description: 'True: only those whose latest message was received.' }),
      ),
      line_id: Type.Optional(LINE_ID),
      limit: limitOf(20),
    }),
    async run({ api, args: { unanswered = false, line_id: line, limit = 20 } }) {
      const query = { type: 'all', limit: String(limit), unanswered: String(unanswered) }
      const { body } = await api.call('listConversations', {
        query: { ...query, phone_line_id: line || undefined },
      })
      return { note: UNTRUSTED, conversations: body.data.map(conversationView) }
    },
  }),
  tool({
    name: 'read_conversation',
    title: 'Read a conversation',
    description:
      'The latest messages of a conversation, oldest first; with cursor, the ones before.',
    operation: 'listMessages',
    effect: 'reads',
    input: objectOf({
      conversation_id: CONVERSATION_ID,
      limit: limitOf(30),
      cursor: Type.Optional(Type.String({ description: 'The older_cursor of the last answer.' })),
    }),
    run: ({ api, args }) => readConversation(api, args.conversation_id, args),
  }),
  tool({
    name: 'search_messages',
    title: 'Search',
    description:
      'Conversations by name or number, and messages with every word of the query, if one has 3 characters or more.',
    operation: 'search',
    effect: 'reads',
    input: objectOf({
      query: Type.String({ minLength: 1, maxLength: 200 }),
      limit: limitOf(20, ' of each'),
    }),
    async run({ api, args: { query, limit = 20 } }) {
      const { body } = await api.call('search', { query: { q: query, limit: String(limit) } })
      return {
        note: UNTRUSTED,
        conversations: body.conversations.map(conversationView),
        messages: body.messages.map(({ message, contact_name: contact }) => {
          // In a group the contact would be the group.
          const isGroup = message.conversation_type === 'group'
          return messageView(message, isGroup ? null : contact !== undefined)
        }),
      }
    },
  }),
  tool({
    name: 'get_message',
    title: 'Read a message',
    description: 'One message with its current status.',
    operation: 'getMessage',
    effect: 'reads',
    input: objectOf({ message_id: Type.String() }),
    async run({ api, args }) {
      const { body } = await api.call('getMessage', { params: { id: args.message_id } })
      return { note: UNTRUSTED, message: messageView(body, await isContact(api, body.handle)) }
    },
  }),
  tool({
    name: 'relay_health',
    title: 'Look for problems',
    description: 'What is wrong with the relay and its lines, and what its owner can do.',
    operation: 'listHealthFindings',
    effect: 'reads',
    input: objectOf({}),
    async run({ api }) {
      const { body } = await api.call('listHealthFindings')
      const findings = body.data.map(findingView)
      return { note: UNTRUSTED, is_well: findings.length === 0, findings }
    },
  }),
  tool({
    name: 'wait_for_messages',
    title: 'Wait for messages',
    description:
      'Messages received since after, or the first to come. Pass the after of the answer to the next call, so that ' +
      'none is missed between two calls.',
    operation: 'listEvents',
    effect: 'reads',
    input: objectOf({
      after: Type.Optional(
        Type.String({ description: 'The after of the last answer; without it, from now on.' }),
      ),
      line_id: Type.Optional(LINE_ID),
      wait_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: WAIT_SECONDS_MAX,
          description: 'How long to wait for the first; 30 if left out.',
        }),
      ),
    }),
    async run({ api, args: { after = 'latest', line_id: line, wait_seconds: seconds = 30 } }) {
      const query = { after, types: RECEIVED, phone_line_id: line || undefined }
      const headers = { prefer: `wait=${seconds}` }
      const { body } = await api.call('listEvents', { query, headers })
      const messages = body.data.map(({ payload }) => received(api, payload))
      return { note: UNTRUSTED, messages: await Promise.all(messages), after: body.next_cursor }
    },
  }),
  tool({
    name: 'reply',
    title: 'Reply in a conversation',
    description: `Sends a message to the person or the group of a conversation. ${NOT_TAKEN_BACK} ${REFUSED}`,
    operation: 'sendInConversation',
    effect: 'sends',
    input: objectOf({
      conversation_id: CONVERSATION_ID,
      text: TEXT,
      answers: Type.Optional(
        Type.String({
          description:
            'The message_id that this answers. A second answer of yours to it is refused.',
        }),
      ),
      ...REPEAT_PARAMETERS,
    }),
    run: ({ api, args: { conversation_id: id, text, ...repeat } }) =>
      sent(
        api.call('sendInConversation', {
          params: { id },
          body: { text },
          headers: sendHeaders(repeat),
        }),
      ),
  }),
  tool({
    name: 'send_message',
    title: 'Send a message',
    description:
      `Sends a message to a number or an email address. ${NOT_TAKEN_BACK} ${REFUSED} What the ` +
      'rules of your key exclude is refused, too.',
    operation: 'sendMessage',
    effect: 'sends',
    input: objectOf({
      to: Type.String({
        description:
          'E.164 with +, such as +12025550147, or an email address with which a line has a conversation.',
      }),
      text: TEXT,
      line_id: Type.Optional(LINE_ID),
      ...REPEAT_PARAMETERS,
    }),
    run({ api, args: { to, text, line_id: line, ...repeat } }) {
      const body = { to, text, phone_line_id: line || undefined }
      return sent(api.call('sendMessage', { body, headers: sendHeaders(repeat) }))
    },
  }),
  tool({
    name: 'hand_to_person',
    title: 'Hand over to a person',
    description:
      'A person answers the conversation from now on: agents, you too, send nothing there until a person gives it back.',
    operation: 'updateConversation',
    effect: 'changes',
    input: objectOf({ conversation_id: CONVERSATION_ID }),
    async run({ api, args: { conversation_id: id } }) {
      const body = { automation_paused: true }
      const answer = await api.call('updateConversation', { params: { id }, body })
      return { conversation_id: answer.body.id, a_person_answers: answer.body.automation_paused }
    },
  }),
]

/** A conversation with its latest messages, oldest first. */
export async function readConversation(
  api: RelayApi,
  id: string,
  {
    limit = 30,
    cursor,
  }: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
): Promise<object> {
  const { body: conversation } = await api.call('getConversation', { params: { id } })
  const query = { conversation_id: id, limit: String(limit), cursor: cursor || undefined }
  const { body: page } = await api.call('listMessages', { query })
  const isKnown = conversation.type === 'group' ? null : conversation.contact_name !== undefined
  const { last_message: _, ...about } = conversationView(conversation)
  const messages = page.data.toReversed().map((message) => messageView(message, isKnown))
  return { note: UNTRUSTED, conversation: about, messages, older_cursor: page.next_cursor }
}

async function sent(sending: Promise<Answered<'sendMessage' | 'sendInConversation'>>) {
  const { body, isReplay } = await sending
  const { id, conversation_id, to, status, queued_reason } = body
  const notes = [
    ...(isReplay ? ['This call was made before: the message was not sent a second time.'] : []),
    ...(status === 'uncertain' || status === 'sending' ? [MAYBE_SENT] : []),
  ]
  return {
    message_id: id,
    conversation_id,
    to: partyView(to),
    status,
    queued_reason,
    ...(notes.length > 0 && { note: notes.join(' ') }),
  }
}

export const MAYBE_SENT = "Don't send it again. It may have arrived."

/** Headers of a send: by `AGENT` the relay isContact that an agent sends, and when that is a repeat. */
function sendHeaders(repeat: {
  readonly idempotency_key?: string | undefined
  readonly answers?: string | undefined
  readonly again?: boolean | undefined
}): Readonly<Record<string, string>> {
  const { idempotency_key: key, answers, again = false } = repeat
  const fields = new URLSearchParams({ again: String(again), ...(answers && { answers }) })
  return { [AGENT]: String(fields), ...(key !== undefined && { 'idempotency-key': key }) }
}

/** A received message with its conversation, as far as the key may read them. */
async function received(api: RelayApi, payload: AnyEvent) {
  const id = 'message' in payload ? payload.message?.id : undefined
  if (typeof id !== 'string') return null
  const message = await unlessRefused(api.call('getMessage', { params: { id } }))
  const conversation =
    message &&
    (await unlessRefused(
      api.call('getConversation', { params: { id: message.body.conversation_id } }),
    ))
  return receivedView(payload, message?.body ?? null, conversation?.body ?? null)
}

async function unlessRefused<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof RefusedError) return null
    throw error
  }
}

/** True if the person is in the contacts; null if the key may not know. */
async function isContact(api: RelayApi, handle: string): Promise<boolean | null> {
  try {
    await api.call('getContact', { params: { handle } })
    return true
  } catch (error) {
    if (error instanceof RefusedError) return error.status === 403 ? null : false
    throw error
  }
}

function objectOf<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}
