// What a message needs decides which lines may have it, now and later; and a request that is repeated
// fetches nothing again.

import { expect, test } from 'bun:test'

import { ABLE, startRich } from '../support/rich-relay.ts'
import { refuses, ScriptedDriver, TEXTS_ONLY } from '../support/scripted-driver.ts'

const TO = '+15550001234'
const ASYNC = { Prefer: 'respond-async' }
const THREE = ['+12025550801', '+12025550802', '+12025550803']

type Rich = Awaited<ReturnType<typeof startRich>>

async function withFile(relay: Rich, more: Record<string, unknown> = {}) {
  return { to: TO, text: 'hi', attachments: [{ id: await relay.file('menu') }], ...more }
}

test('a file goes by the line that can send it, though another one comes first', async () => {
  await using relay = await startRich({ numbers: THREE })
  const [first, second] = relay.devices
  if (first !== undefined) first.capabilities = TEXTS_ONLY
  await first?.goOnline()

  const { body } = await relay.send(await withFile(relay))

  expect(body.from).toBe(THREE[1])
  expect([first?.given.length, second?.sent.length]).toEqual([0, 1])
})

test('what no line can do is refused, and the missing capability is named', async () => {
  await using relay = await startRich({ capabilities: TEXTS_ONLY })
  const { line } = relay
  const reply = { reply_to: { message_id: 'msg_1' } }

  const answers = [
    await relay.send(await withFile(relay)),
    await relay.send(await withFile(relay, { phone_line_id: line.id })),
    await relay.send({ to: TO, text: 'hi', service: 'SMS' }),
    await relay.send({ to: TO, text: 'hi', service: 'auto' }),
    await relay.send({ to: TO, text: 'hi', service: 'iMessage', phone_line_id: line.id }),
    await relay.send({ to: TO, text: 'hi', ...reply }),
  ]

  expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual(
    Array(6).fill('422 not_supported'),
  )
  expect(answers.map(({ body }) => body.error.details)).toEqual(
    [...Array(2).fill('attachments'), ...Array(3).fill('choose_service'), 'replies'].map(
      (capability) => ({ capability }),
    ),
  )
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('a reply that may be left out is sent plainly', async () => {
  await using relay = await startRich()

  const { status } = await relay.send({
    to: TO,
    text: 'hi',
    reply_to: { message_id: 'msg_1', if_supported: true },
  })

  expect(status).toBe(200)
  expect(Object.keys(relay.device.sent[0] ?? {})).not.toContain('attachments')
})

test('a practice line takes no file in the place of a real line that cannot', async () => {
  const real = new ScriptedDriver('iphone')
  const practice = new ScriptedDriver('simulated')
  real.add('+12025550801')
  const device = practice.add('+12025550101')
  device.capabilities = ABLE
  await using relay = await startRich({ drivers: [real, practice] })

  const { status, body } = await relay.send(await withFile(relay))

  expect([status, body.error.details]).toEqual([422, { capability: 'attachments' }])
  expect(device.given).toEqual([])
})

test('a line that is offline takes what its kind can do, and the message waits for it', async () => {
  await using relay = await startRich()
  await relay.device.goOffline()

  const { status, body } = await relay.send(await withFile(relay))
  await relay.device.goOnline()
  await relay.clock.advance(1_000)

  expect([status, body.queued_reason]).toEqual([202, 'line_offline'])
  expect((await relay.message(body.id)).status).toBe('sent')
})

test('a line that has lost the ability is not given the message, which fails in the end', async () => {
  await using relay = await startRich()
  await relay.device.goOffline()
  const { body } = await relay.send(await withFile(relay))

  relay.device.capabilities = TEXTS_ONLY
  await relay.device.goOnline()
  await relay.clock.advance(60_000)

  const { status, error } = await relay.message(body.id)
  expect([status, error.code]).toEqual(['failed', 'not_supported'])
  expect(relay.device.given).toEqual([])
})

test('a refused file is offered to those lines only that can send it', async () => {
  await using relay = await startRich({ numbers: THREE })
  const [first, second, third] = relay.devices
  if (first !== undefined) first.script = refuses
  if (second !== undefined) second.capabilities = TEXTS_ONLY
  await second?.goOnline()

  const { body } = await relay.send(await withFile(relay))

  expect(body.from).toBe(THREE[2])
  expect([first, second, third].map((device) => device?.given.length)).toEqual([1, 0, 1])
})

test('a file waits on its own line while no other one can send it, and lets the text before it go', async () => {
  await using relay = await startRich({ numbers: THREE.slice(0, 2) })
  const [first, second] = relay.devices
  for (const device of relay.devices) await device.goOffline()
  if (second !== undefined) second.capabilities = TEXTS_ONLY
  const text = (await relay.send({ to: TO, text: 'first' }, ASYNC)).body
  const file = (await relay.send(await withFile(relay), ASYNC)).body

  await second?.goOnline()
  await relay.clock.advance(5_000)
  const waiting = await relay.message(file.id)
  await first?.goOnline()
  await relay.clock.advance(5_000)

  expect([text.from, file.from]).toEqual([THREE[0], THREE[0]])
  expect((await relay.message(text.id)).from).toBe(THREE[1])
  expect([waiting.status, waiting.from]).toEqual(['queued', THREE[0]])
  expect((await relay.message(file.id)).status).toBe('sent')
  expect(second?.given.map(({ id }) => id)).toEqual([text.id])
})

/** A server of files that counts who asks. */
function fileServer() {
  let requests = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      requests += 1
      const isThere = new URL(request.url).pathname === '/menu.txt'
      return new Response(isThere ? 'menu' : 'no', { status: isThere ? 200 : 404 })
    },
  })
  return {
    url: (name: string) => `http://127.0.0.1:${server.port}/${name}`,
    requests: () => requests,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

const OWN_NETWORK = { environment: { HOOKLINE_WEBHOOK_TARGETS: 'any-private' } }

test('a file by URL is fetched before its message is accepted, and a repeat fetches nothing', async () => {
  using server = fileServer()
  await using relay = await startRich(OWN_NETWORK)
  const body = { to: TO, text: 'hi', attachments: [{ url: server.url('menu.txt') }] }
  const headers = { 'Idempotency-Key': 'once' }

  const first = await relay.send(body, headers)
  const again = await relay.send(body, headers)
  const other = await relay.send({ ...body, attachments: [{ url: server.url('map') }] }, headers)

  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.body).toEqual(first.body)
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict'])
  expect(server.requests()).toBe(1)
  expect(relay.device.sent[0]?.attachments?.map(({ filename, size }) => [filename, size])).toEqual([
    ['menu.txt', 4],
  ])
})

test('a URL that cannot be fetched refuses its message, and one to nobody fetches nothing', async () => {
  using server = fileServer()
  await using relay = await startRich(OWN_NETWORK)
  const attachments = [{ url: server.url('gone') }]

  const failed = await relay.send({ to: TO, text: 'hi', attachments })
  const nobody = await relay.send({ to: '+12025550801', text: 'hi', attachments })
  relay.device.capabilities = TEXTS_ONLY
  await relay.device.goOnline()
  const unable = await relay.send({ to: TO, text: 'hi', attachments })

  expect([failed, nobody, unable].map(({ status, body }) => [status, body.error.code])).toEqual([
    [422, 'attachment_fetch_failed'],
    [400, 'invalid_recipient'],
    [422, 'not_supported'],
  ])
  expect(server.requests()).toBe(1)
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})
