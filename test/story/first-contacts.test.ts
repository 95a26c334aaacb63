// Who wrote to first: the people whom a line wrote to first in 7 and 28 days, those who answered, and those to whom a
// message failed.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { qrCode } from '../../src/http/dashboard-views.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { accepts, ends, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const FAILS = ends({ outcome: 'not_sent', reason: 'no_such_number', blame: 'message' })

async function shop() {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const relay = await startDashboard({ drivers: [driver] })
  const [{ id }] = (await relay.lines()) as readonly [Json]
  let count = 0
  const send = async (n: number) => {
    count += 1
    const asked = { to: `+1202555070${n}`, text: `hello ${count}` }
    await relay.send(asked, { Prefer: 'respond-async' })
    await relay.clock.advance(MINUTE)
  }
  const receive = async (n: number) => {
    count += 1
    await device.receive({ guid: guidOf(count), handle: deviceHandle(`+1202555070${n}`) })
    await relay.clock.advance(0)
  }
  const figures = async (days: 'days_7' | 'days_28' = 'days_7') => {
    const { first_contacts } = await relay.get('/api/v1/stats?time_zone=UTC')
    const { people, answered, failed } = first_contacts[0][days]
    return [people, answered, failed]
  }
  return { relay, device, id, send, receive, figures }
}

test('people count once, and answer once, however much is written', async () => {
  const { relay, send, receive, figures } = await shop()
  await using _ = relay
  for (const n of [1, 1, 2, 3]) await send(n)
  for (const n of [1, 1, 2]) await receive(n)

  expect(await figures()).toEqual([3, 2, 0])
})

test('people who write first are not counted, also after the line answers', async () => {
  const { relay, send, receive, figures } = await shop()
  await using _ = relay
  await receive(1)
  await send(1)
  await receive(1)

  expect(await figures()).toEqual([0, 0, 0])
})

test('a first message that fails counts the person once, and not among those written to', async () => {
  const { relay, device, send, receive, figures } = await shop()
  await using _ = relay
  device.script = FAILS
  await send(1)
  await send(1)
  expect(await figures()).toEqual([0, 0, 1])

  device.script = accepts
  await send(1)
  await receive(1)
  device.script = FAILS
  await send(1)
  expect(await figures()).toEqual([1, 1, 1])
})

test('a canceled message is no failure', async () => {
  const { relay, device, send, figures } = await shop()
  await using _ = relay
  await device.goOffline()
  await send(1)
  const { data } = await relay.get('/api/v1/messages?status=queued')
  const { status } = await relay.request('DELETE', `/api/v1/messages/${data[0].id}`)

  expect(status).toBe(200)
  expect(await figures()).toEqual([0, 0, 0])
})

test('the figures are those of 7 and of 28 days, and an answer counts for the day of the first message', async () => {
  const { relay, send, receive, figures } = await shop()
  await using _ = relay
  await send(1)
  relay.clock.doze(7 * DAY)
  await relay.clock.advance(MINUTE)
  await send(2)
  await receive(1)

  expect(await figures('days_7')).toEqual([1, 0, 0])
  expect(await figures('days_28')).toEqual([2, 1, 0])
})

test('only days of the zone of the relay have them, also for a key of the line', async () => {
  const { relay, id, send } = await shop()
  await using _ = relay
  await send(1)
  const { body: key } = await relay.post('/api/v1/keys', { phone_line_ids: [id] })
  const headers = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  const own = await relay.fetch('/api/v1/stats?time_zone=UTC', { headers })
  const other = await relay.get('/api/v1/stats?time_zone=Asia/Tokyo')
  const plain = await relay.get('/api/v1/stats')

  expect(((await own.json()) as Json).first_contacts).toMatchObject([{ phone_line_id: id }])
  expect([other.first_contacts, plain.first_contacts]).toEqual([undefined, undefined])
})

test('the poster has the number, the name without its markup, and a code that opens a text', async () => {
  const { relay, id } = await shop()
  await using _ = relay
  await relay.patch(`/api/v1/phone-lines/${id}`, { label: '<b>Front desk</b>' })
  const owner = { address: null, isControl: true, liftTimeout: () => {} }
  const ask = (line: string) =>
    relay.app.http.fetch(new Request(`http://localhost/api/v1/phone-lines/${line}/poster`), owner)
  const page = await ask(id)
  const text = await page.text()

  expect(page.status).toBe(200)
  expect(text).toContain('<p class="number">+1 202 555 0801</p>')
  expect(text).toContain('<p>&lt;b&gt;Front desk&lt;/b&gt;</p>')
  expect(text).toContain(qrCode('sms:+12025550801'))
  expect((await ask('line_none')).status).toBe(404)
})
