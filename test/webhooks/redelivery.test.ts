import { expect, test } from 'bun:test'

import { settle } from '../support/test-clock.ts'
import { OWNER, codeOf, EVERYTHING, startRig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'

test('test, redeliver and replay on an inactive webhook are refused', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)
  await rig.subscriptions.update(id, { isActive: false }, OWNER)

  const codes = [
    await codeOf(() => rig.subscriptions.sendTest(id)),
    await codeOf(() => rig.subscriptions.redeliver(delivery?.id ?? '')),
    await codeOf(() => rig.subscriptions.replay(id, EVERYTHING, OWNER)),
    await codeOf(() => rig.subscriptions.retryFailed(id, EVERYTHING, OWNER)),
  ]

  expect(codes).toEqual(Array(4).fill('webhook_inactive'))
  await rig.stop()
})

test('a test is a sample of the first event, from a handle and a line that nobody has', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook(URL, ['message.read', 'message.delivered'])

  const delivery = await rig.subscriptions.sendTest(id)
  await settle()

  const [posted] = rig.sink.posts
  expect(delivery).toMatchObject({ event: 'message.delivered', message_id: null })
  expect(delivery.event_id).toMatch(/^evt_test_[0-9a-z]{26}$/)
  expect(posted?.id).toBe(delivery.event_id)
  expect(JSON.parse(posted?.body ?? '')).toMatchObject({
    event: 'message.delivered',
    phone_line_id: 'line_00000000000000000000000000',
    message: { handle: '+12025550100', isFromMe: true, isDelivered: true, isRead: false },
  })
  expect(rig.delivery(delivery.id)).toMatchObject({
    status: 'succeeded',
    attempts: [{ trigger: 'manual', status_code: 200 }],
  })
  await rig.stop()
})

test('a redelivery sends the same event again, under the same id', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)

  const again = await rig.subscriptions.redeliver(delivery?.id ?? '')
  await settle()

  expect(again).toMatchObject({ status: 'pending', completed_at: null })
  const [first, second] = rig.sink.posts
  expect([second?.id, second?.body]).toEqual([first?.id, first?.body])
  expect(rig.delivery(delivery?.id)).toMatchObject({ status: 'succeeded', attempt_count: 2 })
  await rig.stop()
})

test('a redelivery that fails starts the whole schedule anew', async () => {
  const rig = await startRig({ scheduleMs: [5_000] })
  const { id } = await rig.webhook()
  rig.sink.answer = () => 500
  await rig.event()
  await rig.clock.advance(5_000)
  const [exhausted] = rig.deliveries(id)

  await rig.subscriptions.redeliver(exhausted?.id ?? '')
  await rig.clock.advance(5_000)

  expect(exhausted?.status).toBe('exhausted')
  const { status, attempts } = rig.delivery(exhausted?.id)
  expect(status).toBe('exhausted')
  const triggers = attempts.map(({ trigger }) => trigger)
  expect(triggers.filter((trigger) => trigger !== 'probe')).toEqual([
    'scheduled',
    'scheduled',
    'manual',
    'scheduled',
  ])
  await rig.stop()
})

test('what a private target answered is shown to trusted readers only', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  rig.sink.answer = () => ({
    result: 'answered',
    statusCode: 200,
    excerpt: 'router admin page',
    retryAfterSeconds: null,
    isPrivateTarget: true,
  })
  await rig.event()
  const [delivery] = rig.deliveries(id)

  const shown = [true, false].map((isTrusted) =>
    rig.subscriptions.getDelivery(delivery?.id ?? '', { isTrusted }),
  )

  expect(shown.map(({ attempts }) => attempts[0]?.response_excerpt)).toEqual([
    'router admin page',
    null,
  ])
  await rig.stop()
})

test('deliveries are listed newest first, by status where it is given, in pages', async () => {
  const rig = await startRig({ scheduleMs: [60_000] })
  const { id } = await rig.webhook()
  rig.sink.answer = (_, index) => (index % 2 === 0 ? 200 : 500)
  for (let i = 0; i < 6; i += 1) await rig.event(`c${i}`)

  const first = rig.subscriptions.listDeliveries(
    id,
    { status: 'pending' },
    { limit: 2, cursor: null },
  )
  const rest = rig.subscriptions.listDeliveries(
    id,
    { status: 'pending' },
    { limit: 2, cursor: first.next_cursor },
  )

  const all = rig.deliveries(id).map((delivery) => delivery.id)
  expect([...first.data, ...rest.data].map((delivery) => delivery.id)).toEqual(
    [all[0], all[2], all[4]].map(String),
  )
  expect([first.has_more, rest.has_more]).toEqual([true, false])
  await rig.stop()
})
