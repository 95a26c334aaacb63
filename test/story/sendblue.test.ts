// The API of Sendblue on the real relay: what its SDK calls, and the two callbacks that its programs get.

import { expect, test } from 'bun:test'

import { keyFor, type Made } from '../support/compat-calls.ts'
import { ABLE } from '../support/rich-relay.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, BEN, FAMILY, photo, startRich } from './rich-relay.ts'

const HOOK = 'https://shop.example/receive'
const STATUS = 'https://shop.example/status'
const LINE = '+12025550801'

/** Calls a route as the SDK does. */
function clientOf(
  relay: Pick<ScriptedRelay, 'fetch'>,
  { key, secret }: Pick<Made, 'key' | 'secret'>,
) {
  const headers = {
    'content-type': 'application/json',
    'sb-api-key-id': key,
    'sb-api-secret-key': secret,
  }
  return async (method: string, path: string, body?: object) => {
    const response = await relay.fetch(`/compat/sendblue${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Json }
  }
}

async function startWithKey(more: object = {}) {
  const world = await startRich()
  Object.assign(world.device, { capabilities: ABLE })
  await world.device.goOnline()
  const made = await keyFor(world.relay, 'sendblue', more)
  return Object.assign(world, { made, call: clientOf(world.relay, made) })
}

test('a message goes out by the line that it names, and its state can be asked for', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const made = await keyFor(relay, 'sendblue')
  const call = clientOf(relay, made)
  const text = { number: '(202) 555-0147', content: 'Ready.' }

  const sent = await call('POST', '/api/send-message', { ...text, from_number: '+12025550802' })
  const state = await call('GET', `/api/status?handle=${sent.body.message_handle}`)
  const one = await call('GET', `/api/v2/messages/${sent.body.message_handle}`)
  const nobody = await call('POST', '/api/send-message', { ...text, from_number: '+12025550899' })

  const fields = { status: 'SENT', content: 'Ready.', is_outbound: true, number: '+12025550147' }
  const numbers = { from_number: '+12025550802', to_number: '+12025550147' }
  expect(made.connect).toMatchObject({ api_key_id: made.key, api_secret_key: made.secret })
  for (const { status, body } of [sent, state]) {
    expect([status, body]).toMatchObject([200, { ...fields, ...numbers, error_message: null }])
  }
  expect(one.body).toMatchObject({ status: 'OK', data: { ...fields, message_type: 'message' } })
  expect([nobody.status, nobody.body.status]).toEqual([404, 'ERROR'])
  expect(relay.second.sent.map(({ to }) => to)).toEqual(['+12025550147'] as never[])
})

test('a refusal by the line is an ERROR, and an unknown outcome never is', async () => {
  await using relay = await startScripted()
  const call = clientOf(relay, await keyFor(relay, 'sendblue'))
  const text = { content: 'hi', status_callback: STATUS }
  const send = (number: string) => call('POST', '/api/send-message', { ...text, number })
  relay.device.script = ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' })
  const failed = await send(ANNA)
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  const asked = send(BEN)
  await relay.clock.advance(600_000)
  const unknown = await asked
  const later = await call('GET', `/api/status?handle=${unknown.body.message_handle}`)
  await relay.clock.advance(600_000)

  expect(failed.body).toMatchObject({ status: 'ERROR', error_message: expect.any(String) })
  expect([unknown.status, unknown.body.status, later.body.status]).toEqual([
    200,
    'PENDING',
    'PENDING',
  ])
  const posted = relay.sink.to(STATUS).map(({ body }) => JSON.parse(body))
  expect(posted.map(({ status, error_reason: reason }) => [status, reason])).toEqual([
    ['ERROR', 'no_imessage'],
    ['PENDING', null],
  ])
})

test('messages are listed, newest first, of one person, one line, one group or one direction', async () => {
  await using world = await startWithKey()
  const { call } = world
  await world.receive(guidOf(1), { text: 'one' })
  await world.receive(guidOf(2), { text: 'two', handle: BEN })
  await world.receive(guidOf(3), { text: 'three', group: FAMILY })
  await call('POST', '/api/send-message', { number: ANNA, content: 'four' })
  const list = async (query: string) => {
    const { body } = await call('GET', `/api/v2/messages?${query}`)
    return body
  }
  const textsOf = ({ data }: Json) => data.map(({ content }: Json) => content)
  const all = await list('')
  const group = all.data.find(({ message_type: type }: Json) => type === 'group')

  const anna = await list(`number=${encodeURIComponent(ANNA)}&sendblue_number=%2B12025550801`)
  const page = await list('limit=2&offset=1&order_direction=desc&message_type=message')
  const inbound = await list('is_outbound=false')
  const family = await list(`group_id=${group.group_id}`)
  const answer = { group_id: group.group_id, from_number: LINE, content: 'five' }
  const sent = await call('POST', '/api/send-group-message', answer)
  const oldest = await call('GET', '/api/v2/messages?order_direction=asc')

  expect(textsOf(all)).toEqual(['four', 'three', 'two', 'one'])
  expect(textsOf(anna)).toEqual(['four', 'one'])
  expect([textsOf(page), page.pagination]).toMatchObject([
    ['two', 'one'],
    { limit: 2, offset: 1, hasMore: false },
  ])
  expect(textsOf(inbound)).toEqual(['three', 'two', 'one'])
  expect(textsOf(family)).toEqual(['three'])
  expect([sent.status, sent.body.group_id]).toEqual([200, group.group_id])
  expect(oldest.status).toBe(400)
})

test('typing is accepted, and nothing leaves', async () => {
  await using relay = await startScripted()
  const call = clientOf(relay, await keyFor(relay, 'sendblue'))

  const { status, body } = await call('POST', '/api/send-typing-indicator', { number: ANNA })

  expect([status, body]).toEqual([200, { status: 'SENT', number: ANNA, error_message: null }])
  expect(relay.device.given).toEqual([])
})

test('webhooks are added, replaced and removed, and post with the secret that the client chose', async () => {
  await using world = await startWithKey()
  const { call, clock, sink, relay } = world
  const list = async () => (await call('GET', '/api/account/webhooks')).body.webhooks
  const before = (await relay.get('/api/v1/webhooks')).data.length

  await call('POST', '/api/account/webhooks', { webhooks: [HOOK], globalSecret: 'shared-secret' })
  await call('POST', '/api/account/webhooks', { webhooks: [HOOK], globalSecret: 'shared-secret' })
  await call('POST', '/api/account/webhooks', { webhooks: [{ url: STATUS }], type: 'outbound' })
  const added = await list()
  const attachments = [photo('F1', world.fileOf('a picture'), 'menu.jpg')]
  await world.receive(guidOf(1), { text: 'Look!', attachments })
  const sent = await call('POST', '/api/send-message', { number: ANNA, content: 'Nice.' })
  await clock.advance(1_000)
  const [received] = sink.to(HOOK)
  const [told] = sink.to(STATUS)
  await call('PUT', '/api/account/webhooks', { webhooks: { receive: [`${HOOK}2`] } })
  const replaced = await list()
  await call('DELETE', '/api/account/webhooks', { webhooks: [`${HOOK}2`] })
  const removed = await list()

  expect(added).toEqual({ receive: [HOOK], outbound: [STATUS] })
  expect(received?.headers['sb-signing-secret']).toBe('shared-secret')
  expect(JSON.parse(received?.body ?? '')).toMatchObject({
    content: 'Look!',
    is_outbound: false,
    status: 'RECEIVED',
    from_number: ANNA,
    to_number: LINE,
    sendblue_number: LINE,
    service: 'iMessage',
    message_type: 'message',
    media_url: expect.stringContaining('/a/'),
  })
  expect(JSON.parse(told?.body ?? '')).toMatchObject({
    status: 'SENT',
    is_outbound: true,
    message_handle: sent.body.message_handle,
    number: ANNA,
  })
  expect([replaced, removed]).toEqual([
    { receive: [`${HOOK}2`], outbound: [] },
    { receive: [], outbound: [] },
  ])
  // The owner's own webhook is none of them.
  expect((await relay.get('/api/v1/webhooks')).data).toHaveLength(before)
})

test('an address in another spelling is the same webhook, and has the secret that was named last', async () => {
  await using world = await startWithKey()
  const { call, clock, sink } = world
  const add = (url: string, secret?: string) =>
    call('POST', '/api/account/webhooks', { webhooks: [{ url, ...(secret && { secret }) }] })
  await add('https://shop.example/a~b', 'old-secret')
  await add('HTTPS://Shop.Example:443/a%7eb#top', 'new-secret')
  await add('https://shop.example/a~b')

  await world.receive(guidOf(1), { text: 'one' })
  await clock.advance(1_000)
  const { body } = await call('GET', '/api/account/webhooks')
  await call('DELETE', '/api/account/webhooks', { webhooks: ['https://SHOP.example/a%7Eb'] })
  const left = await call('GET', '/api/account/webhooks')

  expect(body.webhooks.receive).toEqual(['https://shop.example/a~b'])
  const posted = sink.to('https://shop.example/a~b')
  expect(posted.map(({ headers }) => headers['sb-signing-secret'])).toEqual(['new-secret'])
  expect(left.body.webhooks.receive).toEqual([])
})

test('a webhook that the relay turned off works again when its program registers it, one that a person did not', async () => {
  await using world = await startWithKey()
  const { call, clock, sink, relay } = world
  const register = () => call('POST', '/api/account/webhooks', { webhooks: [HOOK] })
  const own = async () =>
    (await relay.get('/api/v1/webhooks')).data.find(({ url }: Json) => url === HOOK)
  await register()
  sink.answer = () => 410
  await world.receive(guidOf(1))
  await clock.advance(900_000)
  const off = await own()
  sink.answer = () => 200

  await register()
  const on = await own()
  await relay.request('PUT', `/api/v1/webhooks/${on.id}`, { is_active: false })
  await register()
  const paused = await own()

  expect([off.is_active, off.disabled_reason]).toEqual([false, 'gone'])
  expect([on.id, on.is_active, on.disabled_reason]).toEqual([off.id, true, null])
  expect([paused.id, paused.is_active]).toEqual([off.id, false])
})

test('the callback of a message gets what becomes of it, and of no other one', async () => {
  await using world = await startWithKey()
  const { call, clock, sink, relay, device } = world
  const text = { number: ANNA, from_number: LINE }

  const first = await call('POST', '/api/send-message', {
    ...text,
    content: 'one',
    status_callback: `${STATUS}?order=7`,
  })
  await call('POST', '/api/send-message', { ...text, content: 'two' })
  const { data } = await relay.get('/api/v1/messages')
  for (const { platform_guid: guid } of data) await device.report(guid, 'delivered', clock.now())
  await clock.advance(1_000)
  const posted = sink.to(`${STATUS}?order=7`).map(({ body }) => JSON.parse(body))

  expect(posted.map(({ message_handle: id, status }) => [id, status])).toEqual([
    [first.body.message_handle, 'SENT'],
    [first.body.message_handle, 'DELIVERED'],
  ])
})

test('a secret that no header can have, and a kind of webhook that does not exist, are refused', async () => {
  await using relay = await startScripted()
  const call = clientOf(relay, await keyFor(relay, 'sendblue'))
  const add = (more: object) => call('POST', '/api/account/webhooks', { webhooks: [HOOK], ...more })

  const answers = [
    await add({ globalSecret: 'a\nb' }),
    await add({ type: 'line_blocked' }),
    await add({ webhooks: [7] }),
    await call('POST', '/api/send-message', { content: 'hi' }),
    await call('POST', '/api/send-group-message', { numbers: [ANNA, BEN], content: 'hi' }),
  ]

  expect(answers.map(({ status, body }) => [status, body.status])).toEqual(
    answers.map(() => [400, 'ERROR']),
  )
})
