// The API of BlueBubbles on the real relay: what agent frameworks and Home Assistant's integration call, and the one
// event that they get.

import { expect, test } from 'bun:test'

import { keyFor, type Made } from '../support/compat-calls.ts'
import { ABLE } from '../support/rich-relay.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, BEN, FAMILY, photo, startRich } from './rich-relay.ts'

const CARL = '+12025550773'
const HOOK = 'http://127.0.0.1:8645/bluebubbles-webhook'

type Answer = { readonly status: number; readonly body: Json }

/** Calls a route as its clients do, with the password in the query. */
function clientOf(relay: Pick<ScriptedRelay, 'fetch'>, { connect }: Pick<Made, 'connect'>) {
  const { password = '', server_url: server = '' } = connect
  const root = new URL(server).pathname
  const ask = (method: string, path: string, body?: object | FormData) => {
    const query = `${path.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`
    const isForm = body instanceof FormData
    return relay.fetch(`${root}/api/v1${path}${query}`, {
      method,
      headers: isForm || body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    })
  }
  return {
    password,
    ask,
    call: async (...asked: Parameters<typeof ask>): Promise<Answer> => {
      const response = await ask(...asked)
      return { status: response.status, body: await response.json() }
    },
  }
}

async function startWithKey(more: object = {}) {
  const world = await startRich()
  Object.assign(world.device, { capabilities: ABLE })
  await world.device.goOnline()
  const made = await keyFor(world.relay, 'bluebubbles', more)
  return Object.assign(world, { made, client: clientOf(world.relay, made) })
}

test('a client finds the server, and that it may write to new people but not type', async () => {
  await using relay = await startScripted()
  const made = await keyFor(relay, 'bluebubbles')
  const { call } = clientOf(relay, made)

  const pinged = await call('GET', '/ping')
  const info = await call('GET', '/server/info')

  expect(made.connect['password']).toBe(`${made.key}:${made.secret}`)
  expect(pinged.body).toEqual({ status: 200, message: 'Ping received!', data: 'pong' })
  expect(info.body.data).toMatchObject({
    private_api: true,
    helper_connected: false,
    detected_imessage: '+12025550801',
  })
})

test('a text goes out once for each tempGuid, and its answer has the id of the message', async () => {
  await using relay = await startScripted()
  const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))
  const send = (tempGuid: string) =>
    call('POST', '/message/text', { chatGuid: `any;-;${ANNA}`, tempGuid, message: 'Ready.' })

  const [first, again, other] = [await send('temp-1'), await send('temp-1'), await send('temp-2')]

  const [one, same, two] = [first, again, other].map(({ body }) => body.data.guid)
  expect([first.status, first.body.message]).toEqual([200, 'Message sent!'])
  expect([one === same, one === two, one.startsWith('msg_')]).toEqual([true, false, true])
  expect(first.body.data).toMatchObject({
    tempGuid: 'temp-1',
    text: 'Ready.',
    isFromMe: true,
    error: 0,
    chats: [{ guid: `any;-;${ANNA}`, chatIdentifier: ANNA, style: 45 }],
  })
  expect(relay.texts()).toEqual(['Ready.', 'Ready.'])
})

test.each([`iMessage;-;${ANNA}`, `SMS;-;${ANNA}`, `any;-;${ANNA}`, String(ANNA)])(
  'a text to the chat %s goes to the person',
  async (chatGuid) => {
    await using relay = await startScripted()
    const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))

    const { status } = await call('POST', '/message/text', { chatGuid, message: 'hi' })

    expect(status).toBe(200)
    expect(relay.device.sent.map(({ to }) => to)).toEqual([ANNA] as never[])
  },
)

test('a group is written to by its guid and by the addresses of its members, and no new one is made', async () => {
  await using world = await startWithKey()
  const { call } = world.client
  await world.receive(guidOf(1), { group: FAMILY })

  const byGuid = await call('POST', '/message/text', { chatGuid: FAMILY.chatGuid, message: 'one' })
  const asked = { addresses: [BEN, '(202) 555-0771'], message: 'two' }
  const byMembers = await call('POST', '/chat/new', asked)
  const unknown = await call('POST', '/chat/new', { addresses: [ANNA, CARL], message: 'three' })
  const nowhere = await call('POST', '/message/text', { chatGuid: 'iMessage;+;no', message: 'x' })

  expect([byGuid.status, byMembers.status]).toEqual([200, 200])
  expect(byGuid.body.data.chats).toMatchObject([{ guid: FAMILY.chatGuid, displayName: 'Family' }])
  expect(byMembers.body.data).toMatchObject({ guid: FAMILY.chatGuid, style: 43 })
  expect([unknown.status, unknown.body.error.code]).toEqual([422, 'not_supported'])
  expect([nowhere.status, nowhere.body.error.message]).toEqual([404, 'Chat does not exist!'])
  expect(world.relay.texts()).toEqual(['one', 'two'])
})

