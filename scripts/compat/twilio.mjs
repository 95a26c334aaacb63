// The library of Twilio for Node: sends, reads, lists and media, and a receiver that believes only what the library's
// own validator accepts. The first delivery of a received message gets a 500, and each one its reply in TwiML.

import { createServer } from 'node:http'

import twilio from 'twilio'

const { RELAY, TO, account_sid: sid, auth_token: token, base_url: url, port } = process.env
const client = twilio(sid, token)
client.api.baseUrl = url
const statuses = []
let inbound = 0

const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.setHeader('content-type', 'image/gif').end(GIF)
  let body = ''
  for await (const chunk of request) body += chunk
  const parameters = Object.fromEntries(new URLSearchParams(body))
  const address = `http://127.0.0.1:${port}${request.url}`
  const signature = request.headers['x-twilio-signature']
  if (!twilio.validateRequest(token, signature, address, parameters)) {
    return fail(`The validator refuses ${address} ${body}`)
  }
  if (request.url.startsWith('/status')) {
    statuses.push(`${request.url.slice('/status?n='.length)} ${parameters.MessageStatus}`)
    return response.writeHead(204).end()
  }
  inbound += 1
  if (inbound === 1) return response.writeHead(500).end()
  const reply = new twilio.twiml.MessagingResponse()
  reply.message(`You wrote: ${parameters.Body}`)
  response.setHeader('content-type', 'text/xml').end(reply.toString())
}).listen(Number(port), '127.0.0.1')

const GIF = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')

const fail = (problem) => {
  console.error(problem)
  process.exit(1)
}
const until = async (what, isThere) => {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await isThere()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return fail(`Never: ${what}`)
}

const MG = sid.replace('AC', 'MG')
const sent = await client.messages.create({
  to: TO,
  messagingServiceSid: MG,
  body: 'from twilio-node',
  statusCallback: `http://127.0.0.1:${port}/status?n=1`,
})
await until('delivered', async () => {
  const { status } = await client.messages(sent.sid).fetch()
  return ['delivered', 'read'].includes(status)
})
await until('callbacks', () => statuses.includes('1 sent') && statuses.includes('1 delivered'))

const picture = await client.messages.create({
  to: TO,
  messagingServiceSid: MG,
  body: 'a picture',
  mediaUrl: [`http://127.0.0.1:${port}/dot.gif`],
})
const [medium] = await client.messages(picture.sid).media.list()
if (medium?.contentType !== 'image/gif' || medium.parentSid !== picture.sid) fail('no medium')
const same = await client.messages(picture.sid).media(medium.sid).fetch()
const login = Buffer.from(`${sid}:${token}`).toString('base64')
const file = await fetch(RELAY + same.uri.replace('.json', ''), {
  headers: { authorization: `Basic ${login}` },
})
if (!Buffer.from(await file.arrayBuffer()).equals(GIF)) fail('another medium')

const at = new Date(Date.now() + 3_600_000)
const later = { to: TO, messagingServiceSid: MG, body: 'later', scheduleType: 'fixed', sendAt: at }
const waiting = await client.messages.create(later)
const canceled = await client.messages(waiting.sid).update({ status: 'canceled' })
if (`${waiting.status} ${canceled.status}` !== 'scheduled canceled') fail(canceled.status)

const all = await client.messages.list({ to: TO, pageSize: 2 })
if (all.length < 3 || all.at(-1).sid !== sent.sid) fail(`list: ${all.map(({ body }) => body)}`)
const wrong = await client.messages.create({ to: '12', from: sent.from, body: 'x' }).catch((e) => e)
if (wrong.code !== 21211 || wrong.status !== 400) fail(`12 was refused with ${wrong.code}`)

console.log('ready')
await until('a received message', () => inbound >= 2)
await until('its reply', async () => {
  const replies = await client.messages.list({ to: TO })
  return replies.some(({ body }) => body === 'You wrote: ping')
})
server.close()
process.exit(0)
