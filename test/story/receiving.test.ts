// What comes in on a line: it is recorded and announced once; or announced to nobody, and then counted, with how
// one gets it.

import { expect, test } from 'bun:test'

import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import type { Json, TestRelay } from '../support/test-relay.ts'

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

const STRANGER = '+12025550777'

async function servicesOf(relay: TestRelay): Promise<readonly string[]> {
  const { data } = await relay.get('/api/v1/messages')
  return data.map(({ service }: { readonly service: string }) => service)
}

/** Kind and count, in the API's order. */
async function countsOf(relay: TestRelay): Promise<Readonly<Record<string, number>>> {
  const [line] = await relay.lines()
  const counts: readonly Json[] = line.not_relayed
  return Object.fromEntries(counts.map(({ kind, count }) => [kind, count]))
}

test('SMS and RCS are listed as history and counted while relay_sms is off, and only new ones are announced after', async () => {
  await using relay = await startScripted()
  const { device } = relay

  await device.receive({ guid: guidOf(1), service: 'SMS' })
  await device.receive({ guid: guidOf(2), service: 'RCS' })
  for (const _ of [1, 2]) await device.receive({ guid: guidOf(4), service: 'SMS' })
  const before = { listed: await servicesOf(relay), events: await relay.eventNames() }
  const [counted] = await relay.lines()
  const [finding] = await relay.findings('sms_not_announced')
  await relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { relay_sms: true })
  await relay.clock.advance(60_000)
  const [switched] = await relay.lines()
  const announced = await relay.eventNames()
  await device.receive({ guid: guidOf(1), service: 'SMS' })
  await device.receive({ guid: guidOf(3), service: 'SMS' })

  expect(before).toEqual({ listed: ['SMS', 'RCS', 'SMS'], events: [] })
  expect(announced).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.received'])
  expect(await servicesOf(relay)).toEqual(['SMS', 'SMS', 'RCS', 'SMS'])
  expect(counted.not_relayed).toMatchObject([{ kind: 'rcs', count: 1 }, {}])
  expect(counted.not_relayed.slice(1)).toEqual([
    {
      kind: 'sms',
      count: 2,
      since: '2026-11-21T10:00:00.000Z',
      last_at: expect.stringMatching(/^2026-11-21T10:00:00/),
      hint: expect.stringContaining('--relay-sms true'),
    },
  ])
  expect(finding).toMatchObject({
    severity: 'info',
    line_id: relay.line.id,
    why: expect.stringContaining('since 2026-11-21: 2.'),
    fix: expect.stringContaining('--relay-sms true'),
  })
  expect(await relay.findings('sms_not_announced')).toEqual([])
  expect(switched.not_relayed).toMatchObject([{ count: 1 }, { count: 2 }])
  expect(switched.not_relayed[0].hint).toStartWith('relay_sms is on')
})

test('iMessage by satellite and a service of an unknown name are of the iMessage family', async () => {
  await using relay = await startScripted()

  for (const [n, service] of ['iMessageLite', 'Telegraph'].entries()) {
    await relay.device.receive({ guid: guidOf(n), service })
  }

  expect(await relay.eventNames()).toEqual(['message.received', 'message.received'])
  expect(await servicesOf(relay)).toEqual(['Telegraph', 'iMessageLite'])
  expect(await countsOf(relay)).toEqual({})
})

test('what the device withholds is listed and counted once, whatever relay_sms says', async () => {
  await using relay = await startScripted()
  await relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { relay_sms: true })

  for (const _ of [1, 2]) {
    await relay.device.receive({ guid: guidOf(1), withheld: 'spam' })
    await relay.device.receive({ guid: guidOf(2), withheld: 'unplaced', service: 'SMS' })
  }

  expect(await countsOf(relay)).toEqual({ spam: 1, unplaced: 1 })
  expect(await relay.eventNames()).toEqual([])
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(2)
})

test('history counts as nothing that was not relayed, and neither does what is typed by hand', async () => {
  await using relay = await startScripted()

  await relay.device.receive({ guid: guidOf(1), service: 'SMS', isHistory: true })
  await relay.device.receive({ guid: guidOf(2), service: 'SMS', isFromMe: true })

  expect(await countsOf(relay)).toEqual({})
  expect(await servicesOf(relay)).toEqual(['SMS', 'SMS'])
})

test('what is left out is counted once for its guid, and nothing else is kept of it', async () => {
  await using relay = await startScripted()
  const { device } = relay
  await relay.limit(0)

  for (const n of [1, 2, 1]) await device.leaveOut(guidOf(n), 'group')
  await device.leaveOut(guidOf(3), 'not_understood')
  await device.report(guidOf(1), 'read', relay.clock.now())

  expect(await countsOf(relay)).toEqual({ group: 2, not_understood: 1 })
  const whys = (await relay.findings()).map(({ code, why }) => [code, why.match(/: \d+\./)?.[0]])
  expect(whys).toContainEqual(['group_messages_not_relayed', ': 2.'])
  expect(whys).toContainEqual(['messages_not_understood', ': 1.'])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
  expect((await relay.get('/api/v1/conversations')).data).toEqual([])
  expect(await relay.eventNames()).toEqual([])
  expect((await relay.send({ to: STRANGER, text: 'hello' })).status).toBe(429)
})

test('counts are of one line, and their checkpoint is written with them', async () => {
  await using relay = await startScripted({ lines: ['online', 'online'] })
  const { device: one, second: other } = relay

  await one.leaveOut(guidOf(1), 'group', 'after the group')
  await other.leaveOut(guidOf(1), 'group', 'after the group')
  const failing = one.leaveOut(guidOf(2), 'group', { no: 'text' } as never)
  const outcome = await failing.then(
    () => 'durable',
    () => 'not durable',
  )

  expect(outcome).toBe('not durable')
  const stored = relay.db.sqlite
    .query(
      `SELECT n.count, l.checkpoint FROM not_relayed n JOIN lines l ON l.id = n.line_id
       ORDER BY l.seq`,
    )
    .values()
  expect(stored).toEqual([
    [1, 'after the group'],
    [1, 'after the group'],
  ])
})

test('a contact who wrote an SMS is known, though it was announced to nobody', async () => {
  await using relay = await startScripted()
  await relay.limit(0)

  await relay.device.receive({ guid: guidOf(1), service: 'SMS' })

  expect((await relay.send({ to: STRANGER, text: 'hello' })).status).toBe(200)
})
