// The MCP tools. Each calls the API with its client's rights: the key's rules apply whatever a model asks.

import { Type, type TObject, type TProperties } from 'typebox'

import { RefusedError, type Answered, type CallArguments } from '../api/client.ts'
import type { Call, OperationId } from '../api/operations.ts'
import type { Shape } from '../api/schema.ts'
import { UNTRUSTED, conversationView, messageView, receivedView } from './views.ts'

export type RelayApi = {
  call<Id extends OperationId>(id: Id, ...call: CallArguments<Id>): Promise<Answered<Id>>
  /** For operations that answer with a file. */
  file<Id extends OperationId>(id: Id, call: Call<Id>): Promise<Response>
}

export type McpClient = {
  readonly api: RelayApi
  /** The same for all calls in a session; without a session, for all calls with the same key in the same hour. */
  readonly id: string
  /** True if the client may call the operation, at least for some things. */
  readonly may: (operation: OperationId) => boolean
}

export type ToolCall = {
  readonly api: RelayApi
  /** For sends. The same call of the same client has the same key, so that a repeat sends nothing twice. */
  readonly headers: { readonly 'idempotency-key': string }
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

const CONVERSATION_ID = Type.String({ description: 'A conversation_id of list_conversations.' })
const LINE_ID = Type.String({ description: 'A line_id of list_lines.' })
const TEXT = Type.String({ minLength: 1, maxLength: 20_000, description: 'The whole message.' })
const RECEIVED = 'message.received,group_message.received'
/** MCP clients give up after 60 seconds. */
const WAIT_SECONDS_MAX = 50

function limitOf(fallback: number) {
  const description = `How many at most; ${fallback} if left out.`
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
    description: 'The phone lines that send and receive, with their state.',
    operation: 'listPhoneLines',
    effect: 'reads',
    input: objectOf({}),
    async run({ api }) {
      const { body } = await api.call('listPhoneLines')
      return {
        lines: body.data.map((line) => ({
          line_id: line.id,
          phone_number: line.phone_number,
          label: line.label,
          status: line.status,
          hint: line.status_hint,
          is_enabled: line.is_enabled,
          new_contacts_today: line.new_contacts_today,
          daily_contact_limit: line.daily_contact_limit,
        })),
      }
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
    description: 'Its latest messages, oldest first; older ones with the cursor of the answer.',
    operation: 'listMessages',
    effect: 'reads',
    input: objectOf({
      conversation_id: CONVERSATION_ID,
      limit: limitOf(30),
      cursor: Type.Optional(Type.String({ description: 'The older_cursor of the last call.' })),
    }),
    run: ({ api, args }) => readConversation(api, args.conversation_id, args),
  }),
  tool({
    name: 'search_messages',
    title: 'Search',
    description: 'Conversations by name or number, and messages with every word of the query.',
    operation: 'search',
    effect: 'reads',
    input: objectOf({ query: Type.String({ minLength: 1, maxLength: 200 }), limit: limitOf(20) }),
    async run({ api, args: { query, limit = 20 } }) {
      const { body } = await api.call('search', { query: { q: query, limit: String(limit) } })
      return {
        note: UNTRUSTED,
        conversations: body.conversations.map(conversationView),
        messages: body.messages.map(({ message, contact_name: contact }) =>
          messageView(message, contact !== undefined),
        ),
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
      return { note: UNTRUSTED, message: messageView(body, await knows(api, body.handle)) }
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
      const findings = body.data.map(({ severity, title, why, fix, line_id }) => {
        return { severity, title, why, fix, line_id }
      })
      return { is_well: findings.length === 0, findings }
    },
  }),
  tool({
    name: 'wait_for_messages',
    title: 'Wait for messages',
    description:
      'Messages received after a place, or the first to come. Pass the after of the answer to the next call, so ' +
      'that none is missed between two calls.',
    operation: 'listEvents',
    effect: 'reads',
    input: objectOf({
      after: Type.Optional(
        Type.String({ description: 'The after of the last call; without it, from now on.' }),
      ),
      line_id: Type.Optional(LINE_ID),
      wait_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: WAIT_SECONDS_MAX, description: '30 if left out.' }),
      ),
    }),
    async run({ api, args: { after = 'latest', line_id: line, wait_seconds: seconds = 30 } }) {
      const query = { after, types: RECEIVED, phone_line_id: line || undefined }
      const headers = { prefer: `wait=${seconds}` }
      const { body } = await api.call('listEvents', { query, headers })
      const messages = body.data.map(async ({ payload }) => {
        const isGroup = payload.event === 'group_message.received'
        const handle = 'message' in payload ? (payload.message?.handle ?? '') : ''
        return receivedView(payload, isGroup ? null : await knows(api, handle))
      })
      return { note: UNTRUSTED, messages: await Promise.all(messages), after: body.next_cursor }
    },
  }),
  tool({
    name: 'reply',
    title: 'Reply in a conversation',
    description:
      'Sends a message to the person or the group of a conversation. It cannot be taken back.',
    operation: 'sendInConversation',
    effect: 'sends',
    input: objectOf({ conversation_id: CONVERSATION_ID, text: TEXT }),
    run: ({ api, headers, args: { conversation_id: id, text } }) =>
      sent(api.call('sendInConversation', { params: { id }, body: { text }, headers })),
  }),
  tool({
    name: 'send_message',
    title: 'Send a message',
    description:
      'Sends a message to a number or an email address, also to one never written to before. It cannot be taken back.',
    operation: 'sendMessage',
    effect: 'sends',
    input: objectOf({
      to: Type.String({ description: 'E.164 with +, such as +12025550147, or an email address.' }),
      text: TEXT,
      line_id: Type.Optional(LINE_ID),
    }),
    run({ api, headers, args: { to, text, line_id: line } }) {
      const body = { to, text, phone_line_id: line || undefined }
      return sent(api.call('sendMessage', { body, headers }))
    },
  }),
  tool({
    name: 'hand_to_person',
    title: 'Hand over to a person',
    description: 'Marks a conversation as answered by a person; programs stop answering it.',
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
  const repeated = { note: 'This call was made before: the message was not sent a second time.' }
  return { message_id: id, conversation_id, to, status, queued_reason, ...(isReplay && repeated) }
}

/** True if the person is in the contacts; null if the key may not know. */
async function knows(api: RelayApi, handle: string): Promise<boolean | null> {
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
