// A key that takes the place of another: both work for a while, and are one caller.

import { expect, test } from 'bun:test'

import { ANNA, HOUR_MS, errorOf, makeKey, openShop, type Shop } from '../support/limited-keys.ts'
import type { Json } from '../support/test-relay.ts'

const RETRY = { 'Idempotency-Key': 'order-7' }

/** Rotates a key; gives the calls of the new one. */
async function rotate(
  relay: Shop,
  id: string,
  body: object = {},
  headers: Record<string, string> = {},
) {
  const { status, body: made } = await relay.request(
    'POST',
    `/api/v1/keys/${id}/rotate`,
    body,
    headers,
  )
  const own = { 'X-API-Key': String(made.key), 'X-API-Secret': String(made.secret) }
  const call = (method: string, path: string, given?: unknown, more: object = {}) =>
    relay.request(method, `/api/v1${path}`, given, { ...own, ...more })
  const send = (more: object = {}, extra: object = {}) =>
    call('POST', '/messages/send', { to: ANNA, text: 'hi', ...more }, extra)
  return { status, made, call, send }
}

test('the new key has the same name and limits, and the old one ends after the overlap', async () => {
  await using relay = await openShop()
  const limits = { name: 'shop', scopes: ['send', 'read'], rules: { sends_per_hour: 9 } }
  const old = await makeKey(relay, limits)
  const statuses = async () => [
    (await old.call('GET', '/keys/self')).status,
    (await next.call('GET', '/keys/self')).status,
  ]

  const next = await rotate(relay, old.made.id, { overlap: 3_600 })
  const during = await statuses()
  await relay.clock.advance(HOUR_MS)
  const after = await statuses()

  const { name, scopes, rules, created_by } = old.made
  expect(next.made).toMatchObject({ name, scopes, rules, created_by, rotated_from: old.made.id })
  expect([during, after]).toEqual([
    [200, 200],
    [401, 200],
  ])
})

test('the list says who rotated a key, and keeps who made the first one', async () => {
  await using relay = await openShop()
  const maker = await makeKey(relay, { scopes: ['keys:write'] })
  const old = await makeKey(relay, { scopes: ['keys:write'] }, maker)

  const next = await rotate(relay, old.made.id)
  const { data } = (await relay.request('GET', '/api/v1/keys')).body

  const makers = new Map(
    data.map(({ id, created_by, rotated_by }: Json) => [id, [created_by, rotated_by]]),
  )
  expect(makers.get(old.made.id)).toEqual([maker.made.id, undefined])
  expect(makers.get(next.made.id)).toEqual([maker.made.id, relay.key?.id])
})

test('a retry that crosses a rotation is one message, also after a second rotation', async () => {
  await using relay = await openShop()
  const old = await makeKey(relay, {})
  const stranger = await makeKey(relay, {})
  const body = { to: ANNA, text: 'ready' }
  const ask = (by: Pick<typeof old, 'call'>) => by.call('POST', '/messages/send', body, RETRY)

  const first = await ask(old)
  const second = await rotate(relay, old.made.id)
  const third = await rotate(relay, second.made.id, { overlap: 0 })
  const answers = [await ask(second), await ask(third)]
  const foreign = await ask(stranger)

  expect([answers[0]?.status, answers[1]?.body.id]).toEqual([401, first.body.id])
  expect(foreign.body.id).not.toBe(first.body.id)
  expect(relay.devices.flatMap(({ sent }) => sent).length).toBe(2)
})

test('both keys count toward one limit, and toward the limits of their maker', async () => {
  await using relay = await openShop()
  const maker = await makeKey(relay, {
    scopes: ['keys:write', 'send'],
    rules: { sends_per_hour: 3 },
  })
  const old = await makeKey(relay, { rules: { sends_per_hour: 2 } }, maker)

  const next = await rotate(relay, old.made.id)
  const sends = [await old.send(ANNA), await next.send(), await next.send(), await old.send(ANNA)]
  const makers = [await maker.send(ANNA), await maker.send(ANNA)]

  expect(sends.map(({ status }) => status)).toEqual([200, 200, 429, 429])
  expect(makers.map(({ status }) => status)).toEqual([200, 429])
})

test('a key cancels what the one before it sent, and no key is rotated by one that may do less', async () => {
  await using relay = await openShop()
  const old = await makeKey(relay, { rules: { sends_per_day: 5 } })
  const weak = await makeKey(relay, { scopes: ['keys:write', 'send'] })
  const send_at = new Date(relay.clock.now() + HOUR_MS).toISOString()
  const later = await old.send(ANNA, { send_at })

  const next = await rotate(relay, old.made.id)
  const canceled = await next.call('DELETE', `/messages/${later.body.id}`)
  const refused = await rotate(relay, old.made.id, {}, weak.headers)

  expect(canceled.body.error.code).toBe('canceled')
  expect(refused.status).toBe(404)
})

test('a key with an end lasts as long again, unless the request or the end of its maker says otherwise', async () => {
  await using relay = await openShop()
  const inHours = (hours: number) => new Date(relay.clock.now() + hours * HOUR_MS).toISOString()
  const old = await makeKey(relay, { expires_at: inHours(10) })
  await relay.clock.advance(4 * HOUR_MS)
  const maker = await makeKey(relay, { scopes: ['keys:write'], expires_at: inHours(8) })
  const child = await makeKey(relay, {}, maker)

  const same = await rotate(relay, old.made.id)
  const asked = await rotate(relay, old.made.id, { expires_at: inHours(100) })
  const within = await rotate(relay, child.made.id, {}, maker.headers)
  const beyond = await rotate(relay, child.made.id, { expires_at: inHours(9) }, maker.headers)
  await relay.clock.advance(9 * HOUR_MS)
  const late = await rotate(relay, old.made.id)

  const hoursOf = ({ made }: Json) =>
    Math.round((Date.parse(made.expires_at) - relay.clock.now()) / HOUR_MS) + 9
  expect([hoursOf(same), hoursOf(asked), hoursOf(within)]).toEqual([10, 100, 8])
  expect(same.made.old_key_expires_at).toBe(old.made.expires_at)
  expect([errorOf({ ...beyond, body: beyond.made })[1], late.status]).toEqual(['forbidden', 404])
})
