// The Twilio adapter of the Chat SDK: a received message, its verification, the answer, and the history of the thread.

import { createServer } from 'node:http'

import { createTwilioAdapter } from '@chat-adapter/twilio'

const { TO, account_sid: accountSid, auth_token: authToken, base_url: apiUrl, port } = process.env
const webhookUrl = `http://127.0.0.1:${port}/sms`
const settings = { accountSid, authToken, apiUrl, webhookUrl }
const adapter = createTwilioAdapter({
  ...settings,
  messagingServiceSid: accountSid.replace('AC', 'MG'),
})
const heard = []
await adapter.initialize({
  processMessage: (_adapter, threadId, message) => heard.push({ threadId, message }),
})
createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const given = { method: 'POST', headers: request.headers, body }
  const answer = await adapter.handleWebhook(new Request(webhookUrl, given))
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
}).listen(Number(port), '127.0.0.1')

const thread = await adapter.openDM(TO)
await adapter.postMessage(thread, { markdown: 'from the *Chat SDK*' })
console.log('ready')
while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 100))
const [{ threadId, message }] = heard
await adapter.postMessage(threadId, { markdown: `You wrote: ${message.text}` })
for (let tries = 0; tries < 100; tries += 1) {
  const { messages } = await adapter.fetchMessages(threadId)
  const texts = messages.map(({ text }) => text)
  if (texts.includes('ping') && texts.includes('You wrote: ping')) process.exit(0)
  await new Promise((resolve) => setTimeout(resolve, 100))
}
console.error('The thread lacks messages.')
process.exit(1)
