// Who sees what of the timeline: a key sees the things of its lines that its scopes let it read elsewhere, and no more.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { asOwner } from '../support/control-socket.ts'
import { ANNA, BOB, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const MINUTE = 60_000
const PATH = '/timeline?since=2026-11-20T00:00:00Z'

/** Both of the first lines were off, failed a message and got an opt-out; a webhook of each was added. */
async function eventfulShop() {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const shop = { ...(await openShop({ clock, post: sink.post })), sink }
  const lines = await idsOf(shop)
  for (const [n, to] of [ANNA, BOB].entries()) {
    const device = shop.devices[n]
    if (device === undefined) throw new Error('No such device.')
    await device.goOffline()
    await shop.clock.advance(MINUTE)
    await device.goOnline()
    await shop.clock.advance(MINUTE)
    await device.receive({ guid: guidOf(n), handle: deviceHandle(to), text: 'STOP' })
    device.script = ends({ outcome: 'unknown', reason: 'timed_out' })
    const other = { to: `+1202555079${n}`, text: 'hello', phone_line_id: lines[n] }
    await shop.send(other, { Prefer: 'respond-async' })
    await shop.clock.advance(MINUTE)
  }
  await asOwner(shop, 'PUT', '/settings/time_zone', { body: { value: 'Europe/Berlin' } })
  return { shop, lines }
}

const kindsOf = ({ data }: Json): readonly string[] =>
  [...new Set<string>(data.map(({ kind }: Json) => kind))].toSorted()

test('each scope shows its own kinds, and without health:read there is no timeline', async () => {
  const { shop } = await eventfulShop()
  await using _ = shop
  const kinds = async (...scopes: readonly string[]) => {
    const key = await makeKey(shop, { scopes: [...scopes, 'health:read'] })
    return kindsOf(await key.get(PATH))
  }
  const none = await makeKey(shop, { scopes: ['lines:read', 'audit:read'] })

  expect(await kinds()).toEqual(['relay.started'])
  expect(await kinds('lines:read')).toEqual(['line.off', 'relay.started'])
  expect(await kinds('messages:read')).toEqual(['messages.unsent', 'relay.started'])
  expect(await kinds('contacts:read')).toEqual(['opt_out', 'relay.started'])
  expect(await kinds('audit:read')).toEqual(['change', 'relay.started'])
  expect((await none.call('GET', PATH)).status).toBe(403)
})

test('a summary has no number that the key may not read', async () => {
  const { shop } = await eventfulShop()
  await using _ = shop
  const { get } = await makeKey(shop, { scopes: ['health:read'] })

  const { summary } = await get(PATH)
  expect(summary).toEqual({
    text: 'Quiet time.',
    is_quiet: true,
    lines_off: null,
    off_seconds: null,
    received: null,
    sent: null,
    failed: null,
    expired: null,
    uncertain: null,
    to_answer: null,
    webhooks_failing: null,
  })
})

test('a key of one line sees nothing of another, in entries and in numbers, also if it asks for it', async () => {
  const { shop, lines } = await eventfulShop()
  await using _ = shop
  const [first, second] = lines
  const { get } = await makeKey(shop, { phone_line_ids: [first] })

  const { data, summary } = await get(PATH)
  const asked = await get(`${PATH}&phone_line_id=${second}`)
  const { first_contacts } = await get('/stats?time_zone=Europe/Berlin')

  expect(kindsOf({ data })).toEqual(['line.off', 'messages.unsent', 'opt_out', 'relay.started'])
  expect(JSON.stringify(data)).not.toContain(BOB)
  expect(JSON.stringify(data)).not.toContain(String(second))
  expect(data.filter(({ kind }: Json) => kind === 'line.off')).toMatchObject([
    { phone_line_id: first },
  ])
  expect(summary).toMatchObject({ lines_off: 1, off_seconds: 60, uncertain: 1, received: 1 })
  expect(first_contacts).toMatchObject([{ phone_line_id: first, days_7: { failed: 0 } }])
  expect(kindsOf(asked)).toEqual(['relay.started'])
  expect(asked.summary).toMatchObject({ lines_off: 0, uncertain: 0, received: 0, to_answer: 0 })
})

test('a caller who may see everything can ask for one line', async () => {
  const { shop, lines } = await eventfulShop()
  await using _ = shop
  const { data } = await shop.get(`/api/v1${PATH}&phone_line_id=${lines[1]}`)

  expect(kindsOf({ data })).toEqual(['line.off', 'messages.unsent', 'opt_out', 'relay.started'])
  expect(JSON.stringify(data)).not.toContain(ANNA)
})

test('a key of one site that asks for another learns nothing of its webhooks, in entries and in numbers', async () => {
  const { shop, lines } = await eventfulShop()
  await using _ = shop
  const [berlin, hamburg] = await Promise.all(
    ['Berlin', 'Hamburg'].map((name) => asOwner(shop, 'POST', '/sites', { body: { name } })),
  )
  for (const [n, { id }] of [berlin, hamburg].entries())
    await asOwner(shop, 'PATCH', `/phone-lines/${lines[n]}`, { body: { site_id: id } })
  const hook = { url: 'https://hamburg.example/', events: ['message.received'] }
  await shop.post('/api/v1/webhooks', { ...hook, site_ids: [hamburg.id] })
  shop.sink.answer = () => 503
  for (let n = 0; n < 6; n += 1) {
    await shop.devices[1]?.receive({ guid: guidOf(50 + n), handle: deviceHandle(BOB) })
    await shop.clock.advance(5_000)
  }
  const ofBerlin = await makeKey(shop, { site_ids: [berlin.id] })
  const ofBoth = await makeKey(shop, { site_ids: [berlin.id, hamburg.id] })
  const asked = `${PATH}&site_id=${hamburg.id}`

  const other = await ofBerlin.get(asked)
  const own = await ofBoth.get(asked)

  expect(kindsOf(other)).toEqual(['relay.started'])
  expect(other.summary).toMatchObject({ webhooks_failing: 0, received: 0 })
  expect(kindsOf(own)).toContain('webhook.failing')
  expect(own.summary).toMatchObject({ webhooks_failing: 1 })
})