test('the first message to a new person is sent by chat/new, which sends nothing without a message', async () => {
  await using relay = await startScripted()
  const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))

  const empty = await call('POST', '/chat/new', { addresses: [ANNA], message: '' })
  const sent = await call('POST', '/chat/new', { addresses: [ANNA], message: 'Hello.' })

  expect([empty.body.data.guid, empty.body.data.messages]).toEqual([`any;-;${ANNA}`, []])
  expect(sent.body.data.messages).toMatchObject([{ text: 'Hello.', isFromMe: true }])
  expect(relay.texts()).toEqual(['Hello.'])
})

test('a file goes out by a form, once for each tempGuid', async () => {
  await using world = await startWithKey()
  await world.receive(guidOf(1))
  const send = (content: string) => {
    const form = new FormData()
    form.append('chatGuid', `iMessage;-;${ANNA}`)
    form.append('name', 'menu.txt')
    form.append('tempGuid', 'temp-9')
    form.append('attachment', new Blob([content]), 'menu.txt')
    return world.client.call('POST', '/message/attachment', form)
  }

  const [first, again, other] = [await send('soup'), await send('soup'), await send('stew')]
  const [sent] = first.body.data.attachments
  const bytes = await world.client.ask('GET', `/attachment/${sent.guid}/download`)

  expect([first.status, again.body.data.guid]).toEqual([200, first.body.data.guid])
  expect(other.status).toBe(409)
  expect(sent).toMatchObject({ transferName: 'menu.txt', totalBytes: 4, isOutgoing: true })
  expect(await bytes.text()).toBe('soup')
  expect(world.device.sent).toHaveLength(1)
})

test('chats are listed by their latest message, in pages, each person once', async () => {
  await using world = await startWithKey()
  const { call } = world.client
  await world.receive(guidOf(1))
  await world.receive(guidOf(2), { handle: BEN })
  await world.receive(guidOf(3), { group: FAMILY })

  const all = await call('POST', '/chat/query', { limit: 100, offset: 0 })
  const page = await call('POST', '/chat/query', { limit: 1, offset: 1, with: ['participants'] })
  const one = await call(
    'GET',
    `/chat/${encodeURIComponent(`iMessage;-;${BEN}`)}?with=participants`,
  )
  const none = await call('GET', `/chat/${encodeURIComponent(`any;-;${CARL}`)}`)

  const guids = all.body.data.map(({ guid }: Json) => guid)
  expect(guids).toEqual([FAMILY.chatGuid, `any;-;${BEN}`, `any;-;${ANNA}`])
  expect(all.body.metadata).toEqual({ offset: 0, limit: 100, count: 3 })
  expect(page.body.data.map(({ guid }: Json) => guid)).toEqual([`any;-;${BEN}`])
  expect(one.body.data).toMatchObject({ chatIdentifier: BEN, participants: [{ address: BEN }] })
  expect([none.status, none.body.error.type]).toEqual([404, 'Database Error'])
})

test('a person who wrote to two lines is one chat, and no page leaves another one out', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))
  const people = [ANNA, BEN, CARL].map(String)
  for (const handle of people) {
    for (const [place, device] of relay.devices.entries()) {
      await device.receive({ guid: `${place} ${handle}`, handle: handle as never })
      await relay.clock.advance(1_000)
    }
  }

  const pages = []
  for (const offset of [0, 2, 4]) {
    const { body } = await call('POST', '/chat/query', { limit: 2, offset })
    pages.push(body.data.map(({ chatIdentifier }: Json) => chatIdentifier))
  }
  const { body: anna } = await call('GET', `/chat/${encodeURIComponent(`any;-;${ANNA}`)}`)

  expect(pages).toEqual([[CARL, BEN], [ANNA], []])
  expect(anna.data.lastAddressedHandle).toBe('+12025550802')
})

