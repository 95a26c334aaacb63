import { expect, test } from 'bun:test'

import { accepts, refuses, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const HOUR = 3_600_000

function recipient(number: number): string {
  return `+1202555${String(1_000 + number)}`
}

test('two hundred sends at once to new contacts at a limit of fifty: fifty are accepted', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.capacity = 32
  await using relay = await startRelay({ drivers: [driver] })

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => relay.send({ to: recipient(i), text: 'hello' })),
  )

  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(50)
  const refused = answers.filter((answer) => answer.status === 429)
  expect(refused).toHaveLength(150)
  expect(refused[0]?.body.error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: {
      limit: 'daily_contacts',
      daily_limit: 50,
      used: 50,
      resets_at: '2026-11-22T00:00:00.000Z',
    },
  })
  expect(refused[0]?.headers.get('Retry-After')).toBe(String(14 * 3600))
  expect(device.sent).toHaveLength(50)
})

test('a known contact is never limited: a second message, and one who wrote first', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1)
  await device.receive({ guid: 'in-1', handle: recipient(2) as never })

  const statuses = [
    (await relay.send({ to: recipient(1), text: 'one' })).status,
    (await relay.send({ to: recipient(1), text: 'two' })).status,
    (await relay.send({ to: recipient(2), text: 'three' })).status,
    (await relay.send({ to: recipient(3), text: 'four' })).status,
  ]

  expect(statuses).toEqual([200, 200, 200, 429])
  expect((await relay.lines())[0]?.new_contacts_today).toBe(1)
})

test('a contact that the device has history with is no new one', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.knows = (handle) => handle === recipient(5)
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(0)

  const known = await relay.send({ to: recipient(5), text: 'hello' })
  const unknown = await relay.send({ to: recipient(6), text: 'hello' })

  expect([known.status, unknown.status]).toEqual([200, 429])
})

test('a place is given back when the message is proven not sent', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = async () => ({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1)

  const first = await relay.send({ to: recipient(1), text: 'hello' })
  const second = await relay.send({ to: recipient(2), text: 'hello' })

  expect([first.status, second.status]).toEqual([422, 422])
  expect((await relay.lines())[0]?.new_contacts_today).toBe(0)
})

test('a line that could not be asked accepts, and decides when it is back', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1)

  const answers = [
    await relay.send({ to: recipient(1), text: 'one' }),
    await relay.send({ to: recipient(2), text: 'two' }),
  ]
  await device.goOnline()
  await relay.clock.advance(2_000)

  expect(answers.map((answer) => answer.status)).toEqual([202, 202])
  expect(await relay.message(answers[0]?.body.id)).toMatchObject({ status: 'sent' })
  expect(await relay.message(answers[1]?.body.id)).toMatchObject({
    status: 'queued',
    queued_reason: 'daily_contact_limit',
  })
})

test('a queue that crosses midnight at the limit goes on the next day, and never above the limit', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  device.capacity = 8
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(2)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    ids.push((await relay.send({ to: recipient(i), text: 'hello' })).body.id)
  }

  await device.goOnline()
  await relay.clock.advance(1_000)
  const today = device.sent.length
  await relay.clock.advance(14 * HOUR)
  const tomorrow = device.sent.length
  const refused = await relay.send({ to: recipient(9), text: 'hello' })
  const statuses = await Promise.all(ids.map(async (id) => (await relay.message(id)).status))

  expect([today, tomorrow]).toEqual([2, 4])
  expect(statuses).toEqual(['sent', 'sent', 'sent', 'sent', 'queued'])
  expect(refused.status).toBe(429)
})

test('an accepted message keeps its place over midnight, ahead of later ones', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const script = device.script
  device.script = refuses
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1)
  await relay.clock.advance(14 * HOUR - 2_000)
  const early = await relay.send({ to: recipient(1), text: 'early' })
  await relay.clock.advance(3_000)
  device.script = script

  const late = await relay.send({ to: recipient(2), text: 'late' })
  await relay.clock.advance(60_000)

  expect(early.body.queued_reason).toBe('retry')
  expect(late.status).toBe(429)
  expect((await relay.message(early.body.id)).status).toBe('sent')
})

test('a raised limit lets those go that wait for it', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(0)
  const answer = await relay.send({ to: recipient(1), text: 'hello' })
  await device.goOnline()
  await relay.clock.advance(1_000)
  const waiting = await relay.message(answer.body.id)

  await relay.limit(1)
  await relay.clock.advance(1_000)

  expect(waiting.queued_reason).toBe('daily_contact_limit')
  expect((await relay.message(answer.body.id)).status).toBe('sent')
})

test('a message that named its line waits for tomorrow there, though another line has room', async () => {
  const driver = new ScriptedDriver()
  const first = driver.add('+12025550801', false)
  const second = driver.add('+12025550802')
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { daily_contact_limit: 0 })

  const { body } = await relay.send({ to: recipient(1), text: 'hello', phone_line_id: line.id })
  await first.goOnline()
  await relay.clock.advance(2_000)

  expect(await relay.message(body.id)).toMatchObject({
    status: 'queued',
    queued_reason: 'daily_contact_limit',
    phone_line_id: line.id,
  })
  expect([first.sent.length, second.sent.length]).toEqual([0, 0])
})

test('a place that an earlier message reserved is not taken by one whose line could not be asked', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  await relay.limit(1)
  device.script = refuses
  const early = await relay.send({ to: recipient(1), text: 'early' })
  await device.goOffline()
  const late = await relay.send({ to: recipient(2), text: 'late' })

  device.script = accepts
  await device.goOnline()
  await relay.clock.advance(5_000)

  expect([early.body.queued_reason, late.status]).toEqual(['retry', 202])
  expect(device.sent.map((message) => message.text)).toEqual(['early'])
  expect((await relay.message(late.body.id)).queued_reason).toBe('daily_contact_limit')
})
