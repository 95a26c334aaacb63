// Sendblue's SDK: sends, asks for states and lists, keeps webhooks, and hears by both of its callbacks.

import assert from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'

import SendblueAPI from 'sendblue'

const { base_url: baseURL, api_key_id: apiKey, api_secret_key: apiSecret } = process.env
const { from_number: from, TO: number, RELAY: relay } = process.env
const SECRET = 'a-shared-secret'

const heard = []
const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    const secret = request.headers['sb-signing-secret']
    heard.push({ path: request.url, secret, ...JSON.parse(body) })
    response.end()
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const own = `http://127.0.0.1:${server.address().port}`

const client = new SendblueAPI({ baseURL, apiKey, apiSecret })
const sent = await client.messages.send({ number, from_number: from, content: 'from the SDK' })
assert.deepEqual([sent.status, sent.number, sent.is_outbound], ['SENT', number, true])
const status_callback = `${own}/status`
const content = 'with a callback'
await client.messages.send({ number, from_number: from, content, status_callback })
const state = await client.messages.getStatus({ handle: sent.message_handle })
assert.ok(['SENT', 'DELIVERED'].includes(state.status), state.status)
const one = await client.messages.retrieve(sent.message_handle)
assert.equal(one.data.content, 'from the SDK')
const list = await client.messages.list({ number, is_outbound: 'true', limit: 1 })
assert.deepEqual([list.data.length, list.pagination.hasMore], [1, true])
const typing = await client.typingIndicators.send({ number, from_number: from })
assert.equal(typing.status, 'SENT')

await client.webhooks.create({
  webhooks: [`${own}/receive`],
  type: 'receive',
  globalSecret: SECRET,
})
assert.deepEqual((await client.webhooks.list()).webhooks.receive, [`${own}/receive`])
await write('Is it ready?')
await until(() => heard.some(({ status }) => status === 'RECEIVED'))
await until(() => heard.some(({ path, status }) => path === '/status' && status === 'DELIVERED'))
const received = heard.find(({ status }) => status === 'RECEIVED')
assert.deepEqual(
  [received.content, received.from_number, received.sendblue_number, received.secret],
  ['Is it ready?', number, from, SECRET],
)
await client.webhooks.update({ webhooks: { receive: [] } })
assert.deepEqual((await client.webhooks.list()).webhooks.receive, [])
await assert.rejects(
  client.messages.send({ number: '12', from_number: from, content: 'to nobody' }),
  SendblueAPI.BadRequestError,
)
const wrong = new SendblueAPI({ baseURL, apiKey, apiSecret: `${apiSecret}x` })
await assert.rejects(wrong.messages.list(), SendblueAPI.AuthenticationError)
server.close()

async function write(text) {
  const response = await fetch(`${relay}/api/v1/simulated/lines/${process.env.line}/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': process.env.owner_key,
      'x-api-secret': process.env.owner_secret,
    },
    body: JSON.stringify({ type: 'message', from: number, text }),
  })
  assert.ok(response.ok, await response.text())
}

async function until(isIt) {
  for (let count = 0; count < 300; count += 1) {
    if (isIt()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`It never came: ${JSON.stringify(heard)}`)
}
