// Quiet hours of a line: what is sent in them waits, unless it is urgent. The test begins at 10:00 UTC.

import { expect, test } from 'bun:test'

import { quietUntil } from '../../src/domain/quiet-hours.ts'
import { asOwner } from '../support/control-socket.ts'
import { startScripted } from '../support/scripted-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

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
