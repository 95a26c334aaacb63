// The limit of new contacts of a day, which begins at midnight of the shop. The clock starts at 10:00 UTC.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { accepts, refuses } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'

const HOUR = 3_600_000

function recipient(number: number): string {
  return `+1202555${String(1_000 + number)}`
}

test('two hundred sends at once to new contacts at a limit of fifty: fifty are accepted', async () => {
  await using relay = await startScripted({ capacity: 32 })

  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => relay.send({ to: recipient(i), text: 'hello' })),
  )

  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([...Array(50).fill(200), ...Array(150).fill(429)])
  expect(relay.device.sent).toHaveLength(50)
})

test('a contact that the device has history with is no new one', async () => {
  await using relay = await startScripted()
  relay.device.knows = (handle) => handle === recipient(5)
  await relay.limit(0)

  const known = await relay.send({ to: recipient(5), text: 'hello' })
  const unknown = await relay.send({ to: recipient(6), text: 'hello' })

  expect([known.status, unknown.status]).toEqual([200, 429])
})

test('a queue that crosses midnight at the limit goes on the next day, and never above the limit', async () => {
  await using relay = await startScripted({ lines: ['offline'], capacity: 8 })
  const { device } = relay
  await relay.limit(2)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    ids.push((await relay.send({ to: recipient(i), text: 'hello' })).body.id)
  }

  await device.goOnline()
  await relay.clock.advance(1_000)
  const today = device.sent.length
  relay.clock.doze(13 * HOUR)
  await relay.clock.advance(HOUR)
  const tomorrow = device.sent.length
  const refused = await relay.send({ to: recipient(9), text: 'hello' })
  const messages = await Promise.all(ids.map((id) => relay.message(id)))

  expect([today, tomorrow]).toEqual([2, 4])
  expect(messages.map(({ status }) => status)).toEqual([...Array(4).fill('sent'), 'queued'])
  expect(messages.at(-1).queued_reason).toBe('daily_contact_limit')
  expect(refused.status).toBe(429)
})

test('an accepted message keeps its place over midnight, ahead of later ones', async () => {
  await using relay = await startScripted({ script: refuses })
  await relay.limit(1)
  relay.clock.doze(14 * HOUR - 2_000)
  await relay.clock.advance(0)
  const early = await relay.send({ to: recipient(1), text: 'early' })
  await relay.clock.advance(3_000)
  relay.device.script = accepts

  const late = await relay.send({ to: recipient(2), text: 'late' })
  await relay.clock.advance(60_000)

  expect(early.body.queued_reason).toBe('retry')
  expect(late.status).toBe(429)
  expect((await relay.message(early.body.id)).status).toBe('sent')
})

test('a raised limit lets those go that wait for it', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  await relay.limit(0)
  const answer = await relay.send({ to: recipient(1), text: 'hello' })
  await relay.device.goOnline()
  await relay.clock.advance(1_000)
  const waiting = await relay.message(answer.body.id)

  await relay.limit(1)
  await relay.clock.advance(1_000)

  expect(waiting.queued_reason).toBe('daily_contact_limit')
  expect((await relay.message(answer.body.id)).status).toBe('sent')
})

test('a message that named its line waits for tomorrow there, though another line has room', async () => {
  await using relay = await startScripted({ lines: ['offline', 'online'] })
  await relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { daily_contact_limit: 0 })

  const { body } = await relay.send({
    to: recipient(1),
    text: 'hello',
    phone_line_id: relay.line.id,
  })
  await relay.device.goOnline()
  await relay.clock.advance(2_000)

  expect(await relay.message(body.id)).toMatchObject({
    status: 'queued',
    queued_reason: 'daily_contact_limit',
    phone_line_id: relay.line.id,
  })
  expect(relay.devices.map(({ sent }) => sent)).toEqual([[], []])
})

test('a place that an earlier message reserved is not taken by one whose line could not be asked', async () => {
  await using relay = await startScripted({ script: refuses })
  const { device } = relay
  await relay.limit(1)
  const early = await relay.send({ to: recipient(1), text: 'early' })
  await device.goOffline()
  const late = await relay.send({ to: recipient(2), text: 'late' })

  device.script = accepts
  await device.goOnline()
  await relay.clock.advance(5_000)

  expect([early.body.queued_reason, late.status]).toEqual(['retry', 202])
  expect(relay.texts()).toEqual(['early'])
  expect((await relay.message(late.body.id)).queued_reason).toBe('daily_contact_limit')
})

const KOLKATA = { body: { value: 'Asia/Kolkata' } }

test('at midnight of the shop the limit begins again, and its error and finding say when that is', async () => {
  await using relay = await startScripted()
  await relay.limit(1)
  await asOwner(relay, 'PUT', '/settings/time_zone', KOLKATA)
  await relay.send({ to: recipient(1), text: 'hello' })

  const refused = await relay.send({ to: recipient(2), text: 'hello' })
  const [finding] = await relay.findings('limit_reached')
  relay.clock.doze(8 * HOUR)
  await relay.clock.advance(0.5 * HOUR - 1_000)
  const before = await relay.send({ to: recipient(2), text: 'hello' })
  await relay.clock.advance(1_000)
  const after = await relay.send({ to: recipient(2), text: 'hello' })

  expect(refused.body.error.details.resets_at).toBe('2026-11-21T18:30:00.000Z')
  expect(refused.headers.get('Retry-After')).toBe(String(8.5 * 3_600))
  expect(finding.fix).toContain('Wait until midnight in Asia/Kolkata')
  expect([before.status, after.status]).toEqual([429, 200])
})

test('a message that waits for its day goes at once where the day of a new zone is another one', async () => {
  await using relay = await startScripted({ lines: ['offline'] })
  const { device } = relay
  await relay.limit(1)
  for (const n of [1, 2]) await relay.send({ to: recipient(n), text: 'hello' })
  await device.goOnline()
  relay.clock.doze(8 * HOUR)
  await relay.clock.advance(HOUR)
  const sentInUtc = device.sent.length

  await asOwner(relay, 'PUT', '/settings/time_zone', KOLKATA)
  await relay.clock.advance(1_000)

  expect([sentInUtc, device.sent.length]).toEqual([1, 2])
})

test('what is no name of a time zone is refused, and the setting stays', async () => {
  await using relay = await startScripted()

  const set = await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: '+02:00' } })
  const asked = await relay.request('GET', '/api/v1/stats?time_zone=Nowhere%2FCity')
  const { data } = await asOwner(relay, 'GET', '/settings')

  const message = 'must be the IANA name of a time zone, such as Europe/Berlin or UTC'
  expect(set.error.details.issues ?? set.error).toMatchObject([{ path: 'value', message }])
  expect(asked.body.error.details.issues ?? asked.body.error).toMatchObject([
    { path: 'time_zone', message },
  ])
  expect(data).toContainEqual({
    name: 'time_zone',
    value: 'UTC',
    from: 'default',
    is_locked: false,
  })
})
