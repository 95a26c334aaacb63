// The same seed and the same script give the same bytes. `HOOKLINE_TEST_SCALE=20` makes it a hundred runs.

import { expect, test } from 'bun:test'

import { startFake } from '../support/fake-relay.ts'
import { SCALE } from '../support/scale.ts'

const RUNS = Math.max(2, 5 * SCALE)

/** Everything that a client and its webhook saw in one run. */
type Seen = { readonly answers: readonly string[]; readonly events: readonly string[] }

test(`${RUNS} runs of one script give equal answers, events and signatures`, async () => {
  using receiver = startReceiver()
  const first = await runOnce(receiver, 7)
  const others: Seen[] = []
  for (let run = 1; run < RUNS; run += 1) others.push(await runOnce(receiver, 7))
  const otherSeed = await runOnce(receiver, 8)

  expect(first.answers.length).toBeGreaterThan(20)
  expect(first.events.length).toBeGreaterThan(20)
  expect(first.events.join('\n')).toContain('"event":"message.read"')
  for (const other of others) expect(other).toEqual(first)
  expect(otherSeed.answers).not.toEqual(first.answers)
}, 600_000)

async function runOnce(receiver: Receiver, seed: number): Promise<Seen> {
  receiver.events.length = 0
  await using fake = await startFake({ seed, webhook: receiver.url })
  const answers: string[] = []
  const call = async (method: string, path: string, body?: unknown, headers: object = {}) => {
    const {
      status,
      text,
      headers: given,
      body: read,
    } = await fake.call(method, path, body, headers)
    answers.push(`${status} ${given.get('x-request-id')} ${text}`)
    return read
  }
  const send = (to: string, text: string) => call('POST', '/api/v1/messages/send', { to, text })
  for (const end of ['0123', '0196', '0184', '0183', '0188', '0180', '0193', '0194']) {
    await send(`+1202555${end}`, `To ${end}`)
  }
  await call('POST', '/api/v1/simulated/clock', { advance: '5s' })
  const [line] = (await call('GET', '/api/v1/phone-lines')).data
  const event = { type: 'message', from: '+12025550123', text: 'STOP' }
  await call('POST', `/api/v1/simulated/lines/${line.id}/events`, event)
  const file = { filename: 'a.txt', content_base64: btoa('A file') }
  const withFile = { type: 'message', from: '+12025550177', attachments: [file] }
  await call('POST', `/api/v1/simulated/lines/${line.id}/events`, withFile)
  await call('POST', '/api/v1/simulated/clock', { advance: '1m' })
  await send('+12025550123', 'After STOP')
  await call('POST', '/api/v1/webhooks', { url: receiver.url, events: ['message.sent'] })
  receiver.answer.status = 500
  await send('+12025550177', 'Retried')
  await call('POST', '/api/v1/simulated/clock', { advance: '20m' })
  receiver.answer.status = 200
  await call('POST', '/api/v1/simulated/restart')
  await call('POST', '/api/v1/simulated/clock', { advance: '1h' })
  const { authorization } = fake.connections()['sms'] ?? {}
  await call('POST', '/compat/sms/send', { to: '+12025550196', text: 'SMS' }, { authorization })
  await call('POST', '/api/v1/keys', { name: 'Another', scopes: ['messages:send'] })
  for (const path of [
    'messages',
    'conversations',
    'events?after=oldest',
    'deliveries',
    'keys',
    'health',
  ]) {
    await call('GET', `/api/v1/${path}`)
  }
  await call('POST', '/api/v1/simulated/reset')
  await send('+12025550123', 'Again')
  await call('GET', '/api/v1/messages')
  return { answers, events: receiver.events.toSorted() }
}

type Receiver = ReturnType<typeof startReceiver>

function startReceiver() {
  const events: string[] = []
  const answer = { status: 200 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request): Promise<Response> {
      const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
      const headers = signed.map((name) => request.headers.get(name))
      events.push([...headers, await request.text()].join(' '))
      return new Response(null, answer)
    },
  })
  return {
    events,
    answer,
    url: `http://127.0.0.1:${server.port}/hook`,
    [Symbol.dispose]: () => void server.stop(true),
  }
}
