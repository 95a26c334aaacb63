import { expect, test } from 'bun:test'

import { eventIdOf } from '../../src/webhooks/publish.ts'
import { OWNER, messageOf, startRig } from '../support/webhook-rig.ts'

test('a second time for the same message and name does nothing', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  const message = await rig.event()

  await rig.publish('message.received', message)

  expect(rig.deliveries(webhook.id)).toHaveLength(1)
  expect(rig.sink.posts).toHaveLength(1)
})

test('the id of an event is the same after a restore, however late it is published again', async () => {
  await using first = await startRig()
  await using second = await startRig()
  const message = messageOf(1, { conversation: 'a', at: first.clock.now(), ids: first.ids })
  await first.webhook()
  await second.webhook()

  await first.publish('message.received', message)
  await second.clock.advance(7 * 86_400_000)
  await second.publish('message.received', { ...message, createdAt: second.ids.now() })

  expect(second.sink.posts.map(({ id }) => id)).toEqual(first.sink.posts.map(({ id }) => id))
  expect(eventIdOf('message.received', message.id).slice(4, 14)).toBe(message.id.slice(4, 14))
  expect(eventIdOf('message.sent', message.id)).not.toBe(eventIdOf('message.read', message.id))
})

test('a transaction that is undone publishes nothing', async () => {
  await using rig = await startRig()
  await rig.webhook()
  const message = messageOf(1, { conversation: 'a', at: rig.clock.now(), ids: rig.ids })
  const publish = rig.publishIn

  const undone = rig.writer.write((tx): void => {
    publish(tx, 'message.received', message)
    throw new Error('undone')
  })

  expect(undone).rejects.toThrow('undone')
  await rig.clock.advance(60_000)
  expect([rig.eventLog.positionOf('latest'), rig.sink.posts]).toEqual([0, []])
})

test('a webhook that was paused in the same commit gets nothing of what follows', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  const message = messageOf(1, { conversation: 'a', at: rig.clock.now(), ids: rig.ids })

  await Promise.all([
    rig.subscriptions.update(webhook.id, { is_active: false }, OWNER),
    rig.publish('message.received', message),
  ])

  expect(rig.deliveries(webhook.id)).toEqual([])
})
