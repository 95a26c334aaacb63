// What a key left behind: it is shown when the key is revoked and when it has expired, and ends with the key if asked.

import { expect, test } from 'bun:test'

import { ANNA, errorOf, idsOf, makeKey, openShop, type Shop } from '../support/limited-keys.ts'
import type { Json } from '../support/test-relay.ts'

const MINUTE_MS = 60_000
const HOOK = { url: 'https://shop.example/hook', events: ['message.received', 'message.failed'] }
const LATER = { send_at: '2026-11-21T10:01:00.000Z' }

type Caller = Awaited<ReturnType<typeof makeKey>>

/** The key makes one of everything, and its child key makes a webhook, a key and a message. */
async function leave(relay: Shop, maker: Caller) {
  const child = await makeKey(relay, { name: 'child' }, maker)
  const grandchild = await makeKey(relay, { name: 'grandchild' }, child)
  const made = async (by: Caller, path: string, body: object): Promise<string> => {
    const answer = await by.call('POST', path, body)
    return answer.body.id
  }
  return {
    keys: [child.made.id, grandchild.made.id],
    webhooks: [await made(maker, '/webhooks', HOOK), await made(child, '/webhooks', HOOK)],
    bridges: [await made(maker, '/bridges', { phone_number: '+12025550149' })],
    messages: [
      await made(maker, '/messages/send', { to: ANNA, text: 'later', ...LATER }),
      await made(grandchild, '/messages/send', { to: ANNA, text: 'later too', ...LATER }),
    ],
  }
}

const revoke = (relay: Shop, id: string, query = '', headers: object = {}) =>
  relay.request('DELETE', `/api/v1/keys/${id}${query}`, undefined, { ...headers })

/** What of it still works. */
async function working(relay: Shop, left: Awaited<ReturnType<typeof leave>>) {
  const list = async (path: string): Promise<Json[]> => (await relay.get(`/api/v1/${path}`)).data
  const live = async (path: string) =>
    (await list(path)).filter((one) => (one.revoked_at ?? null) === null).map(({ id }) => id)
  const count = (ids: readonly string[], made: readonly string[]) =>
    made.filter((id) => ids.includes(id)).length
  const [keys, webhooks, bridges] = [
    await live('keys'),
    await live('webhooks'),
    await live('bridges'),
  ]
  const statuses = await Promise.all(
    left.messages.map(async (id) => (await relay.get(`/api/v1/messages/${id}`)).status),
  )
  return [
    count(keys, left.keys),
    count(webhooks, left.webhooks),
    count(bridges, left.bridges),
    statuses,
  ]
}

test('a revoked key names what it left behind, and all of it ends when that is asked', async () => {
  await using relay = await openShop()
  const key = await makeKey(relay, { name: 'agency' })
  const left = await leave(relay, key)

  const first = await revoke(relay, key.made.id)
  const still = await working(relay, left)
  const all = await revoke(relay, key.made.id, '?all=true')
  const then = await working(relay, left)
  const again = await revoke(relay, key.made.id, '?all=true')
  await relay.clock.advance(2 * MINUTE_MS)

  expect(first.body).toEqual({ id: key.made.id, deleted: true, created: left })
  expect(still).toEqual([2, 2, 1, ['queued', 'queued']])
  expect(all.body).toEqual({ id: key.made.id, deleted: true, ended: left })
  expect(then).toEqual([0, 0, 0, ['failed', 'failed']])
  expect(again.body).toEqual({ id: key.made.id, deleted: true })
  expect(relay.devices.flatMap(({ sent }) => sent)).toEqual([])
  const trail: Json[] = (await relay.get('/api/v1/audit?limit=20')).data
  const request = trail.find(({ action }) => action === 'webhook.deleted')?.request_id
  const ended = trail.filter(({ request_id }) => request_id === request)
  const actions: string[] = ended.map(({ action }) => action)
  expect(actions.toSorted((a, b) => a.localeCompare(b))).toEqual([
    'bridge.removed',
    'key.revoked',
    'key.revoked',
    'message.canceled',
    'message.canceled',
    'webhook.deleted',
    'webhook.deleted',
  ])
})

test('a rotated key left behind what the one before it made, which stays while the new one works', async () => {
  await using relay = await openShop()
  const old = await makeKey(relay, { name: 'shop' })
  const left = await leave(relay, old)
  const { body: next } = await relay.post(`/api/v1/keys/${old.made.id}/rotate`, { overlap: 3_600 })
  const headers = { 'X-API-Key': String(next.key), 'X-API-Secret': String(next.secret) }
  const { body: hook } = await relay.request('POST', '/api/v1/webhooks', HOOK, headers)

  const ofOld = await revoke(relay, old.made.id)
  const ofNext = await revoke(relay, next.id, '?all=true')

  expect(ofOld.body.created).toEqual(left)
  expect(ofNext.body.ended).toEqual({ ...left, webhooks: [...left.webhooks, hook.id] })
})

