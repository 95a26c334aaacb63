// The way of a delivery to its receiver, and what its owner does meanwhile.

import { expect, spyOn, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import { Webhook } from 'standardwebhooks'

import { VERSION } from '../../src/system/version.ts'
import { settle, TEST_START } from '../support/test-clock.ts'
import { ALL, OWNER, startRig } from '../support/webhook-rig.ts'
import type { Posted } from '../support/webhook-sink.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test('an event reaches its webhook at once, signed, and the attempt is on disk', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()

  const message = await rig.event()

  const [posted] = rig.sink.posts
  const text = `${posted?.id}.${TEST_START / 1_000}.${posted?.body}`
  const key = Buffer.from(webhook.secret.slice('whsec_'.length), 'base64')
  expect(posted?.headers).toEqual({
    'content-type': 'application/json',
    'user-agent': `Hookline/${VERSION}`,
    'webhook-id': posted?.id ?? '',
    'webhook-timestamp': String(TEST_START / 1_000),
    'webhook-signature': `v1,${createHmac('sha256', key).update(text).digest('base64')}`,
  })
  const [delivery] = rig.deliveries(webhook.id)
  expect(rig.delivery(delivery?.id)).toEqual({
    id: delivery?.id ?? '',
    webhook_id: webhook.id,
    event_id: posted?.id ?? '',
    event: 'message.received',
    message_id: message.id,
    status: 'succeeded',
    attempt_count: 1,
    next_attempt_at: null,
    last_status_code: 200,
    last_error: null,
    created_at: '2026-11-21T10:00:00.000Z',
    completed_at: '2026-11-21T10:00:00.000Z',
    attempts: [
      {
        number: 1,
        trigger: 'scheduled',
        started_at: '2026-11-21T10:00:00.000Z',
        duration_ms: 0,
        status_code: 200,
        error: null,
        response_excerpt: null,
      },
    ],
  })
})

test('twelve attempts over 73 hours, each with a fresh timestamp, then it is exhausted', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  let badId = ''
  rig.sink.answer = ({ id }) => (id === badId || badId === '' ? 500 : 200)
  await rig.event('bad')
  badId = rig.sink.posts[0]?.id ?? ''
  const schedule = [0, 5, 35, 155, 755, 3_455, 10_655, 25_055, 46_655, 89_855, 176_255, 262_655]

  for (const [i, seconds] of schedule.entries()) {
    // Another event goes well just before each attempt, so that the breaker stays closed.
    const waitMs = (seconds - (schedule[i - 1] ?? 0)) * SECOND
    await rig.clock.advance(Math.max(waitMs - 1, 0))
    await rig.event('good')
    await rig.clock.advance(Math.min(waitMs, 1))
  }
  await rig.clock.advance(30 * DAY)

  const tried = rig.sink.posts.filter(({ id }) => id === badId)
  expect(tried.map(({ at }) => at / SECOND)).toEqual(schedule)
  expect(tried.map(({ timestamp }) => timestamp)).toEqual(
    schedule.map((seconds) => TEST_START / SECOND + seconds),
  )
  const delivery = rig.deliveries(webhook.id).find(({ event_id }) => event_id === badId)
  expect(delivery).toMatchObject({ status: 'exhausted', attempt_count: 12, next_attempt_at: null })
})

test('a secret rotated twice: all three sign for 24 hours, newest first', async () => {
  await using rig = await startRig()
  const webhook = await rig.webhook()
  const second = await rig.subscriptions.rotateSecret(webhook.id, OWNER)
  await rig.clock.advance(HOUR)
  const third = await rig.subscriptions.rotateSecret(webhook.id, OWNER)

  await rig.event('a')
  await rig.clock.advance(23 * HOUR)
  await rig.event('b')
  await rig.clock.advance(HOUR)
  await rig.event('c')

  const signatures = rig.sink.posts.map(({ headers }) => headers['webhook-signature'])
  const signers = [
    [third.secret, second.secret, webhook.secret],
    [third.secret, second.secret],
    [third.secret],
  ]
  expect(signatures).toEqual(
    rig.sink.posts.map((posted, place) =>
      signers[place]?.map((secret) => signatureBy(secret, posted)).join(' '),
    ),
  )
})

