// Messages that are sent later: at a time of theirs, or when the quiet hours of their line are over; and those that
// are canceled. The clock starts at 10:00 UTC.

import { expect, test } from 'bun:test'

import { quietUntil } from '../../src/domain/quiet-hours.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { asOwner } from '../support/control-socket.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** In UTC, as the days of the limits are. */
const BEFORE_MIDNIGHT = TEST_START + 14 * HOUR - 10 * MINUTE
const TOMORROW = new Date(BEFORE_MIDNIGHT + 40 * MINUTE).toISOString()

const at = (ms: number) => new Date(TEST_START + ms).toISOString()

test('a scheduled message is answered at once, waits, and leaves at its time', async () => {
  await using relay = await startScripted()
  const { texts } = relay

  const answer = await relay.send(
    { to: TO, text: 'later', send_at: at(2 * HOUR) },
    { Prefer: 'wait=30' },
  )
  await relay.clock.advance(2 * HOUR - 1)
  const before = texts()
  await relay.clock.advance(1)

  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({
    status: 'queued',
    queued_reason: 'scheduled',
    send_at: at(2 * HOUR),
  })
  expect([before, texts()]).toEqual([[], ['later']])
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'sent',
    send_at: at(2 * HOUR),
  })
  expect(await relay.eventNames()).toEqual(['message.sent'])
})

test('scheduled messages hold up nobody, and leave in the order of their times', async () => {
  await using relay = await startScripted()
  const { device, texts } = relay

  await relay.send({ to: TO, text: 'at three', send_at: at(3 * HOUR) })
  await relay.send({ to: TO, text: 'at two', send_at: at(2 * HOUR) })
  await relay.send({ to: TO, text: 'now' })
  const first = texts()
  await device.goOffline()
  await relay.clock.advance(2.5 * HOUR)
  await relay.send({ to: TO, text: 'between' }, { Prefer: 'respond-async' })
  await relay.clock.advance(HOUR)
  await device.goOnline()
  await relay.clock.advance(MINUTE)

  expect(first).toEqual(['now'])
  expect(texts()).toEqual(['now', 'at two', 'between', 'at three'])
})

test('its 24 hours count from its time', async () => {
  await using relay = await startScripted()
  const { device } = relay
  const { body } = await relay.send({ to: TO, text: 'later', send_at: at(30 * HOUR) })
  const ordinary = await relay.send({ to: '+12025550701', text: 'sent' })

  await device.goOffline()
  relay.clock.doze(53 * HOUR)
  await relay.clock.advance(MINUTE)
  const waiting = await relay.message(body.id)
  relay.clock.doze(HOUR)
  await relay.clock.advance(MINUTE)

  expect(ordinary.status).toBe(200)
  expect([waiting.status, waiting.queued_reason]).toEqual(['queued', 'line_offline'])
  expect(await relay.message(body.id)).toMatchObject({
    status: 'expired',
    error: { code: 'expired' },
  })
})

test('a time that is over, too far ahead or without a zone is refused; a repeat gets its first answer', async () => {
  await using relay = await startScripted()
  const { texts } = relay
  const send = (send_at: string) => relay.send({ to: TO, text: 'later', send_at })

  const answers = await Promise.all([at(0), at(90 * DAY + 1), '2026-11-22T10:00:00'].map(send))
  const key = { 'Idempotency-Key': 'once' }
  const first = await relay.send({ to: TO, text: 'later', send_at: at(HOUR) }, key)
  await relay.clock.advance(2 * HOUR)
  const again = await relay.send({ to: TO, text: 'later', send_at: at(HOUR) }, key)
  const other = await relay.send({ to: TO, text: 'later', send_at: at(3 * HOUR) }, key)

  expect(answers.map(({ status, body }) => [status, body.error.details.issues[0].path])).toEqual(
    Array.from({ length: 3 }, () => [400, 'send_at']),
  )
  expect([again.status, again.body]).toEqual([202, first.body])
  expect(other.body.error.code).toBe('idempotency_conflict')
  expect(texts()).toEqual(['later'])
})

test('a canceled message never leaves, gives its contact back, and says so', async () => {
  await using relay = await startScripted()
  const { device, texts } = relay
  await relay.limit(1)
  const cancel = (id: string) => relay.request('DELETE', `/api/v1/messages/${id}`)

  const scheduled = await relay.send({ to: TO, text: 'scheduled', send_at: at(HOUR) })
  const canceled = await cancel(scheduled.body.id)
  await device.goOffline()
  const queued = await relay.send({ to: '+12025550701', text: 'queued' })
  await cancel(queued.body.id)
  await device.goOnline()
  await relay.clock.advance(2 * HOUR)
  const sent = await relay.send({ to: '+12025550702', text: 'sent' })

  expect([canceled.status, canceled.body.status, canceled.body.error.code]).toEqual([
    200,
    'failed',
    'canceled',
  ])
  expect(texts()).toEqual(['sent'])
  expect((await relay.eventNames()).slice(0, 2)).toEqual(['message.failed', 'message.failed'])
  for (const { body } of [scheduled, sent]) {
    const late = await cancel(body.id)
    expect([late.status, late.body.error.code]).toEqual([409, 'not_queued'])
  }
  expect((await cancel('msg_unknown')).status).toBe(404)
})

