// The way out on the test clock: lines that come and go, refuse, answer late or never. What the
// simulated line does is in test/drivers, what a webhook does in test/webhooks.

import { expect, test } from 'bun:test'

import { asOwner } from '../support/control-socket.ts'
import { accepts, guidOf, refuses, ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const TO = '+12025550700'
const HOUR = 3_600_000

test('a message leaves through the first line that is online, and the answer says sent', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801', false)
  const second = driver.add('+12025550802')
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })

  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ status: 'sent', phone_number: '+12025550802', to: TO })
  expect(second.sent.map((message) => message.text)).toEqual(['hello'])
})

test('an offline line keeps its message until it is back', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()

  const answer = await relay.send({ to: TO, text: 'hello', phone_line_id: line?.id })
  await relay.clock.advance(HOUR)
  const waiting = await relay.message(answer.body.id)
  await device.goOnline()
  await relay.clock.advance(1_000)

  expect([answer.status, answer.body.status, answer.body.queued_reason]).toEqual([
    202,
    'queued',
    'line_offline',
  ])
  expect(waiting.status).toBe('queued')
  expect((await relay.message(answer.body.id)).status).toBe('sent')
  expect(device.sent).toHaveLength(1)
})

test('a message that named no line goes to another one as soon as that is online', async () => {
  const driver = new ScriptedDriver()
  const first = driver.add('+12025550801', false)
  const second = driver.add('+12025550802', false)
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await second.goOnline()
  await relay.clock.advance(1_000)
  await first.goOnline()
  await relay.clock.advance(1_000)

  expect(answer.body.phone_number).toBe('+12025550801')
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'sent',
    phone_number: '+12025550802',
    from: '+12025550802',
  })
  expect([first.sent.length, second.sent.length]).toEqual([0, 1])
  const { data } = await relay.get('/api/v1/conversations')
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({ phone_number: '+12025550802', message_count: 1 })
})

