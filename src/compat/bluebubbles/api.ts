// The REST API of BlueBubbles Server 1.9, as far as agent frameworks and Home Assistant's integration use it.

import { chatOf, collected, isGroupNamed, personNamed } from '../chats.ts'
import type { CompatApi, CompatHandler } from '../compat-api.ts'
import { countIn } from '../fields.ts'
import { answered, refusal } from './envelope.ts'
import {
  chatWith,
  GROUPS,
  needsHelper,
  newChat,
  pagesOf,
  sendAttachment,
  sendText,
} from './sends.ts'
import { chatView, messageView } from './views.ts'
import { createWebhook, deleteWebhook, listWebhooks, NEW_MESSAGES } from './webhooks.ts'

/** The newest version of BlueBubbles, whose API this is. */
const SERVER_VERSION = '1.9.9'
const CHATS = { limit: 1_000, offset: 10_000 }

const ping: CompatHandler = async () => answered('pong', 'Ping received!')

/** Clients only write to new people if `private_api` is true, and only type and react if the helper is connected. */
const serverInfo: CompatHandler = async ({ relay }) =>
  answered({
    server_version: SERVER_VERSION,
    private_api: true,
    helper_connected: false,
    detected_imessage: relay.lines[0]?.number ?? '',
  })

const queryChats: CompatHandler = async ({ fields, relay }) => {
  const offset = countIn(fields, 'offset', { least: 0, most: CHATS.offset, usual: 0 })
  const limit = countIn(fields, 'limit', { least: 1, most: CHATS.limit, usual: CHATS.limit })
  // A person who wrote to two lines has only one guid: the newest conversation stands for both.
  const found = await collected(
    offset + limit,
    pagesOf(relay, { type: 'all' }),
    (each) => chatOf(each).guid,
  )
  const shown = found.slice(offset)
  const metadata = { offset, limit, count: shown.length }
  return answered(shown.map(chatView), undefined, metadata)
}

const getChat: CompatHandler = async ({ params, relay }) => {
  const guid = params['guid'] ?? ''
  const person = personNamed(guid)
  const found =
    person === undefined
      ? await chatWith(pagesOf(relay, GROUPS), isGroupNamed(guid))
      : await chatWith(pagesOf(relay, { type: 'direct', handle: person }), () => true)
  return answered(chatView(found))
}

const getMessage: CompatHandler = async ({ params, relay }) => {
  const message = await relay.call('getMessage', { params: { id: params['guid'] ?? '' } })
  const { conversation_id: id, conversation_type: type } = message
  const group = type === 'group' && (await relay.call('getConversation', { params: { id } }))
  return answered(messageView(message, group ? chatView(group) : undefined))
}

const download: CompatHandler = ({ params, relay }) => relay.download(params['guid'] ?? '')

export const BLUEBUBBLES: CompatApi = {
  name: 'bluebubbles',
  title: 'BlueBubbles',
  isAtRoot: false,
  credentials: ['query'],
  scopes: [
    'messages:read',
    'messages:send',
    'attachments:read',
    'attachments:write',
    'webhooks:read',
    'webhooks:write',
    'webhooks:private',
  ],
  bodyBytesMax: 48 * 1_024 * 1_024,
  routes: {
    'GET /api/v1/ping': ping,
    'GET /api/v1/server/info': serverInfo,
    'GET /api/v1/webhook': listWebhooks,
    'POST /api/v1/webhook': createWebhook,
    'DELETE /api/v1/webhook/:id': deleteWebhook,
    'POST /api/v1/chat/query': queryChats,
    'POST /api/v1/chat/new': newChat,
    'GET /api/v1/chat/:guid': getChat,
    'POST /api/v1/message/text': sendText,
    'POST /api/v1/message/attachment': sendAttachment,
    'GET /api/v1/message/:guid': getMessage,
    'GET /api/v1/attachment/:guid/download': download,
    'POST /api/v1/message/react': needsHelper,
    'POST /api/v1/message/:guid/edit': needsHelper,
    'POST /api/v1/message/:guid/unsend': needsHelper,
    'POST /api/v1/chat/:guid/read': needsHelper,
    'POST /api/v1/chat/:guid/typing': needsHelper,
    'DELETE /api/v1/chat/:guid/typing': needsHelper,
    'POST /api/v1/chat/:guid/leave': needsHelper,
  },
  isForAgents: true,
  refusal,
  connect: ({ url, key, secret }) => ({
    server_url: `${url}/compat/bluebubbles`,
    password: `${key}:${secret}`,
  }),
  webhook: NEW_MESSAGES,
}
