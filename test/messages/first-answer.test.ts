// The first answer of a send under a key, which every repeat gets again.

import { expect, test } from 'bun:test'

import { guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Answer } from '../support/test-relay.ts'

const KEY = { 'Idempotency-Key': 'order-1042-ready' }
const BODY = { to: '+15550001111', text: 'Your order is ready.' }

test('what becomes of a sent message changes nothing of its answer', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  const first = await relay.send(BODY, KEY)
  const guid = first.body.platform_guid

  const repeats: Answer[] = []
  for (const kind of ['failed', 'delivered', 'read'] as const) {
    await relay.clock.advance(1_000)
    await device.report(guid, kind, relay.clock.now())
    repeats.push(await relay.send(BODY, KEY))
  }

  expect((await relay.message(first.body.id)).status).toBe('read')
  expect(repeats.map(({ status }) => status)).toEqual([200, 200, 200])
  const bodies = repeats.map(({ body }) => JSON.stringify(body))
  expect(new Set(bodies)).toEqual(new Set([JSON.stringify(first.body)]))
})

test('an answer that says more than that it was sent is repeated too', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    return { outcome: 'held', guid: guidOf(70) }
  }

  const sending = relay.send(BODY, KEY)
  await relay.clock.advance(10)
  await device.report(guidOf(70), 'delivered', relay.clock.now())
  const first = await sending
  const again = await relay.send(BODY, KEY)

  expect(first.body.delivered_at).not.toBeNull()
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
})
