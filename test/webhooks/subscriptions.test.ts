import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import type { KeyId, WebhookId } from '../../src/domain/ids.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { listSecrets } from '../../src/storage/webhook-secrets.ts'
import { settle, TEST_START } from '../support/test-clock.ts'
import { ALL, OWNER, startRig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'
const PAGE = { limit: 50, cursor: null }

test('a creation answers the whole webhook, and its secret this once', async () => {
  const rig = await startRig({ isRunning: false })
  const caller = { kind: 'key', keyId: 'key_1' as KeyId } as const

  const { secret, ...created } = await rig.subscriptions.create(
    { url: URL, events: ['message.read', 'message.received', 'message.read'] },
    caller,
  )

  expect(created).toEqual({
    id: created.id,
    url: URL,
    events: ['message.received', 'message.read'],
    is_active: true,
    description: null,
    disabled_reason: null,
    created_by: 'key_1',
    created_at: '2026-11-21T10:00:00.000Z',
    updated_at: '2026-11-21T10:00:00.000Z',
  })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(rig.subscriptions.get(created.id)).toEqual(created)
})

test('a secret lies sealed in the database', async () => {
  const rig = await startRig({ isRunning: false })

  const { id, secret } = await rig.subscriptions.create({ url: URL, events: ALL }, OWNER)

  const [stored] = listSecrets(rig.db, id as WebhookId)
  const plain = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(Buffer.from(stored?.sealed ?? []).includes(plain)).toBeFalse()
})

test('a webhook may be created paused, with a description', async () => {
  const rig = await startRig({ isRunning: false })

  const created = await rig.subscriptions.create(
    { url: URL, events: ALL, isActive: false, description: 'n8n' },
    OWNER,
  )

  expect(created).toMatchObject({ is_active: false, description: 'n8n' })
})

test('what does not fit is told with its place, all at once', async () => {
  const rig = await startRig({ isRunning: false })
  const create = (url: string, events: readonly string[]) => () =>
    rig.subscriptions.create({ url, events }, OWNER)

  expect(await issuesOf(create('nonsense', ['message.eaten']))).toEqual(['url', 'events'])
  expect(await issuesOf(create(URL, []))).toEqual(['events'])
  for (const url of [
    'ftp://receiver.example/',
    'https://user:pass@receiver.example/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://0x7f.1:4665/',
    'http://0.0.0.0/',
    `https://receiver.example/${'x'.repeat(3_000)}`,
  ]) {
    expect([url, await issuesOf(create(url, ALL))]).toEqual([url, ['url']])
  }
  expect(rig.subscriptions.list(PAGE).data).toEqual([])
})

test('receivers on the own network and on loopback are allowed', async () => {
  const rig = await startRig({ isRunning: false })

  for (const url of ['http://127.0.0.1:5678/', 'http://192.168.1.5/x', 'http://localhost:5678/']) {
    expect(await rig.subscriptions.create({ url, events: ALL }, OWNER)).toMatchObject({ url })
  }
})

test('a list is newest first, and its pages neither skip nor repeat', async () => {
  const rig = await startRig({ isRunning: false })
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    ids.unshift((await rig.subscriptions.create({ url: URL, events: ALL }, OWNER)).id)
  }

  const first = rig.subscriptions.list({ limit: 2, cursor: null })
  await rig.subscriptions.create({ url: URL, events: ALL }, OWNER)
  const second = rig.subscriptions.list({ limit: 2, cursor: first.next_cursor })
  const third = rig.subscriptions.list({ limit: 2, cursor: second.next_cursor })

  expect([first, second, third].map(({ data }) => data.map(({ id }) => id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2, 4),
    ids.slice(4),
  ])
  expect([first.has_more, second.has_more, third.has_more]).toEqual([true, true, false])
  expect(third.next_cursor).toBeNull()
  expect(() => rig.subscriptions.list({ limit: 2, cursor: 'nonsense' })).toThrow('next_cursor')
})