test('a refusal by the line is an error, and an unknown outcome is not', async () => {
  await using relay = await startScripted()
  const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))
  const send = (to: string) => call('POST', '/message/text', { chatGuid: to, message: 'hi' })
  relay.device.script = ends({ outcome: 'not_sent', reason: 'no_imessage', blame: 'message' })
  const failed = await send(ANNA)
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  const asked = send(BEN)
  await relay.clock.advance(600_000)
  const unknown = await asked
  const later = await call('GET', `/message/${unknown.body.data.guid}`)

  expect([failed.status, failed.body]).toMatchObject([
    422,
    { status: 422, message: 'Message Send Error', error: { type: 'iMessage Error' } },
  ])
  expect([unknown.status, unknown.body.data.error, later.body.data.error]).toEqual([200, 0, 0])
})

test('what only a changed Messages app can do is refused, and nothing is sent', async () => {
  await using relay = await startScripted()
  const { call } = clientOf(relay, await keyFor(relay, 'bluebubbles'))
  const text = { chatGuid: `any;-;${ANNA}`, message: 'hi' }

  const answers = [
    await call('POST', '/message/text', {
      ...text,
      effectId: 'com.apple.messages.effect.CKEchoEffect',
    }),
    await call('POST', '/message/text', { ...text, subject: 'News' }),
    await call('POST', '/message/react', { selectedMessageGuid: 'x', reaction: 'love' }),
    await call('POST', `/chat/${encodeURIComponent(text.chatGuid)}/typing`),
    await call('DELETE', `/chat/${encodeURIComponent(text.chatGuid)}/typing`),
    await call('POST', `/chat/${encodeURIComponent(text.chatGuid)}/read`),
    await call('POST', '/message/x/unsend', {}),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 422, 422, 422, 422, 422])
  for (const { status, body } of answers) {
    expect(body.status).toBe(status)
    expect(body.error.message).toContain('private API')
  }
  expect(relay.texts()).toEqual([])
})

test('a reply to a message goes out, plainly if the line cannot reply', async () => {
  await using world = await startWithKey()
  await world.receive(guidOf(1))
  const [{ id }] = (await world.relay.get('/api/v1/messages')).data

  const { status } = await world.client.call('POST', '/message/text', {
    chatGuid: `any;-;${ANNA}`,
    message: 'Yes.',
    method: 'private-api',
    selectedMessageGuid: id,
    partIndex: 0,
  })

  expect(status).toBe(200)
  expect(world.relay.texts()).toEqual(['Yes.'])
})

test('while a person answers a conversation, nothing is sent into it, and what waits fails', async () => {
  await using world = await startWithKey()
  const { relay, client, device, clock } = world
  await world.receive(guidOf(1))
  const [{ id }] = (await relay.get('/api/v1/conversations')).data
  const text = { chatGuid: `any;-;${ANNA}`, message: 'Yes.' }
  await device.goOffline()
  const asked = client.call('POST', '/message/text', text)
  await clock.advance(5_000)
  const waiting = await asked

  await relay.patch(`/api/v1/conversations/${id}`, { automation_paused: true })
  const refused = await client.call('POST', '/message/text', text)
  await device.goOnline()
  await clock.advance(60_000)
  const later = await client.call('GET', `/message/${waiting.body.data.guid}`)
  await relay.patch(`/api/v1/conversations/${id}`, { automation_paused: false })
  const handedBack = await client.call('POST', '/message/text', { ...text, message: 'Hello.' })

  expect([waiting.status, later.body.data.error]).toEqual([200, 1])
  expect([refused.status, refused.body.error.code]).toEqual([409, 'automation_paused'])
  expect(handedBack.status).toBe(200)
  expect(relay.texts()).toEqual(['Hello.'])
})

test('a received message comes as new-message, with its file, and nothing else comes', async () => {
  await using world = await startWithKey()
  const { client, clock, sink } = world
  const events = ['new-message', 'updated-message']
  const made = await client.call('POST', '/webhook', { url: HOOK, events })

  const attachments = [photo('F1', world.fileOf('a picture'), 'menu.jpg')]
  await world.receive(guidOf(1), { text: 'Look!', attachments })
  await world.receive(guidOf(2), { text: '', group: FAMILY, handle: BEN })
  await client.call('POST', '/message/text', { chatGuid: `any;-;${ANNA}`, message: 'Nice.' })
  await clock.advance(60_000)

  const posted = sink.to(HOOK).map(({ body }) => JSON.parse(body))
  expect(made.body.data).toMatchObject({ url: HOOK, events: ['new-message'] })
  expect(posted.map(({ type }) => type)).toEqual(['new-message', 'new-message'])
  expect(posted[0].data).toMatchObject({
    text: 'Look!',
    isFromMe: false,
    handle: { address: ANNA },
    chats: [{ guid: `any;-;${ANNA}` }],
    attachments: [{ transferName: 'menu.jpg', transferState: 5 }],
  })
  expect(posted[1].data).toMatchObject({
    text: '\ufffc',
    handle: { address: BEN },
    chats: [{ guid: FAMILY.chatGuid, displayName: 'Family', style: 43 }],
  })
  const path = `/attachment/${posted[0].data.attachments[0].guid}/download`
  expect(await (await client.ask('GET', path)).text()).toBe('a picture')
})

