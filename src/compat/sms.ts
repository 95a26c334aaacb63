// The API of generic SMS gateways, for the "custom gateway" settings of other products. Its paths are those that these
// products append: Uptime Kuma's "SMS Gateway" (`/api/v1/sms/send`), and SMS Gate (`/message`, `/messages`).

import type { AnyEvent, EventPayload } from '../api/webhooks.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { EventName } from '../domain/webhook.ts'
import { mayHaveArrived } from './chats.ts'
import type {
  CompatApi,
  CompatCall,
  CompatHandler,
  CompatMessage,
  CompatState,
  Fields,
  SentEvent,
  BodyToSign,
  WebhookFormat,
} from './compat-api.ts'
import { recipientsIn, textIn } from './fields.ts'

const RECIPIENT_NAMES = [
  'to',
  'phone',
  'phone_number',
  'recipient',
  'number',
  'numbers',
  'phoneNumbers',
  'recipients',
  'To',
]
const TEXT_NAMES = ['text', 'message', 'body', 'content', 'msg', 'Body']

const GATE_STATES: Readonly<Record<string, string>> = {
  queued: 'Pending',
  sending: 'Processed',
  uncertain: 'Processed',
  sent: 'Sent',
  delivered: 'Delivered',
  read: 'Delivered',
  failed: 'Failed',
  expired: 'Failed',
}
/** Several messages get one state: the first of these that any has. A client resends all of them after a failure. */
const GATE_ORDER = ['Pending', 'Processed', 'Sent', 'Delivered', 'Failed']
const ID_SEPARATOR = ','

const send: CompatHandler = async ({ fields, relay }) => {
  const states = await relay.send(messagesIn(fields))
  const failure = states.find((state) => state.failure !== null)?.failure ?? null
  // Reports success if any message was accepted: after a failure a client resends to all recipients.
  const accepted = states.find((state) => state.failure === null)
  const status = accepted?.status ?? 'failed'
  return {
    status: 200,
    body: {
      success: accepted !== undefined,
      id: states.map(({ id }) => id).join(ID_SEPARATOR),
      status,
      ...(failure === null ? {} : { message: failure }),
      messages: states.map(({ id, to, status: each }) => ({ id, to, status: each })),
    },
  }
}

const sendByGate: CompatHandler = async (call) => {
  if (call.fields['isEncrypted'] === true) {
    throw invalidRequest({
      path: 'isEncrypted',
      message: 'must be false: the relay has no passphrase',
    })
  }
  return { status: 202, body: gateState(await call.relay.send(messagesIn(call.fields))) }
}

const gateStateOf: CompatHandler = async ({ params, relay }: CompatCall) => {
  const ids = (params['id'] ?? '').split(ID_SEPARATOR)
  return { status: 200, body: gateState(await Promise.all(ids.map((id) => relay.state(id)))) }
}

type EventMessage = EventPayload['message']

function failureIn(event: AnyEvent) {
  const message = 'message' in event ? event.message : null
  return { status: 'failed', error: message?.error ?? null } as const
}

/** SMS Gate's name of each event, and of its time field. */
const GATE_EVENTS: Partial<Record<EventName, readonly [name: string, time: string]>> = {
  'message.received': ['sms:received', 'receivedAt'],
  'message.sent': ['sms:sent', 'sentAt'],
  'message.delivered': ['sms:delivered', 'deliveredAt'],
  'message.failed': ['sms:failed', 'failedAt'],
}

function gatePayload(message: EventMessage, line: string | null) {
  const { id: messageId, handle: person, text, isFromMe, error } = message
  const common = { messageId, phoneNumber: person, simNumber: null }
  if (!isFromMe) return { ...common, sender: person, recipient: line, message: text }
  const sent = { ...common, sender: line, recipient: person }
  return error === undefined ? { ...sent, partsCount: 1 } : { ...sent, reason: error?.message }
}

/** The webhooks of SMS Gate 1.50. */
const GATE_WEBHOOK: WebhookFormat = {
  about: 'For programs that take the webhooks of SMS Gate.',
  events: Object.keys(GATE_EVENTS) as EventName[], // The keys of the record.
  // SMS Gate can't express a failure after which the message may have arrived.
  says: (event) => event.event !== 'message.failed' || !mayHaveArrived(failureIn(event)),
  contentType: 'application/json',
  body: ({ id, webhookId, event, time, line }: SentEvent) => {
    const [name = '', timeName = ''] = GATE_EVENTS[event.event] ?? []
    const message = 'message' in event ? event.message : null
    const payload = { ...(message && gatePayload(message, line)), [timeName]: time }
    return JSON.stringify({ deviceId: event.phone_line_id, event: name, id, webhookId, payload })
  },
  headers: ({ body, timestamp, secret }: BodyToSign) => {
    const hash = new Bun.CryptoHasher('sha256', secret).update(`${body}${timestamp}`)
    return { 'x-timestamp': String(timestamp), 'x-signature': hash.digest('hex') }
  },
}

export const SMS: CompatApi = {
  name: 'sms',
  title: 'SMS gateway',
  isAtRoot: false,
  credentials: ['basic', 'bearer', 'one header', 'two headers'],
  scopes: ['messages:send', 'messages:read'],
  bodyBytesMax: 256 * 1_024,
  routes: {
    'POST /send': send,
    'POST /api/v1/sms/send': send,
    'POST /message': sendByGate,
    'POST /messages': sendByGate,
    'GET /message/:id': gateStateOf,
    'GET /messages/:id': gateStateOf,
  },
  refusal: ({ status, code, message }) => ({
    status,
    body: { success: false, status: 'failed', code, error: message, message },
  }),
  connect: ({ url, key, secret }) => ({
    url: `${url}/compat/sms`,
    authorization: `Bearer ${key}:${secret}`,
    basic_user: key,
    basic_password: secret,
    api_key: `${key}:${secret}`,
  }),
  webhook: GATE_WEBHOOK,
}

function messagesIn(fields: Fields): readonly CompatMessage[] {
  const { textMessage } = fields
  const inner = typeof textMessage === 'object' && textMessage !== null ? textMessage : {}
  const text = textIn({ ...inner, ...fields }, TEXT_NAMES)
  if (text === undefined) throw invalidRequest({ path: 'text', message: 'is required' })
  const requestId = idIn(fields['id'])
  return recipientsIn(fields, RECIPIENT_NAMES).map((to) => ({ to, text, requestId }))
}

function idIn(value: unknown): string | undefined {
  const id = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return id === '' ? undefined : id
}

function gateState(states: readonly CompatState[]) {
  const recipients = states.map(({ to, status, failure }) => ({
    phoneNumber: to,
    state: GATE_STATES[status] ?? 'Pending',
    ...(failure === null ? {} : { error: failure }),
  }))
  const found = recipients.map(({ state }) => state)
  return {
    id: states.map(({ id }) => id).join(ID_SEPARATOR),
    state: GATE_ORDER.find((state) => found.includes(state)) ?? 'Pending',
    isHashed: false,
    isEncrypted: false,
    recipients,
  }
}
