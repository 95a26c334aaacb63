import { expect, test } from 'bun:test'

import { RelayError } from '../../src/domain/errors.ts'
import type { WebhookId } from '../../src/domain/ids.ts'
import { listSecrets } from '../../src/storage/webhooks.ts'
import { ALL, codeOf, EVERYTHING, OWNER, startRig } from '../support/webhook-rig.ts'

const URL = 'https://receiver.example/hook'
const PAGE = { limit: 50, cursor: null }

test('a webhook has each event once, in the order of all, and may be made paused', async () => {
  const rig = await startRig({ isRunning: false })
  const events = ['message.read', 'message.received', 'message.read']

  const created = await rig.subscriptions.create(
    { url: URL, events, is_active: false, description: 'n8n' },
    OWNER,
  )

  expect(created).toMatchObject({
    events: ['message.received', 'message.read'],
    is_active: false,
    description: 'n8n',
  })
})

test('a change leaves what it does not name, and one of nothing is refused', async () => {
  const rig = await startRig({ isRunning: false })
  const asked = { url: URL, events: ALL, description: 'n8n' }
  const { secret: _, ...created } = await rig.subscriptions.create(asked, OWNER)

  const changed = await rig.subscriptions.update(created.id, { is_active: false }, OWNER)

  expect(changed).toEqual({ ...created, is_active: false, updated_at: changed.updated_at })
  expect(await codeOf(() => rig.subscriptions.update(created.id, {}, OWNER))).toBe(
    'invalid_request',
  )
})

test('a secret lies sealed in the database', async () => {
  const rig = await startRig({ isRunning: false })

  const { id, secret } = await rig.subscriptions.create({ url: URL, events: ALL }, OWNER)

  const [stored] = listSecrets(rig.db, id as WebhookId)
  const plain = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(Buffer.from(stored?.sealed ?? []).includes(plain)).toBeFalse()
})

test('what does not fit is reported with its place, all at once', async () => {
  const rig = await startRig({ isRunning: false })
  const create = (url: string, events: readonly string[]) => () =>
    rig.subscriptions.create({ url, events }, OWNER)

  expect(await issuesOf(create('nonsense', ['message.eaten']))).toEqual(['url', 'events'])
  expect(await issuesOf(create(URL, []))).toEqual(['events'])
  for (const url of ['http://0x7f.1:4665/', `https://receiver.example/${'x'.repeat(3_000)}`]) {
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
  await using rig = await startRig()
  const { id } = await rig.webhook()
  rig.db.sqlite.run("UPDATE webhooks SET url = 'http:127.0.0.1:8080/ok' || char(9) || 'x'")
  await rig.subscriptions.update(id, { description: 'typed' }, OWNER)

  await rig.event()

  expect(rig.sink.posts.map(({ url }) => url)).toEqual(['http:127.0.0.1:8080/ok\tx'])
})

test('a list is newest first, and its pages neither skip nor repeat', async () => {
  const rig = await startRig({ isRunning: false })
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) ids.unshift((await rig.webhook()).id)

  const first = rig.subscriptions.list({ limit: 2, cursor: null })
  await rig.webhook()
  const rest = rig.subscriptions.list({ limit: 3, cursor: first.next_cursor })

  expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids)
  expect([first.has_more, rest.has_more, rest.next_cursor]).toEqual([true, false, null])
})

test('an unknown, malformed or deleted webhook is not found, by any way', async () => {
  await using rig = await startRig()
  const { id } = await rig.webhook()
  await rig.event()
  const [delivery] = rig.deliveries(id)
  await rig.subscriptions.remove(id, OWNER)

  for (const unknown of [id, 'wh_00000000000000000000000000', 'nonsense', '']) {
    const { subscriptions } = rig
    const codes = [
      await codeOf(async () => subscriptions.get(unknown)),
      await codeOf(() => subscriptions.update(unknown, { is_active: true }, OWNER)),
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
})

test('eight secrets sign at most, however often one rotates', async () => {
  await using rig = await startRig()
  const { id } = await rig.webhook()
  for (let i = 0; i < 12; i += 1) await rig.subscriptions.rotateSecret(id, OWNER)

  await rig.event()

  expect(rig.sink.posts[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(8)
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