test('a change leaves out what it does not name, and without any field it is refused', async () => {
  const rig = await startRig({ isRunning: false })
  const { id } = await rig.subscriptions.create(
    { url: URL, events: ['message.received'], description: 'mine' },
    OWNER,
  )
  await rig.clock.advance(1_000)

  const changed = await rig.subscriptions.update(id, { events: ['message.read'] })

  expect(changed).toMatchObject({
    url: URL,
    events: ['message.read'],
    description: 'mine',
    is_active: true,
    created_at: '2026-11-21T10:00:00.000Z',
    updated_at: '2026-11-21T10:00:01.000Z',
  })
  expect(await codeOf(() => rig.subscriptions.update(id, {}))).toBe('invalid_request')
})

test('an unknown, malformed or deleted webhook is not found, by any way', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)
  await rig.subscriptions.remove(id)

  for (const unknown of [id, 'wh_00000000000000000000000000', 'nonsense', '']) {
    const { subscriptions } = rig
    const codes = [
      await codeOf(async () => subscriptions.get(unknown)),
      await codeOf(() => subscriptions.update(unknown, { isActive: true })),
      await codeOf(() => subscriptions.remove(unknown)),
      await codeOf(() => subscriptions.rotateSecret(unknown)),
      await codeOf(() => subscriptions.sendTest(unknown)),
      await codeOf(() => subscriptions.replay(unknown, timestamp(0))),
      await codeOf(async () => subscriptions.listDeliveries(unknown, {}, PAGE)),
    ]
    expect(codes).toEqual(Array.from({ length: 7 }, () => 'not_found'))
  }
  expect(await codeOf(() => rig.subscriptions.redeliver(delivery?.id ?? ''))).toBe('not_found')
  expect(() => rig.delivery(delivery?.id)).toThrow('no delivery')
  await rig.stop()
})

test('test, redeliver and replay on an inactive webhook are refused', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)
  await rig.subscriptions.update(id, { isActive: false })

  const codes = [
    await codeOf(() => rig.subscriptions.sendTest(id)),
    await codeOf(() => rig.subscriptions.redeliver(delivery?.id ?? '')),
    await codeOf(() => rig.subscriptions.replay(id, timestamp(0))),
  ]

  expect(codes).toEqual(['webhook_inactive', 'webhook_inactive', 'webhook_inactive'])
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

  expect(exhausted).toMatchObject({ status: 'exhausted', attempt_count: 2 })
  const { status, attempts } = rig.delivery(exhausted?.id)
  expect(status).toBe('exhausted')
  expect(attempts.map(({ trigger }) => trigger)).toEqual([
    'scheduled',
    'scheduled',
    'manual',
    'scheduled',
  ])
  await rig.stop()
})

test('a replay sends what was exhausted since, and what the webhook has no delivery of', async () => {
  const rig = await startRig({ scheduleMs: [] })
  await rig.event('before')
  await rig.clock.advance(1_000)
  await rig.event('missed')
  const { id } = await rig.webhook(URL, ['message.received'])
  await rig.event('succeeded')
  await rig.event('unwanted', 'message.sent')
  rig.sink.answer = () => 500
  await rig.event('exhausted')
  rig.sink.answer = () => 200
  const begun = rig.sink.posts.length

  const replayed = await rig.subscriptions.replay(id, timestamp(TEST_START + 1_000))
  await settle()

  const texts = rig.sink.posts.slice(begun).map(({ body }) => JSON.parse(body).message.text)
  expect(replayed).toBe(2)
  expect(texts.toSorted()).toEqual(['Message 2', 'Message 5'])
  expect(await rig.subscriptions.replay(id, timestamp(TEST_START + 1_000))).toBe(0)
  await rig.stop()
})

test('eight secrets sign at most, however often one rotates', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  for (let i = 0; i < 12; i += 1) await rig.subscriptions.rotateSecret(id)

  await rig.event()

  expect(rig.sink.posts[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(8)
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

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act()
    return 'none'
  } catch (error) {
    return error instanceof RelayError ? error.code : String(error)
  }
}

async function issuesOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await act()
    return []
  } catch (error) {
    const issues = error instanceof RelayError ? error.details?.['issues'] : []
    return (issues as { path: string }[]).map(({ path }) => path)
  }
}
