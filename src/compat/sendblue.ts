// The API of Sendblue, as far as its SDK's programs send, read and receive: `SENDBLUE_API_BASE_URL` leads them here.

import type { Webhook } from '../api/webhooks.ts'
import { invalidRequest } from '../domain/errors.ts'
import { isSameUrl } from '../domain/webhook-url.ts'
import type { EventName } from '../domain/webhook.ts'
import { collected, messageOf, statusOf, type ReportedMessage } from './chats.ts'
import type {
  CompatAnswer,
  CompatApi,
  CompatHandler,
  CompatMessage,
  CompatRelay,
  Fields,
  WebhookFormat,
} from './compat-api.ts'
import { countIn, textIn } from './fields.ts'

const STATES: Readonly<Record<string, string>> = {
  queued: 'QUEUED',
  sending: 'PENDING',
  uncertain: 'PENDING',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'DELIVERED',
  failed: 'ERROR',
  expired: 'ERROR',
  received: 'RECEIVED',
}

const sendMessage: CompatHandler = async ({ fields, relay }) => {
  const to = textIn(fields, ['number'])
  if (to === undefined) throw invalidRequest({ path: 'number', message: 'is required' })
  return send(relay, fields, to)
}

const sendGroupMessage: CompatHandler = async ({ fields, relay }) => {
  const conversationId = textIn(fields, ['group_id'])
  if (conversationId !== undefined) return send(relay, fields, { conversationId })
  const message = 'is required: a line cannot start a group'
  throw invalidRequest({ path: 'group_id', message })
}

async function send(
  relay: CompatRelay,
  fields: Fields,
  to: CompatMessage['to'],
): Promise<CompatAnswer> {
  const mediaUrl = textIn(fields, ['media_url']) ?? ''
  const callback = textIn(fields, ['status_callback']) ?? ''
  const reply = Object(fields['reply_to']) as Fields // A value of another type has no fields.
  const [state] = await relay.send([
    {
      to,
      text: textIn(fields, ['content']) ?? '',
      from: textIn(fields, ['from_number']),
      mediaUrls: mediaUrl === '' ? [] : [mediaUrl],
      callbackUrl: callback === '' ? undefined : callback,
      replyTo: textIn(reply, ['message_handle']),
    },
  ])
  // `relay.send` returns one state per message.
  if (state === undefined) throw new Error('A send has no outcome.')
  return { status: 200, body: { ...viewOf(state.message), media_url: mediaUrl } }
}

const getStatus: CompatHandler = async ({ fields, relay }) => {
  const id = textIn(fields, ['handle']) ?? ''
  return { status: 200, body: viewOf(await relay.call('getMessage', { params: { id } })) }
}

const getMessage: CompatHandler = async ({ params, relay }) => {
  const message = await relay.call('getMessage', { params: { id: params['id'] ?? '' } })
  return { status: 200, body: { status: 'OK', data: viewOf(message) } }
}

const LIMIT = { least: 1, most: 100, usual: 50 }
const OFFSET = { least: 0, most: 10_000, usual: 0 }

const listMessages: CompatHandler = async ({ fields, relay }) => {
  const limit = countIn(fields, 'limit', LIMIT)
  const offset = countIn(fields, 'offset', OFFSET)
  if (textIn(fields, ['order_direction'])?.toLowerCase() === 'asc') {
    throw invalidRequest({ path: 'order_direction', message: 'must be desc: newest first' })
  }
  const line = textIn(fields, ['sendblue_number'])
  const sent = textIn(fields, ['is_outbound'])
  const query = {
    type: textIn(fields, ['message_type']) === 'message' ? 'direct' : 'all',
    handle: textIn(fields, ['number']),
    conversation_id: textIn(fields, ['group_id']),
    phone_line_id: line === undefined ? undefined : relay.lineWith(line),
    direction: sent === undefined ? undefined : DIRECTIONS[sent],
    created_after: textIn(fields, ['created_at_gte']),
    created_before: textIn(fields, ['created_at_lte']),
  }
  const found = await collected(offset + limit + 1, (page) =>
    relay.call('listMessages', { query: { ...query, ...page } }),
  )
  const data = found.slice(offset, offset + limit).map(viewOf)
  const hasMore = found.length > offset + limit
  // Only the entries that were read: counting all would read all.
  const pagination = { hasMore, limit, offset, total: found.length }
  return { status: 200, body: { status: 'OK', data, pagination } }
}

