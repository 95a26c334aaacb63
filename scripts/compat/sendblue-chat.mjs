// A bot of Chat SDK with Sendblue's adapter, led here by SENDBLUE_API_BASE_URL: it hears a person, and answers.

import assert from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'

const { base_url: base, api_key_id: apiKey, api_secret_key: apiSecret } = process.env
const { from_number: defaultFromNumber, TO: number, RELAY: relay } = process.env
process.env.SENDBLUE_API_BASE_URL = base
const { Chat } = await import('chat')
const { createMemoryState } = await import('@chat-adapter/state-memory')
const { createSendblueAdapter } = await import('chat-adapter-sendblue')

const webhookSecret = 'a-shared-secret'
const sendblue = createSendblueAdapter({ apiKey, apiSecret, defaultFromNumber, webhookSecret })
const bot = new Chat({ userName: 'shop', adapters: { sendblue }, state: createMemoryState() })
const answered = new Promise((resolve) => {
  bot.onNewMention(async (thread, message) => {
    await thread.startTyping()
    resolve(await thread.post(`You wrote: ${message.text}`))
  })
})
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { headers } = request
  const given = new Request('http://127.0.0.1/', {
    method: 'POST',
    headers: Object.entries(headers),
    body: Buffer.concat(chunks),
  })
  const answer = await bot.webhooks.sendblue(given)
  response.writeHead(answer.status).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/receive`
await sendblue.getSdk().webhooks.create({ webhooks: [{ url, secret: webhookSecret }] })

const response = await fetch(`${relay}/api/v1/simulated/lines/${process.env.line}/events`, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'x-api-key': process.env.owner_key,
    'x-api-secret': process.env.owner_secret,
  },
  body: JSON.stringify({ type: 'message', from: number, text: 'Is it ready?' }),
})
assert.ok(response.ok, await response.text())
const late = new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 30_000))
const sent = await Promise.race([answered, late])
const { messages } = await sendblue.fetchMessages(sent.threadId)
assert.deepEqual(
  messages.map(({ text }) => text),
  ['Is it ready?', 'You wrote: Is it ready?'],
)
process.exit(0)