test('a webhook with the password in its URL is kept without it, posts with it, and is found again', async () => {
  await using world = await startWithKey()
  const { relay, client, clock, sink } = world
  const url = `${HOOK}?password=${encodeURIComponent(client.password)}`
  const secret = client.password.split(':')[1] ?? ''
  const register = () => client.call('POST', '/webhook', { url, events: ['new-message'] })

  const [made, again] = [await register(), await register()]
  const found = await client.call('GET', '/webhook')
  const { data } = await relay.get('/api/v1/webhooks')
  await world.receive(guidOf(1))
  await clock.advance(1_000)

  expect(made.body.data.url).toBe(url)
  expect(again.body.data.id).toBe(made.body.data.id)
  expect(found.body.data.map((each: Json) => [each.id, each.url])).toEqual([
    [made.body.data.id, url],
  ])
  expect(JSON.stringify(data)).toContain('hl_secret_***')
  expect(JSON.stringify(data)).not.toContain(secret)
  expect(sink.to(url)).toHaveLength(1)
  const removed = await client.call('DELETE', `/webhook/${made.body.data.id}`)
  const left = await client.call('GET', '/webhook')
  expect([removed.status, left.body.data]).toEqual([200, []])
})

test('a program whose key was rotated gets its events with the new password, at an address without the key', async () => {
  await using world = await startWithKey()
  const { relay, client, made, clock, sink } = world
  const secretOf = ({ password }: { readonly password: string }) => password.split(':')[1] ?? ''
  const url = (secret: string) => `http://127.0.0.1:8645?password=${secret}`
  const register = (each: typeof client) =>
    each.call('POST', '/webhook', { url: url(secretOf(each)), events: ['*'] })
  const first = await register(client)
  const { data } = await relay.get('/api/v1/webhooks')
  const { body: rotated } = await relay.post(`/api/v1/keys/${made.id}/rotate`, {})
  const successor = clientOf(relay, rotated)

  const second = await register(successor)
  await world.receive(guidOf(1))
  await clock.advance(1_000)

  expect(JSON.stringify(data)).not.toContain(secretOf(client))
  expect(second.body.data.id).toBe(first.body.data.id)
  expect(sink.posts.map((posted) => posted.url)).toContain(
    `http://127.0.0.1:8645/?password=${secretOf(successor)}`,
  )
})

test('a key sees and removes only its own webhooks, also those of a key that it replaced', async () => {
  await using world = await startWithKey()
  const { relay, client, made } = world
  const url = (password: string) => `${HOOK}?password=${encodeURIComponent(password)}`
  const first = await client.call('POST', '/webhook', { url: url(client.password), events: ['*'] })
  const ownersOwn = (await relay.get('/api/v1/webhooks')).data.at(-1).id
  const other = clientOf(relay, await keyFor(relay, 'bluebubbles'))

  const hidden = await other.call('GET', '/webhook')
  const kept = await other.call('DELETE', `/webhook/${first.body.data.id}`)
  const owners = await client.call('DELETE', `/webhook/${ownersOwn}`)
  const { body: rotated } = await relay.post(`/api/v1/keys/${made.id}/rotate`, {})
  const successor = clientOf(relay, rotated)
  const again = { url: url(successor.password), events: ['new-message'] }
  const second = await successor.call('POST', '/webhook', again)
  const left = await successor.call('GET', '/webhook')

  expect([hidden.body.data, kept.status, owners.status]).toEqual([[], 404, 404])
  expect(left.body.data.map(({ id }: Json) => id)).toEqual([second.body.data.id])
})

test('a webhook that wants no new-message is refused, and so is one from a key without the right', async () => {
  await using world = await startWithKey({ scopes: ['messages:send'] })
  const wanted = { url: HOOK, events: ['new-message'] }

  const lacking = await world.client.call('POST', '/webhook', wanted)
  const all = clientOf(world.relay, await keyFor(world.relay, 'bluebubbles'))
  const other = await all.call('POST', '/webhook', { ...wanted, events: ['typing-indicator'] })

  expect([lacking.status, lacking.body.error.code]).toEqual([403, 'forbidden'])
  expect([other.status, other.body.error.message]).toEqual([
    400,
    expect.stringContaining('new-message'),
  ])
})