test('a message that is canceled while its driver prepares is not sent', async () => {
  await using relay = await startScripted()
  const { device } = relay
  const { promise: prepared, resolve: prepare } = Promise.withResolvers<void>()
  const granted: boolean[] = []
  device.script = async (_message, pointOfNoReturn) => {
    await prepared
    granted.push(await pointOfNoReturn(null))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }

  const sending = relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(0)
  const [message] = (await relay.get('/api/v1/messages?status=queued')).data
  const canceled = await relay.request('DELETE', `/api/v1/messages/${message.id}`)
  prepare()
  await relay.clock.advance(MINUTE)

  expect(canceled.status).toBe(200)
  expect(granted).toEqual([false])
  expect((await sending).body.error).toMatchObject({
    code: 'send_failed',
    details: { reason: 'canceled' },
  })
})

test('the place of a new contact is one of the day of sending', async () => {
  await using relay = await startScripted({ clock: new TestClock(BEFORE_MIDNIGHT) })
  const { texts } = relay
  await relay.limit(1)
  const used = async () => (await relay.lines())[0].new_contacts_today

  const tomorrow = await relay.send({ to: TO, text: 'tomorrow', send_at: TOMORROW })
  const full = await relay.send({ to: '+12025550701', text: 'too many', send_at: TOMORROW })
  const usedToday = await used()
  const today = await relay.send({ to: '+12025550702', text: 'today' })
  await relay.clock.advance(20 * MINUTE)
  const usedTomorrow = await used()
  await relay.clock.advance(HOUR)

  expect([tomorrow.status, full.status, today.status]).toEqual([202, 429, 200])
  expect(full.body.error.details).toMatchObject({ limit: 'daily_contacts', used: 1 })
  expect([usedToday, usedTomorrow, await used()]).toEqual([0, 1, 1])
  expect(texts()).toEqual(['today', 'tomorrow'])
})

test('a message of today to a person who is scheduled for tomorrow takes a place of today', async () => {
  await using relay = await startScripted({ clock: new TestClock(BEFORE_MIDNIGHT) })
  const { texts } = relay
  await relay.limit(1)

  await relay.send({ to: TO, text: 'tomorrow', send_at: TOMORROW })
  const sooner = await relay.send({ to: TO, text: 'today' })
  const other = await relay.send({ to: '+12025550702', text: 'too many' })
  await relay.clock.advance(HOUR)

  expect([sooner.status, other.status]).toEqual([200, 429])
  expect(texts()).toEqual(['today', 'tomorrow'])
})

test('the list finds what is scheduled, as queued and by its reason', async () => {
  await using relay = await startScripted()
  const { device } = relay
  await device.goOffline()
  const waiting = await relay.send({ to: TO, text: 'waits' })
  const later = await relay.send({ to: TO, text: 'later', send_at: at(HOUR) })
  const ids = async (query: string) =>
    (await relay.get(`/api/v1/messages?${query}`)).data.map(({ id }: { id: string }) => id)

  expect(await ids('status=queued')).toEqual([later.body.id, waiting.body.id])
  expect(await ids('queued_reason=scheduled')).toEqual([later.body.id])
  expect(await ids(`status=queued&updated_since=${at(-HOUR)}`)).toEqual([
    waiting.body.id,
    later.body.id,
  ])
})

/** Counts of messages that left before the relay ended and, after each of `more`, since its next start. */
async function sentAfterRestart(offMs: number, more: readonly number[]) {
  const database = openDatabase(':memory:', { version: 'test' })
  const before = await startScripted({ database })
  const { clock, key } = before
  await before.send({ to: TO, text: 'later', send_at: at(2 * HOUR) })
  await before[Symbol.asyncDispose]()
  const now = new TestClock(clock.now() + offMs)
  await using relay = await startScripted({ database, key, clock: now })
  const sent = [before.texts().length]
  for (const ms of more) {
    await relay.clock.advance(ms)
    sent.push(relay.texts().length)
  }
  return sent
}

test('a restart sends nothing early and nothing twice', async () => {
  expect(await sentAfterRestart(0, [HOUR, HOUR, HOUR])).toEqual([0, 0, 1, 1])
})

test('after a start with a clock far ahead the message waits until the clock is confirmed', async () => {
  expect(await sentAfterRestart(3 * HOUR, [30 * MINUTE, 40 * MINUTE])).toEqual([0, 0, 1])
})

