import { expect, test } from 'bun:test'

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