const DIRECTIONS: Readonly<Record<string, string>> = { true: 'outbound', false: 'inbound' }

/** Lines can't show a typing indicator, but programs that ask for one must not fail. */
const sendTyping: CompatHandler = async ({ fields }) => {
  const number = textIn(fields, ['number']) ?? ''
  return { status: 200, body: { status: 'SENT', number, error_message: null } }
}

const EVENTS = {
  receive: ['message.received', 'group_message.received'],
  outbound: [
    'message.sent',
    'message.delivered',
    'message.failed',
    'group_message.sent',
    'group_message.failed',
  ],
} as const satisfies Readonly<Record<string, readonly EventName[]>>
type Kind = keyof typeof EVENTS
const KINDS = Object.keys(EVENTS) as Kind[] // The keys of the record.

type Wanted = { readonly kind: Kind; readonly url: string; readonly secret: string | undefined }

const listWebhooks: CompatHandler = async ({ relay }) => ({
  status: 200,
  body: { status: 'OK', webhooks: byKind(await relay.webhooks()) },
})

const addWebhooks: CompatHandler = async ({ fields, relay }) => {
  await subscribe(relay, wantedIn(fields['webhooks'], kindIn(fields), fields))
  return {
    status: 200,
    body: { status: 'OK', message: 'Webhooks added', webhooks: byKind(await relay.webhooks()) },
  }
}

const replaceWebhooks: CompatHandler = async ({ fields, relay }) => {
  const given = Object(fields['webhooks']) as Fields // A value of another type has no fields.
  const wanted = KINDS.flatMap((kind) => wantedIn(given[kind] ?? [], kind, given))
  const own = await relay.webhooks()
  await subscribe(relay, wanted)
  await remove(
    relay,
    own.filter((webhook) => !wanted.some((each) => isFor(webhook, each))),
  )
  return {
    status: 200,
    body: { status: 'OK', message: 'Webhooks updated', webhooks: byKind(await relay.webhooks()) },
  }
}

const deleteWebhooks: CompatHandler = async ({ fields, relay }) => {
  const wanted = wantedIn(fields['webhooks'], kindIn(fields), fields)
  const own = await relay.webhooks()
  await remove(
    relay,
    own.filter((webhook) => wanted.some((each) => isFor(webhook, each))),
  )
  return { status: 200, body: { status: 'OK', message: 'Webhooks deleted' } }
}

async function subscribe(relay: CompatRelay, wanted: readonly Wanted[]): Promise<void> {
  for (const { kind, url, secret } of wanted) {
    await relay.subscribe({ url, events: EVENTS[kind], secret, hasFileLinks: true })
  }
}

async function remove(relay: CompatRelay, webhooks: readonly Webhook[]): Promise<void> {
  for (const { id } of webhooks) await relay.call('deleteWebhook', { params: { id } })
}

function isFor({ url, events }: Webhook, wanted: Omit<Wanted, 'secret'>): boolean {
  return isSameUrl(url, wanted.url) && kindOf(events) === wanted.kind
}

function kindOf(events: readonly EventName[]): Kind {
  return events.some((name) => name.endsWith('.received')) ? 'receive' : 'outbound'
}

function byKind(webhooks: readonly Webhook[]): object {
  return Object.fromEntries(
    KINDS.map((kind) => {
      const found = webhooks.filter(({ events }) => kindOf(events) === kind)
      return [kind, found.map(({ url }) => url)]
    }),
  )
}

function kindIn(fields: Fields): Kind {
  const type = textIn(fields, ['type']) ?? 'receive'
  const kind = KINDS.find((each) => each === type)
  if (kind !== undefined) return kind
  throw invalidRequest({ path: 'type', message: `must be one of ${KINDS.join(', ')}` })
}

