import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import type { WebhookId } from '../../src/domain/ids.ts'
import { listSecrets } from '../../src/storage/webhooks.ts'
import { ALL, codeOf, EVERYTHING, OWNER, startRig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'
const PAGE = { limit: 50, cursor: null }

test('a creation answers the whole webhook, and its secret this once', async () => {
  const rig = await startRig({ isRunning: false })
  const caller = { ...OWNER, actor: { kind: 'key', id: 'key_1' } } as const

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

test('an ordinary url comes back as it was sent; any other names the host that is called', async () => {
  const rig = await startRig({ isRunning: false })
  const table: readonly (readonly [sent: string, told: string])[] = [
    ['http://127.0.0.1:8080/hook', 'http://127.0.0.1:8080/hook'],
    ['https://receiver.example', 'https://receiver.example'],
    ['https://receiver.example?key=A%20b', 'https://receiver.example/?key=A%20b'],
    [
      'https://receiver.example/hook?a=1&b=%2F#part',
      'https://receiver.example/hook?a=1&b=%2F#part',
    ],
    ['http:127.0.0.1:8080/ok', 'http://127.0.0.1:8080/ok'],
    ['http://127.0.0.1\\@evil.example/', 'http://127.0.0.1/@evil.example/'],
    ['http://evil.example#@127.0.0.1/', 'http://evil.example/#@127.0.0.1/'],
    ['http://@127.0.0.1/', 'http://127.0.0.1/'],
    ['HTTP://Receiver.Example/Hook', 'http://receiver.example/Hook'],
    ['http://2130706433/hook', 'http://127.0.0.1/hook'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ]

  for (const [sent, told] of table) {
    const created = await rig.subscriptions.create({ url: sent, events: ALL }, OWNER)
    const changed = await rig.subscriptions.update(created.id, { url: sent }, OWNER)
    expect([sent, created.url, changed.url]).toEqual([sent, told, told])
  }
})

test('a url with a control character is refused', async () => {
  const rig = await startRig({ isRunning: false })

  for (const character of ['\r\n', '\t', '\0', '\u007F', '\u0085']) {
    const url = `http://127.0.0.1:8080/ok${character}X: y`
    expect(await issuesOf(() => rig.subscriptions.create({ url, events: ALL }, OWNER))).toEqual([
      'url',
    ])
  }
})

test('a url that was stored as it was typed is still called', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  rig.db.sqlite.run("UPDATE webhooks SET url = 'http:127.0.0.1:8080/ok' || char(9) || 'x'")
  await rig.subscriptions.update(id, { description: 'typed' }, OWNER)

  await rig.event()

  expect(rig.sink.posts.map(({ url }) => url)).toEqual(['http:127.0.0.1:8080/ok\tx'])
  await rig.stop()
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

  const changed = await rig.subscriptions.update(id, { events: ['message.read'] }, OWNER)

  expect(changed).toMatchObject({
    url: URL,
    events: ['message.read'],
    description: 'mine',
    is_active: true,
    created_at: '2026-11-21T10:00:00.000Z',
    updated_at: '2026-11-21T10:00:01.000Z',
  })
  expect(await codeOf(() => rig.subscriptions.update(id, {}, OWNER))).toBe('invalid_request')
})

test('an unknown, malformed or deleted webhook is not found, by any way', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)
  await rig.subscriptions.remove(id, OWNER)

  for (const unknown of [id, 'wh_00000000000000000000000000', 'nonsense', '']) {
    const { subscriptions } = rig
    const codes = [
      await codeOf(async () => subscriptions.get(unknown)),
      await codeOf(() => subscriptions.update(unknown, { isActive: true }, OWNER)),
      await codeOf(() => subscriptions.remove(unknown, OWNER)),
      await codeOf(() => subscriptions.rotateSecret(unknown, OWNER)),
      await codeOf(() => subscriptions.sendTest(unknown)),
      await codeOf(() => subscriptions.replay(unknown, EVERYTHING, OWNER)),
      await codeOf(async () => subscriptions.listDeliveries(unknown, {}, PAGE)),
    ]
    expect(codes).toEqual(Array.from({ length: 7 }, () => 'not_found'))
  }
  expect(await codeOf(() => rig.subscriptions.redeliver(delivery?.id ?? ''))).toBe('not_found')
  expect(() => rig.delivery(delivery?.id)).toThrow('no delivery')
  await rig.stop()
})

test('eight secrets sign at most, however often one rotates', async () => {
  const rig = await startRig()
  const { id } = await rig.webhook()
  for (let i = 0; i < 12; i += 1) await rig.subscriptions.rotateSecret(id, OWNER)

  await rig.event()

  expect(rig.sink.posts[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(8)
  await rig.stop()
})

async function issuesOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await act()
    return []
  } catch (error) {
    const issues = error instanceof RelayError ? error.details?.['issues'] : []
    return (issues as { path: string }[]).map(({ path }) => path)
  }
}