test('two lines that both refuse are each offered the message once a round, four rounds long', async () => {
  const driver = new ScriptedDriver()
  const devices = [driver.add('+12025550801'), driver.add('+12025550802')]
  await using relay = await startRelay({ drivers: [driver] })
  const offers: [number, string][] = []
  for (const device of devices) {
    device.script = async (...send) => {
      offers.push([relay.elapsedMs(), device.number])
      return refuses(...send)
    }
  }

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(120_000)

  expect([answer.status, answer.body.queued_reason]).toEqual([202, 'retry'])
  expect(offers).toEqual([
    [0, '+12025550801'],
    [0, '+12025550802'],
    [1_000, '+12025550801'],
    [1_000, '+12025550802'],
    [6_000, '+12025550801'],
    [6_000, '+12025550802'],
    [36_000, '+12025550801'],
    [36_000, '+12025550802'],
  ])
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'line_refused' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('a message with a line is offered to no other one', async () => {
  const driver = new ScriptedDriver()
  const first = driver.add('+12025550801')
  const second = driver.add('+12025550802')
  first.script = refuses
  await using relay = await startRelay({ drivers: [driver] })
  const [line] = await relay.lines()

  const answer = await relay.send({ to: TO, text: 'hello', phone_line_id: line?.id })
  await relay.clock.advance(120_000)

  expect((await relay.message(answer.body.id)).status).toBe('failed')
  expect([first.given.length, second.given.length]).toEqual([4, 0])
})

test('a refusal that blames the message is told at once and never tried again', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = async () => ({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(HOUR)

  expect(answer.status).toBe(422)
  expect(answer.body.error).toMatchObject({
    code: 'send_failed',
    details: { reason: 'not_on_imessage' },
  })
  expect(device.given).toHaveLength(1)
})

test('messages to one recipient leave in order, and one that waits holds back those behind it', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.capacity = 8
  let refusals = 1
  device.script = (...send) => {
    if (send[0].text === 'one' && refusals > 0) {
      refusals -= 1
      return refuses(...send)
    }
    return accepts(...send)
  }
  await using relay = await startRelay({ drivers: [driver] })

  const first = await relay.send({ to: TO, text: 'one' })
  const second = await relay.send({ to: TO, text: 'two' }, { Prefer: 'respond-async' })
  const other = await relay.send({ to: '+12025550701', text: 'elsewhere' })
  await relay.clock.advance(5_000)

  expect(first.body.queued_reason).toBe('retry')
  expect(second.body.queued_reason).toBe('earlier_message')
  expect(other.status).toBe(200)
  expect(device.sent.map((message) => message.text)).toEqual(['elsewhere', 'one', 'two'])
})

test('whatever waited for a day expires within seconds, however much that is', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801', false)
  await using relay = await startRelay({ drivers: [driver] })
  const orders = Array.from({ length: 150 }, (_, number) => ({
    to: `+120255507${10 + (number % 10)}`,
    text: `message ${number}`,
  }))

  await relay.clock.advance(15_000)
  const answers = await Promise.all(orders.map((order) => relay.send(order)))
  await relay.clock.advance(24 * HOUR + 500)
  const messages = await Promise.all(answers.map(({ body }) => relay.message(body.id)))

  expect(messages.filter(({ status }) => status === 'expired')).toHaveLength(orders.length)
})

test('a message that expires while its driver prepares is not sent', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801', false)
  const { promise: prepared, resolve: prepare } = Promise.withResolvers<void>()
  const granted: boolean[] = []
  device.script = async (_message, pointOfNoReturn) => {
    await prepared
    granted.push(await pointOfNoReturn(null))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  await using relay = await startRelay({ drivers: [driver] })

  const answer = await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(24 * HOUR - 1_000)
  await device.goOnline()
  await relay.clock.advance(2_000)
  prepare()
  await relay.clock.advance(1_000)

  expect(granted).toEqual([false])
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'expired',
    error: { code: 'expired' },
  })
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('a receipt that comes before the outcome that carries its guid is not lost', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn(null)
    await device.report(guidOf(900), 'delivered', relay.clock.now())
    return { outcome: 'accepted', guid: guidOf(900) }
  }

  const answer = await relay.send({ to: TO, text: 'hello' })

  expect(answer.body.status).toBe('sent')
  expect(await relay.message(answer.body.id)).toMatchObject({
    status: 'delivered',
    platform_guid: guidOf(900),
  })
  expect(await relay.eventNames()).toEqual(['message.sent', 'message.delivered'])
})

test('a clock that steps back neither reorders messages nor stops what waits', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  let refusals = 1
  device.script = (...send) => {
    refusals -= 1
    return refusals >= 0 ? refuses(...send) : accepts(...send)
  }
  await using relay = await startRelay({ drivers: [driver] })
  const before = await relay.send({ to: TO, text: 'before' })

  relay.clock.step(-HOUR)
  const after = await relay.send({ to: TO, text: 'after' }, { Prefer: 'respond-async' })
  await relay.clock.advance(10_000)

  expect(after.body.created_at >= before.body.created_at).toBe(true)
  expect(device.sent.map((message) => message.text)).toEqual(['before', 'after'])
})

test('a caller whose line goes offline while its driver prepares is answered at once', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = async (_message, _pointOfNoReturn, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  await using relay = await startRelay({ drivers: [driver] })

  const sending = relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(1_000)
  await device.goOffline()
  await relay.clock.advance(10)
  const answer = await Promise.race([sending, null])

  expect([answer?.status, answer?.body.queued_reason]).toEqual([202, 'line_offline'])
})

test('a repeat gets its first answer also when the message was deleted since', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  await using relay = await startRelay({ drivers: [driver] })
  const setting = { body: { value: '1' } }
  await asOwner(relay, 'PUT', '/settings/message_retention_days', setting)
  const body = { to: TO, text: 'hello' }
  const first = await relay.send(body, { 'Idempotency-Key': 'once' })
  relay.clock.doze(48 * HOUR)
  await relay.clock.advance(2 * HOUR)

  const repeated = await relay.send(body, { 'Idempotency-Key': 'once' })

  expect((await relay.message(first.body.id)).error.code).toBe('not_found')
  expect([repeated.status, repeated.body]).toEqual([200, first.body])
  expect(repeated.headers.get('Idempotency-Replayed')).toBe('true')
})
