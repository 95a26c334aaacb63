// What a line receives and announces to nobody: it is counted, it says how one gets it, and what can be
// kept is kept as history.

import { expect, test } from 'bun:test'

import { accepts, guidOf, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

const NUMBER = '+12025550801'
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

async function findingOf(relay: TestRelay, code: string): Promise<Json> {
  const { data } = await relay.get('/api/v1/health')
  return data.find((finding: { readonly code: string }) => finding.code === code)
}

test('SMS and RCS are listed as history while relay_sms is off, and only new ones are announced after', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()

  await device.receive({ guid: guidOf(1), service: 'SMS' })
  await device.receive({ guid: guidOf(2), service: 'RCS' })
  const before = { listed: await servicesOf(relay), events: await relay.eventNames() }
  await relay.patch(`/api/v1/phone-lines/${line?.id}`, { relay_sms: true })
  await relay.clock.advance(60_000)
  const switched = await relay.eventNames()
  await device.receive({ guid: guidOf(1), service: 'SMS' })
  await device.receive({ guid: guidOf(3), service: 'SMS' })

  expect(before).toEqual({ listed: ['RCS', 'SMS'], events: [] })
  expect(switched).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.received'])
  expect(await servicesOf(relay)).toEqual(['SMS', 'RCS', 'SMS'])
})

test('SMS that were not announced are counted, with how one gets them, until relay_sms is on', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()

  for (const n of [1, 2, 2]) await device.receive({ guid: guidOf(n), service: 'SMS' })
  const [counted] = await relay.lines()
  const finding = await findingOf(relay, 'sms_not_announced')
  await relay.patch(`/api/v1/phone-lines/${line?.id}`, { relay_sms: true })
  const [switched] = await relay.lines()

  expect(counted.not_relayed).toEqual([
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
    line_id: line?.id,
    why: expect.stringContaining('since 2026-11-21: 2.'),
    fix: expect.stringContaining('--relay-sms true'),
  })
  expect(await findingOf(relay, 'sms_not_announced')).toBeUndefined()
  expect(switched.not_relayed).toMatchObject([{ kind: 'sms', count: 2 }])
  expect(switched.not_relayed[0].hint).toStartWith('relay_sms is on')
})

test('iMessage by satellite and a service of an unknown name are of the iMessage family', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })

  for (const [n, service] of ['iMessageLite', 'Telegraph'].entries()) {
    await device.receive({ guid: guidOf(n), service })
  }

  expect(await relay.eventNames()).toEqual(['message.received', 'message.received'])
  expect(await servicesOf(relay)).toEqual(['Telegraph', 'iMessageLite'])
  expect(await countsOf(relay)).toEqual({})
})

test('what the device withholds is listed and counted once, whatever relay_sms says', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line?.id}`, { relay_sms: true })

  for (const _ of [1, 2]) {
    await device.receive({ guid: guidOf(1), withheld: 'spam' })
    await device.receive({ guid: guidOf(2), withheld: 'unplaced', service: 'SMS' })
  }

  expect(await countsOf(relay)).toEqual({ spam: 1, unplaced: 1 })
  expect(await relay.eventNames()).toEqual([])
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(2)
})

test('history counts as nothing that was not relayed, and neither does what is typed by hand', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })

  await device.receive({ guid: guidOf(1), service: 'SMS', isHistory: true })
  await device.receive({ guid: guidOf(2), service: 'SMS', isFromMe: true })

  expect(await countsOf(relay)).toEqual({})
  expect(await servicesOf(relay)).toEqual(['SMS', 'SMS'])
})

test('what is left out is counted once for its guid, and nothing else is kept of it', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(0)

  for (const n of [1, 2, 1]) await device.leaveOut(guidOf(n), 'group')
  await device.leaveOut(guidOf(3), 'not_understood')
  await device.report(guidOf(1), 'read', relay.clock.now())

  expect(await countsOf(relay)).toEqual({ group: 2, not_understood: 1 })
  expect((await findingOf(relay, 'group_messages_not_relayed')).why).toContain(': 2.')
  expect((await findingOf(relay, 'messages_not_understood')).why).toContain(': 1.')
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
  expect((await relay.get('/api/v1/conversations')).data).toEqual([])
  expect(await relay.eventNames()).toEqual([])
  expect((await relay.send({ to: STRANGER, text: 'hello' })).status).toBe(429)
})

test('counts are of one line, and their checkpoint is written with them', async () => {
  const driver = new ScriptedDriver()
  const [one, other] = [driver.add(NUMBER), driver.add('+12025550802')]
  await using relay = await startRelay({ drivers: [driver] })

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
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  device.script = accepts
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(0)

  await device.receive({ guid: guidOf(1), service: 'SMS' })

  expect((await relay.send({ to: STRANGER, text: 'hello' })).status).toBe(200)
})
