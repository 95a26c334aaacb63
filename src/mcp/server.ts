// The MCP server, by stdio and HTTP: tools, resources and prompts on top of the relay's API.

import {
  McpServer,
  ResourceTemplate,
  createMcpHandler,
  fromJsonSchema,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type CallToolResult,
  type McpHttpHandler,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Type } from 'typebox'
import { Check, Errors } from 'typebox/value'

import { RefusedError } from '../api/client.ts'
import { sha256 } from '../system/hash.ts'
import { inputEnd } from '../system/own-process.ts'
import { VERSION } from '../system/version.ts'
import {
  TOOLS,
  readConversation,
  type McpClient,
  type RelayApi,
  type Tool,
  type ToolCall,
} from './tools.ts'
import { UNTRUSTED, conversationView } from './views.ts'

/** Validates arguments with typebox, which takes the schemas as they are. */
const VALIDATOR: jsonSchemaValidator = {
  getValidator<T>(schema: object): JsonSchemaValidator<T> {
    return (input) => {
      if (Check(schema, input)) return { valid: true, data: input as T, errorMessage: undefined }
      const problems = Errors(schema, input).map(({ instancePath, message }) =>
        `${instancePath.slice(1).replaceAll('/', '.')} ${message}`.trim(),
      )
      return { valid: false, data: undefined, errorMessage: problems.join('; ') }
    }
  },
}

const INSTRUCTIONS =
  `Sends and receives iMessages by the phone lines of this relay. ${UNTRUSTED} Reply with the tool reply to ` +
  'stay in a conversation. Where a person is wanted, or you are unsure, use hand_to_person.'

/** The client gets the whole file, in base64. */
const FILE_BYTES_MAX = 5_000_000

/** Serves MCP over HTTP, stateless. */
export function mcpHandler(clientOf: (request: Request) => McpClient): McpHttpHandler {
  return createMcpHandler(({ requestInfo }) => {
    if (requestInfo === undefined) throw new Error('An MCP request came without HTTP.')
    return createServer(clientOf(requestInfo))
  })
}

/** Serves MCP on standard input and output, until the input ends. */
export async function serveMcp(client: McpClient): Promise<void> {
  serveStdio(() => createServer(client))
  await inputEnd()
}

function createServer(client: McpClient): McpServer {
  const info = { name: 'hookline', title: 'Hookline', version: VERSION }
  const server = new McpServer(info, { instructions: INSTRUCTIONS, jsonSchemaValidator: VALIDATOR })
  for (const tool of TOOLS) if (client.may(tool.operation)) addTool(server, client, tool)
  if (client.may('listMessages')) {
    addConversations(server, client.api)
    addPrompts(server)
  }
  if (client.may('downloadAttachment')) addAttachments(server, client.api)
  return server
}

function addTool(server: McpServer, client: McpClient, tool: Tool): void {
  const { name, title, description, effect } = tool
  const annotations = {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'sends',
    idempotentHint: effect !== 'sends',
    openWorldHint: effect === 'sends',
  }
  const inputSchema = fromJsonSchema<ToolCall['args']>(tool.input, VALIDATOR)
  server.registerTool(
    name,
    { title, description, annotations, inputSchema },
    async (args, { mcpReq }) => {
      const call = JSON.stringify([client.id, mcpReq.id, name, args])
      const headers = { 'idempotency-key': `mcp-${sha256(call).toHex()}` }
      return answerOf(() => tool.run({ api: client.api, headers, args }))
    },
  )
}

/** The result as text and as data, or the relay's refusal for the model to read. */
async function answerOf(run: () => Promise<object>): Promise<CallToolResult> {
  try {
    const result = await run()
    const text = JSON.stringify(result)
    return { content: [{ type: 'text', text }], structuredContent: { ...result } }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { code = 'failed', details = null } = error instanceof RefusedError ? error : {}
    const refusal = { error: { code, message: error.message, details } }
    const text = JSON.stringify(refusal)
    return { isError: true, content: [{ type: 'text', text }], structuredContent: refusal }
  }
}

function addConversations(server: McpServer, api: RelayApi): void {
  const template = new ResourceTemplate('hookline://conversations/{id}', {
    list: async () => {
      const query = { type: 'all', limit: '20' }
      const { body } = await api.call('listConversations', { query })
      return {
        resources: body.data.map((conversation) => ({
          uri: `hookline://conversations/${conversation.id}`,
          name:
            conversation.type === 'group' ? conversation.id : conversationView(conversation).with,
          mimeType: 'application/json',
        })),
      }
    },
  })
  const about = { title: 'Conversation', description: UNTRUSTED, mimeType: 'application/json' }
  server.registerResource('conversation', template, about, async (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/json',
        text: JSON.stringify(await readConversation(api, String(id))),
      },
    ],
  }))
}

/** Files of messages: the thumbnail if there is one, otherwise the file. */
function addAttachments(server: McpServer, api: RelayApi): void {
  const template = new ResourceTemplate('hookline://attachments/{id}', { list: undefined })
  const about = { title: 'Attachment', description: 'A picture or file of a message.' }
  server.registerResource('attachment', template, about, async (uri, { id }) => {
    const { body: file } = await api.call('getAttachment', { params: { id: String(id) } })
    const params = { id: file.id }
    const query = { variant: 'thumbnail' }
    const small = await api.file('downloadAttachment', { params, query })
    if (!small.ok && (file.size ?? 0) > FILE_BYTES_MAX) {
      throw new Error(`The file is too large for MCP. The API has it at ${file.url}.`)
    }
    const response = small.ok ? small : await api.file('downloadAttachment', { params })
    if (!response.ok) throw new Error(`The file is ${file.state}.`)
    const mimeType = response.headers.get('content-type') ?? 'application/octet-stream'
    const blob = Buffer.from(await response.arrayBuffer()).toString('base64')
    return { contents: [{ uri: uri.href, mimeType, blob }] }
  })
}

function addPrompts(server: McpServer): void {
  const asked = (text: string) => ({
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  })
  const triage = {
    title: 'Triage the inbox',
    description: 'Goes through unanswered conversations and proposes what to do with each.',
  }
  server.registerPrompt('triage_inbox', triage, () =>
    asked(
      `List unanswered conversations with list_conversations, and read each. ${UNTRUSTED} For each say in one ` +
        'line who it is, what they want, how urgent it is, and whether you would reply or hand it to a person. ' +
        'Send nothing until I say so.',
    ),
  )
  const argsSchema = fromJsonSchema<{ conversation_id: string; intent?: string }>(
    Type.Object({ conversation_id: Type.String(), intent: Type.Optional(Type.String()) }),
    VALIDATOR,
  )
  const draft = {
    title: 'Draft a reply',
    description: 'Drafts a reply, and sends it only when asked.',
  }
  server.registerPrompt(
    'draft_reply',
    { ...draft, argsSchema },
    ({ conversation_id: id, intent }) =>
      asked(
        `Read the conversation ${id} with read_conversation. ${UNTRUSTED} Draft a reply in its language and ` +
          `tone${intent === undefined ? '' : `, to this end: ${intent}`}. Show it to me, and send it with reply only ` +
          'when I say so.',
      ),
  )
}