test('a clock that jumps ahead while the relay runs sends nothing early', async () => {
  await using relay = await startScripted()
  const { texts } = relay
  await relay.send({ to: TO, text: 'later', send_at: at(2 * HOUR) })

  relay.clock.step(6 * HOUR)
  await relay.clock.advance(30 * MINUTE)
  relay.clock.step(-6 * HOUR)
  await relay.clock.advance(HOUR)
  const before = texts()
  await relay.clock.advance(HOUR)

  expect([before, texts()]).toEqual([[], ['later']])
})

async function startQuiet(quiet_hours: unknown) {
  const relay = await startScripted()
  const change = (hours: unknown) =>
    relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { quiet_hours: hours })
  return { ...relay, change, changed: await change(quiet_hours) }
}

test('messages of quiet hours wait until they end, in order, and an urgent one goes past them', async () => {
  await using relay = await startQuiet({ from: '09:00', to: '11:30' })
  const { changed, texts } = relay

  const first = await relay.send({ to: TO, text: 'one' }, { Prefer: 'wait=30' })
  await relay.send({ to: TO, text: 'two' })
  const urgent = await relay.send({ to: TO, text: 'fire' }, { Prefer: 'urgent, wait=5' })
  await relay.clock.advance(1.5 * HOUR - 1)
  const before = texts()
  await relay.clock.advance(1)

  expect(changed.body.quiet_hours).toEqual({ from: '09:00', to: '11:30' })
  expect([first.status, first.body.queued_reason]).toEqual([202, 'quiet_hours'])
  expect(first.headers.get('preference-applied')).toBe(null)
  expect([urgent.status, urgent.headers.get('preference-applied')]).toEqual([200, 'urgent'])
  expect([before, texts()]).toEqual([['fire'], ['fire', 'one', 'two']])
})

test('what still waits when quiet hours begin waits for their end, too', async () => {
  await using relay = await startQuiet({ from: '11:00', to: '12:00' })
  const { device, texts } = relay

  await device.goOffline()
  const { body } = await relay.send({ to: TO, text: 'late' })
  await relay.clock.advance(HOUR + MINUTE)
  await device.goOnline()
  await relay.clock.advance(MINUTE)
  const waiting = await relay.message(body.id)
  const scheduled = new Date(relay.clock.now() + MINUTE).toISOString()
  await relay.send({ to: TO, text: 'scheduled', send_at: scheduled })
  await relay.clock.advance(HOUR)

  expect(waiting).toMatchObject({ status: 'queued', queued_reason: 'quiet_hours' })
  expect(texts()).toEqual(['late', 'scheduled'])
})

test('quiet hours that end earlier by a change of them, or of the time zone, let messages go', async () => {
  await using relay = await startQuiet({ from: '09:00', to: '12:00' })
  const { texts, change } = relay

  await relay.send({ to: TO, text: 'one' })
  const off = await change(null)
  await relay.clock.advance(0)
  await change({ from: '09:00', to: '12:00' })
  await relay.send({ to: TO, text: 'two' })
  const before = texts()
  await asOwner(relay, 'PUT', '/settings/time_zone', { body: { value: 'Asia/Tokyo' } })
  await relay.clock.advance(0)

  expect(off.body.quiet_hours).toBeUndefined()
  expect([before, texts()]).toEqual([['one'], ['one', 'two']])
})

test('hours that are no times of day, or begin when they end, are refused', async () => {
  for (const hours of [{ from: '24:00', to: '08:00' }, { from: '9:00', to: '11:00' }, '21-8']) {
    await using relay = await startQuiet(hours)
    expect(relay.changed.status).toBe(400)
  }
  await using same = await startQuiet({ from: '08:00', to: '08:00' })
  expect(same.changed.body.error.details.issues[0].path).toBe('quiet_hours')
})

test('they pass midnight and follow summer time', () => {
  const night = { from: '21:00', to: '08:00' }
  const ends = [
    '2026-11-21T20:59:00+01:00',
    '2026-11-21T21:00:00+01:00',
    '2026-11-22T07:59:59+01:00',
    '2026-11-22T08:00:00+01:00',
    // The clocks go forward in this night, and back in the next one.
    '2026-03-28T23:00:00+01:00',
    '2026-10-24T23:00:00+02:00',
  ].map((time) => quietUntil(night, Date.parse(time), 'Europe/Berlin'))

  expect(ends.map((end) => (end === null ? null : new Date(end).toISOString()))).toEqual([
    null,
    '2026-11-22T07:00:00.000Z',
    '2026-11-22T07:00:00.000Z',
    null,
    '2026-03-29T06:00:00.000Z',
    '2026-10-25T07:00:00.000Z',
  ])
})
