// The service that a caller asks for, and what the relay's own messages show of a recipient.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { SendOutcome } from '../../src/lines/driver.ts'
import { copyDatabase } from '../support/ended-relay.ts'
import { startRich } from '../support/rich-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { guidOf, TEXTS_ONLY, type SendScript } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'

const TO = '+15550001234'
const NOT_ON_IMESSAGE: SendOutcome = {
  outcome: 'not_sent',
  reason: 'not_on_imessage',
  blame: 'message',
}

/** A recipient who has SMS only: iMessage refuses, after the point of no return. */
const smsOnly: SendScript = async (message, pointOfNoReturn) => {
  await pointOfNoReturn('note')
  if (message.service !== 'SMS') return NOT_ON_IMESSAGE
  return { outcome: 'accepted', guid: guidOf(801), service: 'SMS' }
}

/** One outcome for each send, in this order. */
function inTurn(...outcomes: readonly SendOutcome[]): SendScript {
  let next = 0
  return async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    next += 1
    return outcomes[next - 1] ?? NOT_ON_IMESSAGE
  }
}

type Rich = Awaited<ReturnType<typeof startRich>>

const servicesGiven = ({ device }: Rich) => device.given.map(({ service }) => service)
const recipient = (relay: Rich, handle = TO) =>
  relay.get(`/api/v1/recipients/${encodeURIComponent(handle)}`)

const receive = (
  { device }: Rich,
  guid: string,
  { at, ...more }: { at: number; service?: string },
) => device.receive({ guid, handle: deviceHandle(TO), at: timestamp(at), ...more })

test('a message without a wish names no service to the device, and is answered as ever', async () => {
  await using relay = await startRich({
    script: inTurn({ outcome: 'accepted', guid: null, service: 'SMS' }),
  })

  const { body } = await relay.send({ to: TO, text: 'hi' })

  expect(Object.keys(relay.device.given[0] ?? {})).not.toContain('service')
  expect(body.service).toBe('iMessage')
  expect((await relay.message(body.id)).service).toBe('SMS')
})

for (const service of ['iMessage', 'SMS'] as const) {
  test(`${service} is asked for exactly, and no other service after it`, async () => {
    await using relay = await startRich()
    relay.device.script = inTurn(NOT_ON_IMESSAGE)

    const { status, body } = await relay.send({ to: TO, text: 'hi', service })
    await relay.clock.advance(60_000)

    expect([status, body.error.details.reason]).toEqual([422, 'not_on_imessage'])
    expect(servicesGiven(relay)).toEqual([service])
  })
}

test('a message that was asked for as SMS says that it is SMS', async () => {
  await using relay = await startRich()

  const { body } = await relay.send({ to: TO, text: 'hi', service: 'SMS' })

  expect(body.service).toBe('SMS')
  expect((await relay.message(body.id)).service).toBe('SMS')
})

test('auto takes one try as SMS where iMessage has refused, in one answer and one event', async () => {
  await using relay = await startRich({ script: smsOnly })
  const hook = 'https://shop.example.com/hooks'
  await relay.post('/api/v1/webhooks', { url: hook, events: ['message.sent', 'message.failed'] })

  const { status, body } = await relay.send({ to: TO, text: 'hi', service: 'auto' })
  await relay.clock.advance(1_000)

  expect([status, body.status, body.service]).toEqual([200, 'sent', 'SMS'])
  expect(servicesGiven(relay)).toEqual(['iMessage', 'SMS'])
  const told = relay.sink.to(hook).map((posted) => JSON.parse(posted.body))
  expect(told.map(({ event, message }) => [event, message.service])).toEqual([
    ['message.sent', 'SMS'],
  ])
  expect((await relay.lines())[0].new_contacts_today).toBe(1)
  const [conversation] = (await relay.get('/api/v1/conversations')).data
  expect(conversation.service).toBe('SMS')
})

test('the try as SMS is one try: its failure is the end', async () => {
  await using relay = await startRich({ script: inTurn(NOT_ON_IMESSAGE, NOT_ON_IMESSAGE) })

  const { status } = await relay.send({ to: TO, text: 'hi', service: 'auto' })
  await relay.clock.advance(60_000)

  expect(status).toBe(422)
  expect(servicesGiven(relay)).toEqual(['iMessage', 'SMS'])
})

const NO_SMS: readonly (readonly [name: string, first: SendOutcome])[] = [
  ['was refused for another reason', { ...NOT_ON_IMESSAGE, reason: 'recipient_rejected' }],
  ['may have left', { outcome: 'unknown', reason: 'not_on_imessage' }],
  ['has left', { outcome: 'accepted', guid: guidOf(802) }],
  ['is held by the device', { outcome: 'held', guid: guidOf(802) }],
]

