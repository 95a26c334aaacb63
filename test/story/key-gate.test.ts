// Ways around the limits of a key, each of which ends at the same gate.

import { expect, test } from 'bun:test'

import { ANNA, BOB, errorOf, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const HOOK = { url: 'https://receiver.example/a', events: ['message.received'] }

test('a key is not made with a scope that would get around its own limits', async () => {
  await using relay = await openShop()
  const [line] = await idsOf(relay)

  const refused = [
    await makeKey(relay, { scopes: ['messages:send', 'contacts:write'], phone_line_ids: [line] }),
    await makeKey(relay, { scopes: ['lines:write'], rules: { approval: 'new_contacts' } }),
    await makeKey(relay, { scopes: ['approvals:write'], rules: { approval: 'always' } }),
  ]
  const made = await makeKey(relay, { scopes: ['read', 'send'], phone_line_ids: [line] })

  expect(refused.map(({ status, made: { error } }) => [status, error.message])).toEqual([
    [400, 'scopes: must not have contacts:write, which would get around phone_line_ids'],
    [400, 'scopes: must not have lines:write, which would get around rules.approval'],
    [400, 'scopes: must not have approvals:write, which would get around rules.approval'],
  ])
  expect(made.status).toBe(201)
})

test('a key that approves other words must be allowed to send them, and they count for it', async () => {
  await using relay = await openShop()
  const agent = await makeKey(relay, { rules: { approval: 'always' } })
  const scopes = ['approvals:write', 'messages:send']
  const rules = { recipients: 'list', allow: [BOB], sends_per_hour: 1 }
  const clerk = await makeKey(relay, { scopes, rules })
  const reader = await makeKey(relay, { scopes: ['approvals:write'] })
  const held = async (to: string) => (await agent.send(to)).body.id as string
  const approve = async (by: typeof clerk, to: string, body: object) =>
    errorOf(await by.call('POST', `/messages/${await held(to)}/approve`, body)).slice(0, 2)

  expect(await approve(clerk, ANNA, { text: 'other words' })).toEqual([
    403,
    'recipient_not_allowed',
  ])
  expect(await approve(clerk, ANNA, {})).toEqual([200, undefined])
  expect(await approve(clerk, ANNA, { text: 'hi' })).toEqual([200, undefined])
  expect(await approve(clerk, BOB, { text: 'other words' })).toEqual([200, undefined])
  expect(await approve(clerk, BOB, { text: 'more words' })).toEqual([429, 'rate_limit_exceeded'])
  expect((await clerk.send(BOB)).status).toBe(429)
  expect(await approve(reader, BOB, { text: 'other words' })).toEqual([403, 'forbidden'])
})

test('links to files go to webhooks of those who may read files only', async () => {
  await using relay = await openShop()
  const key = await makeKey(relay, { scopes: ['webhooks:read', 'webhooks:write'] })
  const linked = await relay.post('/api/v1/webhooks', { ...HOOK, attachment_links: true })
  const plain = await key.call('POST', '/webhooks', HOOK)
  const put = (id: string, body: object) => key.call('PUT', `/webhooks/${id}`, body)

  const answers = [
    await key.call('POST', '/webhooks', { ...HOOK, attachment_links: true }),
    await put(plain.body.id, { attachment_links: true }),
    await put(linked.body.id, { url: 'https://other.example/a' }),
    await put(linked.body.id, { is_active: false }),
    await put(linked.body.id, { attachment_links: false }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 200, 200])
})

test('one key takes ten readers of events at most, and leaves the rest to others', async () => {
  await using relay = await startRelay({ drivers: [new ScriptedDriver()] })
  const greedy = await makeKey(relay, { scopes: ['events:read'] })
  const other = await makeKey(relay, { scopes: ['events:read'] })
  const open = (by: typeof greedy) => stream(relay, by)

  const streams = []
  for (let count = 0; count < 10; count += 1) streams.push(await open(greedy))
  const eleventh = await open(greedy)
  const poll = await greedy.call('GET', '/events', undefined, { Prefer: 'wait=5' })
  const others = await open(other)
  await streams[0]?.body?.cancel()
  const again = await open(greedy)

  expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect([eleventh.status, poll.status, others.status, again.status]).toEqual([429, 429, 200, 200])
  for (const { body } of [...streams.slice(1), others, again]) await body?.cancel()
})

test('a page around a message is one of its own conversation, for those who may see it', async () => {
  await using relay = await openShop()
  const [first, second] = await idsOf(relay)
  const own = (await relay.send({ to: ANNA, text: 'hi', phone_line_id: first })).body
  const foreign = (await relay.send({ to: BOB, text: 'hi', phone_line_id: second })).body
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const around = async (by: typeof key, conversation: string, message: string) =>
    (await by.call('GET', `/messages?conversation_id=${conversation}&around=${message}`)).status
  const all = await makeKey(relay, {})

  expect(await around(key, own.conversation_id, own.id)).toBe(200)
  expect(await around(key, own.conversation_id, foreign.id)).toBe(404)
  expect(await around(key, foreign.conversation_id, foreign.id)).toBe(404)
  expect(await around(all, own.conversation_id, foreign.id)).toBe(404)
  expect(await around(all, foreign.conversation_id, foreign.id)).toBe(200)
})

/** Opens the stream of events, and reads its first piece. */
async function stream(
  relay: Awaited<ReturnType<typeof startRelay>>,
  { headers }: Awaited<ReturnType<typeof makeKey>>,
): Promise<Response> {
  const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
  const request = new Request('http://localhost/api/v1/events/stream', { headers })
  return relay.app.http.fetch(request, peer)
}
