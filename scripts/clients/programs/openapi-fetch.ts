// Runs beside `api.ts`, which openapi-typescript makes.

import createClient from 'openapi-fetch'

import type { components, paths } from './api.ts'

const { API_URL: baseUrl = '', API_KEY = '', API_SECRET = '' } = process.env
const headers = { 'X-API-Key': API_KEY, 'X-API-Secret': API_SECRET }
const client = createClient<paths>({ baseUrl, headers })

const sent = await client.POST('/api/v1/messages/send', {
  body: { to: '+12025550147', text: 'Hello' },
})
const id: string = sent.data?.id ?? ''
check('send', id.startsWith('msg_') && sent.data?.status === 'later')

const listed = await client.GET('/api/v1/messages', { params: { query: { limit: 10 } } })
const messages: components['schemas']['Message'][] = listed.data?.data ?? []
check(
  'list',
  messages.some((message) => message.id === id && message.status === 'later'),
)

const refused = await client.POST('/api/v1/messages/send', {
  body: { to: 'nobody', text: 'Hello' },
})
check('400', refused.response.status === 400 && refused.error?.error.code === 'invalid_recipient')

const webhook = await client.POST('/api/v1/webhooks', {
  body: { url: 'http://127.0.0.1:9/hook', events: ['message.received'] },
})
check('webhook', webhook.data?.secret.startsWith('whsec_') === true)
check('events', webhook.data?.events.includes('message.later') === true)

const key = await client.POST('/api/v1/keys')
check('key', key.data?.key.startsWith('hl_live_') === true)

function check(what: string, isRight: boolean): void {
  if (!isRight) throw new Error(`${what} went wrong`)
}