for (const [name, first] of NO_SMS) {
  test(`auto never turns to SMS where the message ${name}`, async () => {
    await using relay = await startRich()
    relay.device.script = inTurn(first)

    await relay.send({ to: TO, text: 'hi', service: 'auto' }, { Prefer: 'respond-async' })
    await relay.clock.advance(1_000)
    await relay.device.report(guidOf(802), 'failed', TEST_START, { reason: 'not_on_imessage' })
    await relay.clock.advance(3_600_000)

    expect(servicesGiven(relay)).toEqual(['iMessage'])
  })
}

test('auto does not turn to SMS on a line that cannot choose any more', async () => {
  await using relay = await startRich()
  relay.device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    relay.device.capabilities = TEXTS_ONLY
    await relay.device.goOnline()
    return NOT_ON_IMESSAGE
  }

  const { status, body } = await relay.send({ to: TO, text: 'hi', service: 'auto' })

  expect([status, body.error.details.reason]).toEqual([422, 'not_on_imessage'])
  expect(servicesGiven(relay)).toEqual(['iMessage'])
})

test('a message that turned to SMS before a crash goes out as SMS after it', async () => {
  using folder = new ScratchFolder()
  const before = await startRich({ folder, path: folder.file('a.db') })
  before.device.script = async (message, pointOfNoReturn) => {
    if (message.service === 'SMS') return new Promise(() => {})
    await pointOfNoReturn('note')
    return NOT_ON_IMESSAGE
  }
  const asked = { to: TO, text: 'hi', service: 'auto' }
  const { body } = await before.send(asked, { Prefer: 'respond-async' })
  await before.clock.advance(10)
  copyDatabase(folder, 'a.db', 'b.db')

  await using after = await startRich({ folder, before, path: folder.file('b.db') })
  await after.clock.advance(1_000)

  expect((await after.message(body.id)).status).toBe('sent')
  expect(servicesGiven(after)).toEqual(['SMS'])
})

test('the evidence of a recipient is the newest of what their messages show', async () => {
  await using relay = await startRich()
  const seen = async () => {
    const { service, evidence, last_seen_at } = await recipient(relay)
    return [service, evidence, last_seen_at]
  }
  const steps = [await seen()]

  relay.device.script = inTurn(NOT_ON_IMESSAGE)
  await relay.send({ to: TO, text: 'hi' })
  steps.push(await seen())
  await relay.clock.advance(60_000)
  await receive(relay, guidOf(1), { at: TEST_START + 30_000, service: 'iMessage' })
  steps.push(await seen())
  await relay.clock.advance(60_000)
  relay.device.script = inTurn({ outcome: 'accepted', guid: guidOf(2), service: 'SMS' })
  await relay.send({ to: TO, text: 'as SMS' })
  steps.push(await seen())
  await receive(relay, guidOf(3), { at: TEST_START + 90_000, service: 'SMS' })
  steps.push(await seen())
  relay.device.script = inTurn({ outcome: 'accepted', guid: guidOf(4) })
  await relay.send({ to: TO, text: 'delivered' })
  await relay.device.report(guidOf(4), 'delivered', TEST_START + 120_000)
  steps.push(await seen())

  expect(steps).toEqual([
    ['unknown', 'none', null],
    ['SMS', 'failed_22', '2026-11-21T10:00:00.000Z'],
    ['iMessage', 'delivered_imessage', '2026-11-21T10:00:30.000Z'],
    ['iMessage', 'delivered_imessage', '2026-11-21T10:00:30.000Z'],
    ['SMS', 'received_sms', '2026-11-21T10:01:30.000Z'],
    ['iMessage', 'delivered_imessage', '2026-11-21T10:02:00.000Z'],
  ])
  expect((await recipient(relay)).phone_line_id).toBe((await relay.lines())[0].id)
})

test('evidence decides the first try of auto, and an iMessage from them brings it back', async () => {
  await using relay = await startRich({ script: smsOnly })
  await relay.send({ to: TO, text: 'one', service: 'auto' })
  await relay.clock.advance(60_000)
  await relay.send({ to: TO, text: 'two', service: 'auto' })
  await receive(relay, guidOf(5), { at: TEST_START + 61_000 })
  await relay.clock.advance(60_000)
  await relay.send({ to: TO, text: 'three', service: 'auto' })

  expect(servicesGiven(relay)).toEqual(['iMessage', 'SMS', 'SMS', 'iMessage', 'SMS'])
  expect((await recipient(relay)).evidence).toBe('failed_22')
})

test('what is no recipient has no evidence, but an error', async () => {
  await using relay = await startRich()

  expect((await recipient(relay, 'nobody')).error.code).toBe('invalid_recipient')
  expect((await recipient(relay, 'A@Example.com')).handle).toBe('a@example.com')
})