/** Sent as a header, so it must be printable; Sendblue never shows it. */
const SECRET = /^[\x21-\x7e]{1,255}$/

/** The webhooks of a request, each a URL or an object with a secret of its own. */
function wantedIn(value: unknown, kind: Kind, { globalSecret }: Fields): readonly Wanted[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value]
  return given.map((each) => {
    const { url = each, secret = globalSecret } = Object(each) as Fields // A text has no such fields.
    if (typeof url !== 'string' || url === '') {
      throw invalidRequest({ path: 'webhooks', message: 'must be URLs, or objects with a url' })
    }
    if (secret === undefined) return { kind, url, secret }
    if (typeof secret === 'string' && SECRET.test(secret)) return { kind, url, secret }
    const message = 'must have 1 to 255 printable ASCII characters without spaces'
    throw invalidRequest({ path: 'secret', message })
  })
}

const CALLBACK: WebhookFormat = {
  about: 'For programs that take the callbacks of Sendblue.',
  events: [...EVENTS.receive, ...EVENTS.outbound],
  contentType: 'application/json',
  body: (sent) => {
    const message = messageOf(sent)
    return JSON.stringify(message === null ? { status: 'TEST' } : viewOf(message))
  },
  headers: ({ secret }) => ({ 'sb-signing-secret': secret }),
}

function viewOf(message: ReportedMessage): object {
  const { direction, phone_number: line, sender, created_at: created } = message
  const isOutbound = direction === 'outbound'
  const person = sender?.handle ?? message.handle
  return {
    accountEmail: '',
    content: message.text,
    is_outbound: isOutbound,
    message_handle: message.id,
    date_created: created,
    date_sent: message.sent_at ?? created,
    date_updated: message.updated_at,
    from_number: isOutbound ? line : person,
    number: person,
    to_number: isOutbound ? person : line,
    sendblue_number: line,
    service: message.service,
    was_downgraded: message.downgraded_at !== undefined,
    // Sendblue has only one file per message.
    media_url: message.attachments?.[0]?.download_url ?? '',
    participants: [person, line],
    send_style: '',
    opted_out: false,
    ...stateOf(message),
    ...groupOf(message),
  }
}

function stateOf(reported: ReportedMessage): object {
  const status = STATES[statusOf(reported)] ?? 'PENDING'
  const failure = status === 'ERROR' ? reported.error : null
  const { message = null, code = null } = failure ?? {}
  return {
    status,
    error_code: null,
    error_message: message,
    error_reason: code,
    error_detail: null,
  }
}

function groupOf({ conversation_type: type, conversation_id: id = '' }: ReportedMessage): object {
  const isGroup = type === 'group'
  return { message_type: type ?? 'message', group_id: isGroup ? id : '', group_display_name: null }
}

export const SENDBLUE: CompatApi = {
  name: 'sendblue',
  title: 'Sendblue',
  isAtRoot: false,
  credentials: ['sb headers'],
  scopes: [
    'messages:send',
    'messages:read',
    'attachments:read',
    'webhooks:read',
    'webhooks:write',
    'webhooks:private',
  ],
  bodyBytesMax: 256 * 1_024,
  routes: {
    'POST /api/send-message': sendMessage,
    'POST /api/send-group-message': sendGroupMessage,
    'GET /api/status': getStatus,
    'GET /api/v2/messages': listMessages,
    'GET /api/v2/messages/:id': getMessage,
    'POST /api/send-typing-indicator': sendTyping,
    'GET /api/account/webhooks': listWebhooks,
    'POST /api/account/webhooks': addWebhooks,
    'PUT /api/account/webhooks': replaceWebhooks,
    'DELETE /api/account/webhooks': deleteWebhooks,
  },
  refusal: ({ status, code, message }) => ({
    status,
    body: {
      status: 'ERROR',
      error_code: status,
      error_reason: code,
      error_message: message,
      message,
    },
  }),
  connect: ({ url, key, secret, numbers }) => ({
    base_url: `${url}/compat/sendblue`,
    api_key_id: key,
    api_secret_key: secret,
    from_number: numbers[0] ?? '',
  }),
  webhook: CALLBACK,
}
