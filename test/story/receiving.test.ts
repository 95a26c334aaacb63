import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { accepts, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const FROM = '+12025550777'

test('an inbound message is recorded, announced once, and stops a double by its guid', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })

  await device.receive({ guid: guidOf(1), text: 'hi there' })
  await device.receive({ guid: guidOf(1), text: 'hi there' })

  const { data } = await relay.get('/api/v1/messages')
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({
    direction: 'inbound',
    status: 'received',
    guid: guidOf(1),
    platform_guid: guidOf(1),
    from: FROM,
    to: '+12025550801',
    handle: FROM,
    text: 'hi there',
    source: 'device',
    sent_at: '2026-11-21T09:58:20.000Z',
    created_at: '2026-11-21T10:00:00.000Z',
  })
  expect(await relay.eventNames()).toEqual(['message.received'])
})

test('a message that is reported again after a restore has the same id and the same event', async () => {
  const received = async () => {
    const driver = new ScriptedDriver()
    const device = driver.add('+12025550801')
    await using relay = await startRelay({ drivers: [driver], seed: 7 })
    await device.receive({ guid: 'p:0/not-a-uuid' })
    const { data } = await relay.get('/api/v1/messages')
    return [data[0].id, data[0].guid, await relay.eventIds()]
  }

  expect(await received()).toEqual(await received())
})

test('history is recorded and never announced, but it makes the contact known', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(0)

  await device.receive({ guid: guidOf(2), isHistory: true })

  expect(await relay.eventNames()).toEqual([])
  expect((await relay.send({ to: FROM, text: 'hello' })).status).toBe(200)
})

test('what a person types on the device is recorded and announced by no event', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })

  await device.receive({ guid: guidOf(3), isFromMe: true, text: 'by hand' })
  await device.report(guidOf(3), 'delivered', relay.clock.now())

  const { data } = await relay.get('/api/v1/messages')
  expect(data[0]).toMatchObject({ direction: 'outbound', status: 'delivered', source: 'device' })
  expect(await relay.eventNames()).toEqual([])
})

test('a row with NUL, a lone surrogate and too much text is mended, not refused', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })

  await device.receive({ guid: guidOf(6), text: 'a\0b\ud800c' })
  await device.receive({ guid: guidOf(7), text: '😀'.repeat(20_001) })

  const { data } = await relay.get('/api/v1/messages')
  expect(data[1].text).toBe('a\uFFFDb\uFFFDc')
  expect(Array.from(data[0].text as string)).toHaveLength(20_000)
})

test('a row that cannot be stored is shown in health, and the line goes on', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })

  await device.receive({ guid: guidOf(8), text: undefined as never })
  await device.receive({ guid: guidOf(9) })

  const { data } = await relay.get('/api/v1/messages')
  expect(data.map((message: { guid: string }) => message.guid)).toEqual([guidOf(9)])
  const health = await relay.get('/api/v1/health')
  expect(health.data.map((finding: { code: string }) => finding.code)).toContain('events_rejected')
})

test('skipped receipts are filled in, each event once, in order', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = async (message, pointOfNoReturn, signal) => {
    await accepts(message, pointOfNoReturn, signal)
    return { outcome: 'accepted', guid: guidOf(10) }
  }
  await using relay = await startRelay({ drivers: [driver] })
  const answer = await relay.send({ to: FROM, text: 'hello' })
  const at = relay.clock.now() + 5_000

  await device.report(guidOf(10), 'read', at)
  await device.report(guidOf(10), 'delivered', at + 1)
  await device.report(guidOf(10), 'failed', at + 2, { reason: 'whatever' })

  const iso = new Date(timestamp(at)).toISOString()
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'read',
    delivered_at: iso,
    read_at: iso,
  })
  expect(await relay.eventNames()).toEqual(['message.sent', 'message.delivered', 'message.read'])
})

test('a receipt with a guid that nobody claims is forgotten after an hour', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  await device.report(guidOf(11), 'delivered', relay.clock.now())
  await relay.clock.advance(25 * 3_600_000)

  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn(null)
    return { outcome: 'accepted', guid: guidOf(11) }
  }
  const answer = await relay.send({ to: FROM, text: 'hello' })

  expect((await relay.message(answer.body.id)).status).toBe('sent')
})