test('a webhook whose key is back switches itself on, and what was held goes out', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  await first.stop()
  const otherKey = new Uint8Array(32).fill(9)
  const second = await startRig({ db: first.db, clock: first.clock, secretKey: otherKey })
  await second.event()
  const held = second.subscriptions.get(webhook.id)
  await second.stop()

  await using rig = await startRig({ db: first.db, clock: first.clock })
  await settle()

  expect(held).toMatchObject({ is_active: false, disabled_reason: 'secret_unreadable' })
  expect(rig.subscriptions.get(webhook.id)).toMatchObject({
    is_active: true,
    disabled_reason: null,
  })
  expect([second.sink.posts.length, rig.sink.posts.length]).toEqual([0, 1])
})

test('a secret that cannot be opened holds its webhook until it is rotated; nothing goes unsigned', async () => {
  const first = await startRig()
  const webhook = await first.webhook()
  await first.stop()
  const otherKey = new Uint8Array(32).fill(9)
  await using rig = await startRig({ db: first.db, clock: first.clock, secretKey: otherKey })
  await rig.event()
  const held = rig.subscriptions.get(webhook.id)
  const findings = rig.queues.findings()
  const before = rig.sink.posts.length

  const rotated = await rig.subscriptions.rotateSecret(webhook.id, OWNER)
  await settle()

  expect(held).toMatchObject({ is_active: false, disabled_reason: 'secret_unreadable' })
  expect(findings).toMatchObject([{ code: 'webhook_secret_unreadable', key: webhook.id }])
  expect(before).toBe(0)
  expect(rig.subscriptions.get(webhook.id)).toMatchObject({
    is_active: true,
    disabled_reason: null,
  })
  expect(rig.sink.posts.map(({ headers }) => headers['webhook-signature'])).toEqual(
    rig.sink.posts.map((posted) => signatureBy(rotated.secret, posted)),
  )
})

test('a webhook that is made and deleted at once is no false alarm', async () => {
  await using rig = await startRig()
  const making = rig.subscriptions.create({ url: 'https://brief.example/', events: ALL }, OWNER)
  const removing = making.then(({ id }) => rig.subscriptions.remove(id, OWNER))

  await removing
  await settle()

  expect(rig.logged.filter(([level]) => level === 'error')).toEqual([])
})

test('making a webhook opens no secret of another one', async () => {
  await using rig = await startRig()
  const opening = spyOn(rig.seal, 'open')

  for (let i = 0; i < 20; i += 1) await rig.webhook(`https://receiver.example/${i}`)

  expect(opening).toHaveBeenCalledTimes(20)
})

test('the metrics report attempts by outcome, and what is pending since when', async () => {
  await using rig = await startRig()
  await rig.webhook()
  rig.sink.answer = (_, index) => (index === 0 ? 200 : 500)
  await rig.event('a')
  await rig.event('b')
  await rig.clock.advance(3 * SECOND)

  const text = rig.metrics.text()

  expect(text).toContain('hookline_webhook_attempts_total{outcome="succeeded"} 1\n')
  expect(text).toContain('hookline_webhook_attempts_total{outcome="failed"} 1\n')
  expect(text).toContain('hookline_webhook_attempt_seconds_count 2\n')
  expect(text).toContain('hookline_webhook_deliveries_pending 1\n')
  expect(text).toContain('hookline_webhook_oldest_pending_seconds 3\n')
})

test('a deletion or a pause holds at once, with a long queue and answers still coming in', async () => {
  for (const end of ['remove', 'pause'] as const) {
    await using rig = await startRig()
    const webhook = await rig.webhook()
    rig.disk.isLow = true
    for (let i = 0; i < 40; i += 1) await rig.event(`c${i}`)
    rig.sink.answer = (_, index) => (index === 0 ? 200 : 'hang')
    rig.disk.isLow = false
    await rig.clock.advance(10 * SECOND)
    const before = rig.sink.posts.length

    if (end === 'remove') await rig.subscriptions.remove(webhook.id, OWNER)
    else await rig.subscriptions.update(webhook.id, { is_active: false }, OWNER)
    await rig.clock.advance(DAY)

    expect([end, before, rig.sink.posts.length]).toEqual([end, 5, 5])
  }
})

test('a test is a sample of the first event, from a handle and a line that nobody has', async () => {
  await using rig = await startRig()
  const { id } = await rig.webhook('https://receiver.example/hook', [
    'message.read',
    'message.delivered',
  ])

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
})

test('a redelivery that fails starts the whole schedule again', async () => {
  await using rig = await startRig({ scheduleMs: [5_000] })
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
})

test('what a private target answered is shown to trusted readers only', async () => {
  await using rig = await startRig()
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
})

/** What a receiver with the reference library expects. */
function signatureBy(secret: string, { id, timestamp, body }: Posted): string {
  return new Webhook(secret).sign(id, new Date(timestamp * SECOND), body)
}
