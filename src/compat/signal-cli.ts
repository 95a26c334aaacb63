// The REST API of signal-cli (bbernhard/signal-cli-rest-api), as far as programs that only send use it: Home
// Assistant's `signal_messenger`, Apprise's `signal://` and Uptime Kuma's Signal.

import { invalidRequest } from '../domain/errors.ts'
import type { CompatApi, CompatFile, CompatHandler, WebhookFormat } from './compat-api.ts'
import { recipientsIn, textIn } from './fields.ts'

const about: CompatHandler = async () => ({
  status: 200,
  body: {
    versions: ['v1', 'v2'],
    build: 2,
    mode: 'normal',
    version: 'hookline',
    capabilities: { 'v2/send': [] },
  },
})

const send: CompatHandler = async ({ fields, relay }) => {
  const recipients = recipientsIn(fields, ['recipients', 'recipient'])
  const group = recipients.find((recipient) => recipient.startsWith('group.'))
  if (group !== undefined) {
    const message = 'must be phone numbers: groups of Signal are not on this relay'
    throw invalidRequest({ path: 'recipients', message })
  }
  const text = textIn(fields, ['message']) ?? ''
  const from = textIn(fields, ['number'])
  const files = filesIn(fields['base64_attachments'] ?? fields['base64_attachment'])
  const attachmentIds: string[] = []
  for (const file of files) attachmentIds.push(await relay.upload(file))
  const states = await relay.send(recipients.map((to) => ({ to, text, from, attachmentIds })))
  const failure = states.find((state) => state.failure !== null)?.failure
  if (failure !== undefined && states.length === 1) {
    return { status: 400, body: { error: failure } }
  }
  return {
    status: 201,
    body: {
      timestamp: String(states[0]?.createdAtMs ?? 0),
      messages: states.map(({ id, to, status }) => ({ id, recipient: to, status })),
    },
  }
}

/** The format in which the REST API posts to its `RECEIVE_WEBHOOK_URL`. It has no signature. */
const RECEIVED: WebhookFormat = {
  about: 'For programs that take the webhooks of signal-cli-rest-api: received messages only.',
  events: ['message.received'],
  contentType: 'application/json',
  body: ({ event, at, line }) => {
    const { handle = '', text = '' } = ('message' in event ? event.message : null) ?? {}
    const isNumber = handle.startsWith('+')
    return JSON.stringify({
      jsonrpc: '2.0',
      method: 'receive',
      params: {
        envelope: {
          source: handle,
          sourceNumber: isNumber ? handle : null,
          sourceUuid: null,
          sourceName: handle,
          sourceDevice: 1,
          timestamp: at,
          dataMessage: { timestamp: at, message: text, expiresInSeconds: 0, viewOnce: false },
        },
        account: line ?? '',
      },
    })
  },
  headers: () => ({}),
}

export const SIGNAL_CLI: CompatApi = {
  name: 'signal-cli',
  title: 'signal-cli REST API',
  // Apprise's `signal://` URLs can't have a path.
  isAtRoot: true,
  credentials: ['basic', 'bearer', 'one header'],
  scopes: ['messages:send', 'messages:read', 'attachments:write'],
  bodyBytesMax: 48 * 1_024 * 1_024,
  routes: { 'GET /v1/about': about, 'POST /v2/send': send, 'POST /v1/send': send },
  refusal: ({ status, message }) => ({ status, body: { error: message } }),
  connect: ({ url, key, secret, numbers }) => ({
    url: `${url.replace('://', `://${key}:${secret}@`)}/compat/signal-cli`,
    number: numbers[0] ?? '',
  }),
  webhook: RECEIVED,
}

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/

/** Files in base64, plain or as `data:TYPE;filename=NAME;base64,…`. */
function filesIn(value: unknown): readonly CompatFile[] {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value ?? []].flat()
  return texts.map((given, index) => {
    const text = typeof given === 'string' ? given : ''
    const [head = '', type = '', parameters = ''] = DATA_URL.exec(text) ?? []
    const bytes = Buffer.from(text.slice(head.length), 'base64')
    if (bytes.length === 0) {
      throw invalidRequest({ path: 'base64_attachments', message: 'must be files in base64' })
    }
    const name = /;filename=([^;]+)/.exec(parameters)?.[1] ?? `file-${index + 1}`
    return { bytes, name, type: type === '' ? null : type }
  })
}
