import { expect, test } from 'bun:test'

import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const FROM = '+12025550777'

test('an inbound message is recorded, announced once, and stops a double by its guid', async () => {
  await using relay = await startScripted()
  const { device } = relay

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

test('history is recorded and never announced, but it makes the contact known', async () => {
  await using relay = await startScripted()
  await relay.limit(0)

  await relay.device.receive({ guid: guidOf(2), isHistory: true })

  expect(await relay.eventNames()).toEqual([])
  expect((await relay.send({ to: FROM, text: 'hello' })).status).toBe(200)
})

test('what a person types on the device is recorded and announced by no event', async () => {
  await using relay = await startScripted()
  const { device } = relay

  await device.receive({ guid: guidOf(3), isFromMe: true, text: 'by hand' })
  await device.report(guidOf(3), 'delivered', relay.clock.now())

  const { data } = await relay.get('/api/v1/messages')
  expect(data[0]).toMatchObject({ direction: 'outbound', status: 'delivered', source: 'device' })
  expect(await relay.eventNames()).toEqual([])
})

test('a row with NUL, a lone surrogate and too much text is mended, not refused', async () => {
  await using relay = await startScripted()

  await relay.device.receive({ guid: guidOf(6), text: 'a\0b\ud800c' })
  await relay.device.receive({ guid: guidOf(7), text: '😀'.repeat(20_001) })

  const { data } = await relay.get('/api/v1/messages')
  expect(data[1].text).toBe('a\uFFFDb\uFFFDc')
  expect(Array.from(data[0].text as string)).toHaveLength(20_000)
})

test('a row that cannot be stored is shown in health, and the line goes on', async () => {
  await using relay = await startScripted()

  await relay.device.receive({ guid: guidOf(8), text: undefined as never })
  await relay.device.receive({ guid: guidOf(9) })

  const { data } = await relay.get('/api/v1/messages')
  expect(data.map((message: { guid: string }) => message.guid)).toEqual([guidOf(9)])
  expect(await relay.findings('events_rejected')).toHaveLength(1)
})

test('a receipt with a guid that nobody claims is forgotten after an hour', async () => {
  await using relay = await startScripted()
  await relay.device.report(guidOf(11), 'delivered', relay.clock.now())
  relay.clock.doze(23 * 3_600_000)
  await relay.clock.advance(2 * 3_600_000)

  relay.device.script = ends({ outcome: 'accepted', guid: guidOf(11) })
  const answer = await relay.send({ to: FROM, text: 'hello' })

  expect((await relay.message(answer.body.id)).status).toBe('sent')
})
