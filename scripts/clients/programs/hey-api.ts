// Runs beside `api/`, which @hey-api/openapi-ts makes.

import { client } from './api/client.gen'
import { createKey, createWebhook, listMessages, sendMessage } from './api/sdk.gen'
import type { EventPayload, Message } from './api/types.gen'

const { API_URL: baseUrl = '', API_KEY = '', API_SECRET = '' } = process.env
client.setConfig({
  baseUrl,
  auth: ({ name }) => (name === 'X-API-Key' ? API_KEY : API_SECRET),
})

const sent = await sendMessage({ body: { to: '+12025550147', text: 'Hello' } })
const id: string = sent.data?.id ?? ''
check('send', id.startsWith('msg_') && sent.data?.status === 'later')

const listed = await listMessages({ query: { limit: 10 } })
const messages: Message[] = listed.data?.data ?? []
check(
  'list',
  messages.some((message) => message.id === id && message.status === 'later'),
)

const refused = await sendMessage({ body: { to: 'nobody', text: 'Hello' } })
check('400', refused.response?.status === 400)
const { error } = refused
check('code', error !== undefined && 'error' in error && error.error.code === 'invalid_recipient')

const webhook = await createWebhook({
  body: { url: 'http://127.0.0.1:9/hook', events: ['message.received'] },
})
check('webhook', webhook.data?.secret.startsWith('whsec_') === true)
check('events', webhook.data?.events.includes('message.later') === true)

const key = await createKey()
check('key', key.data?.key.startsWith('hl_live_') === true)

const event: EventPayload['event'] = 'message.received'
check('event', event !== undefined)

function check(what: string, isRight: boolean): void {
  if (!isRight) throw new Error(`${what} went wrong`)
}
