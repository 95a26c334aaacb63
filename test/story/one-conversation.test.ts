// A key that is limited to conversations: it reads, follows and writes in those, and everything else is refused.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { limitsLike } from '../../src/domain/permissions.ts'
import { asOwner } from '../support/control-socket.ts'
import { ANNA, BOB, errorOf, idsIn, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { guidOf } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'

/** Anna and Bob have each written to the first line, and Anna to the second line, too. */
async function openTwo(options: Parameters<typeof openShop>[0] = {}) {
  const relay = await openShop(options)
  const [first, second] = relay.devices
  await first?.receive({ guid: guidOf(1), handle: deviceHandle(ANNA), text: 'apples' })
  await first?.receive({ guid: guidOf(2), handle: deviceHandle(BOB), text: 'walnuts' })
  await second?.receive({ guid: guidOf(3), handle: deviceHandle(ANNA), text: 'pears' })
  const { data } = await relay.get('/api/v1/conversations')
  const idOf = (text: string): string =>
    data.find((each: Json) => each.last_message.text === text).id
  return { ...relay, anna: idOf('apples'), bob: idOf('walnuts'), other: idOf('pears') }
}

test('another key with its listed limits may do the same', async () => {
  await using relay = await openTwo()
  const rules = { sends_per_hour: 3, quiet_hours: { from: '21:00', to: '08:00' } }
  const limits = { conversation_ids: [relay.anna], scopes: ['read', 'send'], rules }
  const key = await makeKey(relay, limits)
  const [listed] = (await relay.get('/api/v1/keys')).data

  const other = await makeKey(relay, { name: 'two', ...limitsLike(listed) })

  const { name: _name, id: _id, created_at: _at, ...same } = await key.get('/keys/self')
  expect(other.status).toBe(201)
  expect(await other.get('/keys/self')).toMatchObject({ name: 'two', ...same })
})

test('it lists, reads and follows its conversation, and hears nothing of others', async () => {
  await using relay = await openTwo()
  const key = await makeKey(relay, { conversation_ids: [relay.anna] })
  const textsOf = (list: Json) => list.data.map(({ text }: Json) => text)

  await relay.devices[0]?.receive({ guid: guidOf(4), handle: deviceHandle(BOB), text: 'more' })
  await relay.devices[0]?.receive({ guid: guidOf(5), handle: deviceHandle(ANNA), text: 'figs' })
  const events = await key.get('/events?after=oldest')

  expect(idsIn(await key.get('/conversations'))).toEqual([relay.anna])
  expect(idsIn(await key.get(`/conversations?handle=${encodeURIComponent(BOB)}`))).toEqual([])
  expect(idsIn(await key.get('/conversations?unread=true'))).toEqual([relay.anna])
  expect(textsOf(await key.get('/messages'))).toEqual(['figs', 'apples'])
  expect(textsOf(await key.get('/messages?limit=1'))).toEqual(['figs'])
  expect(textsOf(await key.get(`/messages?conversation_id=${relay.bob}`))).toEqual([])
  expect(textsOf(await key.get('/messages?updated_since=2026-01-01T00:00:00Z'))).toEqual([
    'apples',
    'figs',
  ])
  expect(events.data.map(({ payload }: Json) => payload.message.text)).toEqual(['apples', 'figs'])
  expect((await key.call('GET', `/conversations/${relay.bob}`)).status).toBe(403)
  expect((await key.call('GET', '/conversations/conv_00000000000000000000000000')).status).toBe(403)
})

test('it writes to the person of its conversation, by the line of the conversation', async () => {
  await using relay = await openTwo()
  const [first, second] = await idsOf(relay)
  const key = await makeKey(relay, { conversation_ids: [relay.other] })
  const send = async (to: string, more = {}) => errorOf(await key.send(to, more)).slice(0, 2)
  const write = async (id: string) =>
    (await key.call('POST', `/conversations/${id}/messages`, { text: 'hi' })).status

  expect(await send(ANNA)).toEqual([200, undefined])
  expect(await send(ANNA, { phone_line_id: second })).toEqual([200, undefined])
  expect(await send(ANNA, { phone_line_id: first })).toEqual([403, 'recipient_not_allowed'])
  expect(await send(BOB)).toEqual([403, 'recipient_not_allowed'])
  expect(await send('+12025550799')).toEqual([403, 'recipient_not_allowed'])
  expect([await write(relay.other), await write(relay.anna), await write(relay.bob)]).toEqual([
    200, 403, 403,
  ])
  expect(relay.devices.map((device) => device.sent.length)).toEqual([0, 3, 0])
})

test('it has the scopes that a conversation needs, and no other operation', async () => {
  await using relay = await openTwo()
  const key = await makeKey(relay, { scopes: ['read', 'send'], conversation_ids: [relay.anna] })
  const refused = await makeKey(relay, {
    scopes: ['messages:read', 'webhooks:write'],
    conversation_ids: [relay.anna],
  })

  const self = await key.get('/keys/self')
  const elsewhere = await key.call('GET', '/search?q=apples')

  expect(self.scopes).toEqual([
    'messages:read',
    'messages:send',
    'attachments:read',
    'attachments:write',
    'events:read',
  ])
  expect(self.conversation_ids).toEqual([relay.anna])
  expect(errorOf(elsewhere)).toEqual([403, 'forbidden', { limit: 'conversation_ids' }])
  expect([refused.status, refused.made.error.message]).toEqual([
    400,
    'scopes: must not have webhooks:write, which would get around conversation_ids',
  ])
})

test('a harness makes a key with an end for each conversation, within its own lines and conversations', async () => {
  await using relay = await openTwo()
  const [first] = await idsOf(relay)
  const end = new Date(relay.clock.now() + 60_000).toISOString()
  const harness = await makeKey(relay, {
    scopes: ['keys:write', 'read', 'send'],
    phone_line_ids: [first],
    rules: { sends_per_hour: 2 },
  })
  const child = await makeKey(relay, { conversation_ids: [relay.anna], expires_at: end }, harness)
  const otherLine = await makeKey(relay, { conversation_ids: [relay.other] }, harness)
  const none = await makeKey(relay, { conversation_ids: ['conv_x'] })
  const grandchild = await makeKey(relay, { conversation_ids: [relay.anna] }, child)

  const sent = [await child.send(ANNA), await child.send(ANNA), await child.send(ANNA)]
  await relay.clock.advance(60_000)
  const late = await child.send(ANNA)

  expect(child.made).toMatchObject({ conversation_ids: [relay.anna], expires_at: end })
  expect([otherLine.status, none.status, grandchild.status]).toEqual([400, 400, 403])
  expect([...sent, late].map(({ status }) => status)).toEqual([200, 200, 429, 401])
})

test('a file of another conversation is neither read nor sent', async () => {
  using folder = new ScratchFolder()
  await using relay = await openTwo({ folder: folder.path })
  const key = await makeKey(relay, { conversation_ids: [relay.anna] })
  const upload = async (by: Json) =>
    (await by('POST', '/attachments?filename=a.txt', 'soup')).body.id as string
  const owner = await makeKey(relay, {})
  const foreign = await upload(owner.call)
  const own = await upload(key.call)

  const statuses = [
    (await key.call('GET', `/attachments/${foreign}`)).status,
    (await key.call('GET', `/attachments/${own}`)).status,
    (await key.send(ANNA, { attachments: [{ id: foreign }] })).status,
  ]

  expect(statuses).toEqual([403, 200, 404])
})

test('the owner limits a process of their own by a header, and so does any key', async () => {
  await using relay = await openTwo()
  const only = { 'x-hookline-conversation': relay.anna }
  const key = await makeKey(relay, {})
  const answers = async (ask: (path: string, headers: Record<string, string>) => Promise<Json>) => [
    (await ask(`/conversations/${relay.anna}`, only)).id,
    (await ask(`/conversations/${relay.bob}`, only)).error.code,
    (await ask(`/conversations/${relay.bob}`, {})).id,
    (await ask('/phone-lines', only)).error.code,
  ]

  const byKey = await answers(
    async (path, headers) => (await key.call('GET', path, undefined, headers)).body,
  )
  const byOwner = await answers((path, headers) => asOwner(relay, 'GET', path, { headers }))

  const wanted = [relay.anna, 'forbidden', relay.bob, 'forbidden']
  expect([byKey, byOwner]).toEqual([wanted, wanted])
})
