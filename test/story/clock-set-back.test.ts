// A wall clock that is set back: what waits for its time still waits for the time that people see.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'
import { startRelay } from '../support/test-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const at = (ms: number) => new Date(TEST_START + ms).toISOString()

async function startWithLine() {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const relay = await startRelay({ drivers: [driver] })
  const texts = () => device.sent.map(({ text }) => text)
  return { relay, texts, [Symbol.asyncDispose]: relay[Symbol.asyncDispose] }
}

for (const backMs of [MINUTE, HOUR, 3 * HOUR]) {
  test(`a clock set back by ${backMs / MINUTE} minutes sends no scheduled message before its time`, async () => {
    await using stage = await startWithLine()
    const { relay, texts } = stage
    await relay.send({ to: TO, text: 'soon', send_at: at(15_000) })
    await relay.send({ to: TO, text: 'later', send_at: at(HOUR) })

    await relay.clock.advance(10_000)
    relay.clock.step(-backMs)
    await relay.clock.advance(backMs + 4_999)
    const early = texts()
    await relay.clock.advance(1)
    const onTime = texts()
    await relay.clock.advance(HOUR)

    expect([early, onTime, texts()]).toEqual([[], ['soon'], ['soon', 'later']])
  })
}

test('after a clock was set back, a message that is due in a minute can be scheduled, and others leave at once', async () => {
  await using stage = await startWithLine()
  const { relay, texts } = stage
  await relay.send({ to: TO, text: 'before' })

  relay.clock.step(-2 * HOUR)
  await relay.clock.advance(MINUTE)
  const scheduled = await relay.send({
    to: TO,
    text: 'later',
    send_at: at(MINUTE - 2 * HOUR + MINUTE),
  })
  const sent = await relay.send({ to: '+12025550701', text: 'now' })
  await relay.clock.advance(MINUTE)

  expect([scheduled.status, sent.body.status]).toEqual([202, 'sent'])
  expect(texts()).toEqual(['before', 'now', 'later'])
})

test('a clock set back in quiet hours ends them no earlier', async () => {
  await using stage = await startWithLine()
  const { relay, texts } = stage
  const [{ id }] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${id}`, { quiet_hours: { from: '09:00', to: '10:40' } })
  await relay.send({ to: TO, text: 'morning' }, { Prefer: 'respond-async' })

  await relay.clock.advance(10 * MINUTE)
  relay.clock.step(-HOUR)
  await relay.clock.advance(1.5 * HOUR - 1)
  const early = texts()
  await relay.clock.advance(1)

  expect([early, texts()]).toEqual([[], ['morning']])
})

test('a message that is approved after the clock was set back leaves at once', async () => {
  await using stage = await startWithLine()
  const { relay, texts } = stage
  const { body: key } = await relay.post('/api/v1/keys', {
    name: 'agent',
    rules: { approval: 'always' },
  })
  const agent = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  const [first, second] = [
    await relay.send({ to: TO, text: 'one' }, agent),
    await relay.send({ to: TO, text: 'two' }, agent),
  ]

  relay.clock.step(-2 * HOUR)
  await relay.clock.advance(MINUTE)
  await asOwner(relay, 'POST', `/messages/${second.body.id}/approve`, { body: {} })
  const behind = texts()
  await asOwner(relay, 'POST', `/messages/${first.body.id}/approve`, { body: {} })
  await relay.clock.advance(1_000)

  expect([behind, texts()]).toEqual([[], ['one', 'two']])
})