test('a key that goes on for the overlap of a rotation ends with the new one', async () => {
  await using relay = await openShop()
  const old = await makeKey(relay, { name: 'shop' })
  const { body: next } = await relay.post(`/api/v1/keys/${old.made.id}/rotate`, {})

  const { body } = await revoke(relay, next.id, '?all=true')

  expect(body.ended.keys).toEqual([old.made.id])
  expect((await old.call('GET', '/keys/self')).status).toBe(401)
})

test('what a key had renewed counts as left behind, because it got the secrets, but not its own successor', async () => {
  await using relay = await openShop()
  const renewer = await makeKey(relay, { name: 'agency' })
  const other = await makeKey(relay, { name: 'shop' })
  const bridge = await relay.post('/api/v1/bridges', { phone_number: '+12025550149' })
  const rotate = async (id: string): Promise<Json> =>
    (await renewer.call('POST', `/keys/${id}/rotate`, { overlap: 3_600 })).body
  const stolen = await rotate(other.made.id)
  await renewer.call('POST', `/bridges/${bridge.body.id}/token`)
  const successor = await rotate(renewer.made.id)

  const first = await revoke(relay, renewer.made.id)
  const all = await revoke(relay, renewer.made.id, '?all=true')

  const renewed = { keys: [stolen.id], webhooks: [], bridges: [bridge.body.id], messages: [] }
  expect(first.body.created).toEqual(renewed)
  expect(all.body.ended).toEqual(renewed)
  const { data } = await relay.get('/api/v1/keys')
  const live: Json[] = data.filter((key: Json) => key.revoked_at === null)
  expect(live.map(({ id }) => id)).toContain(successor.id)
  expect(live.map(({ id }) => id)).not.toContain(stolen.id)
})

test('a key that may not end each thing by itself ends nothing', async () => {
  await using relay = await openShop()
  const [line] = await idsOf(relay)
  const limits = { phone_line_ids: [line] }
  const ruled = await makeKey(relay, { ...limits, rules: { sends_per_hour: 9 } })
  const sender = await makeKey(relay, { name: 'sender' }, ruled)
  await sender.call('POST', '/messages/send', { to: ANNA, text: 'later', ...LATER })
  const limited = await makeKey(relay, limits)
  const listener = await makeKey(relay, { name: 'listener' }, limited)
  const { body: hook } = await listener.call('POST', '/webhooks', HOOK)
  await relay.request('PUT', `/api/v1/webhooks/${hook.id}`, { phone_line_ids: null })

  const answers = [
    await revoke(relay, sender.made.id, '?all=true', ruled.headers),
    await revoke(relay, listener.made.id, '?all=true', limited.headers),
  ]
  const states = await Promise.all([sender, listener].map((one) => one.call('GET', '/keys/self')))

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual([
    [403, 'forbidden'],
    [403, 'forbidden'],
  ])
  expect(states.map(({ status }) => status)).toEqual([200, 200])
})

test('an expired key that left something behind is found among many newer ones that left nothing', async () => {
  await using relay = await openShop()
  const short = { name: 'agency', expires_at: '2026-11-21T10:01:00.000Z' }
  const key = await makeKey(relay, short)
  const child = await makeKey(relay, { name: 'child' }, key)
  for (let count = 0; count < 60; count += 1) await makeKey(relay, short)
  await child.call('POST', '/webhooks', HOOK)
  await relay.clock.advance(2 * MINUTE_MS)

  const found = (await relay.get('/api/v1/health')).data.filter(
    ({ code }: Json) => code === 'expired_key_left',
  )

  const revoked = found.map(({ fix }: Json) => /revoke (key_\w+)/.exec(fix)?.[1])
  expect(revoked).toEqual([child.made.id, key.made.id])
})

test('an expired key that left something behind is a finding, until it is revoked', async () => {
  await using relay = await openShop()
  const short = { name: 'agency', expires_at: '2026-11-21T10:01:00.000Z' }
  const key = await makeKey(relay, short)
  const idle = await makeKey(relay, short)
  const { body: hook } = await key.call('POST', '/webhooks', HOOK)
  const replaced = await makeKey(relay, { name: 'shop' })
  await replaced.call('POST', '/webhooks', HOOK)
  await relay.post(`/api/v1/keys/${replaced.made.id}/rotate`, { overlap: 60 })
  const found = async (): Promise<Json[]> =>
    (await relay.get('/api/v1/health')).data.filter(({ code }: Json) => code === 'expired_key_left')

  const before = await found()
  await relay.clock.advance(2 * MINUTE_MS)
  const [finding, ...others] = await found()
  await revoke(relay, key.made.id)
  const after = await found()

  expect([before, others, after]).toEqual([[], [], []])
  expect(finding?.why).toContain(hook.id)
  expect(finding?.fix).toContain(`hookline keys revoke ${key.made.id} --all`)
  expect((await idle.call('GET', '/keys/self')).status).toBe(401)
})
