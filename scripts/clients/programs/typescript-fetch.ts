// Runs beside `api/`, which openapi-generator makes.

import {
  Configuration,
  KeysApi,
  MessagesApi,
  ResponseError,
  WebhooksApi,
  type Message,
} from './api/index'

const { API_URL: basePath = '', API_KEY = '', API_SECRET = '' } = process.env
const configuration = new Configuration({
  basePath,
  apiKey: (name) => (name === 'X-API-Key' ? API_KEY : API_SECRET),
})
const api = new MessagesApi(configuration)

const sent = await api.sendMessage({ sendRequest: { to: '+12025550147', text: 'Hello' } })
check('send', sent.id.startsWith('msg_') && sent.status === 'later')

const messages: Message[] = (await api.listMessages({ limit: 10 })).data
check(
  'list',
  messages.some((message) => message.id === sent.id && message.status === 'later'),
)

const refused = await api.sendMessage({ sendRequest: { to: 'nobody', text: 'Hello' } }).then(
  () => null,
  (error: unknown) => error,
)
check('400', refused instanceof ResponseError && refused.response.status === 400)

const webhook = await new WebhooksApi(configuration).createWebhook({
  webhookCreation: { url: 'http://127.0.0.1:9/hook', events: ['message.received'] },
})
check('webhook', webhook.secret.startsWith('whsec_'))
check('events', webhook.events.includes('message.later'))

const key = await new KeysApi(configuration).createKey()
check('key', key.key.startsWith('hl_live_'))

function check(what: string, isRight: boolean): void {
  if (!isRight) throw new Error(`${what} went wrong`)
}
