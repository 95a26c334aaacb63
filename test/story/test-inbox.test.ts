// The test inbox: an address of the relay itself that shows what a webhook sends there.

import { expect, test } from 'bun:test'

import type { WebhookId } from '../../src/domain/ids.ts'
import type { Post } from '../../src/webhooks/post.ts'
import { TestInbox } from '../../src/webhooks/test-inbox.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { startRig as startWebhooks } from '../support/webhook-rig.ts'

const TO = '+12025550700'
const DAY = 24 * 3_600_000
const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

test('what a webhook sends arrives signed, is shown whole, and leads to no other delivery', async () => {
  await using rig = await startInbox()

  await rig.relay.send({ to: TO, text: 'Your table is ready.' })
  await rig.relay.clock.advance(60_000)
  const [entry, ...others] = await rig.entries()
  const shown = (await rig.browser.get(`${rig.path}/${entry.id}`)).body
  const deliveries = await rig.relay.get(`/api/v1/webhooks/${rig.id}/deliveries`)

  expect(others).toEqual([])
  expect(entry).toMatchObject({ event: 'message.sent', is_verified: true })
  expect(JSON.parse(shown.body).message.text).toBe('Your table is ready.')
  expect(shown.headers).toContain('webhook-signature: v1,')
  expect(deliveries.data).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
})

test('a forged, an old and an unsigned request are shown without the mark of a valid signature', async () => {
  await using rig = await startInbox()
  await rig.relay.send({ to: TO, text: 'hello' })
  await rig.relay.clock.advance(0)
  const [sent] = rig.posted

  await rig.send(sent.body.replace('hello', 'hullo'), sent.headers)
  await rig.send('no event')
  await rig.relay.clock.advance(301_000)
  await rig.send(sent.body, sent.headers)

  const marks = (await rig.entries()).map(({ is_verified }: Json) => is_verified)
  expect(marks).toEqual([false, false, false, true])
})

test('an unknown token is 404, and stays it when its webhook is deleted', async () => {
  await using rig = await startInbox()
  const unknown = `http://localhost/test-inbox/${'a'.repeat(32)}`

  const before = [await rig.send('x', {}, unknown), await rig.send('x')]
  await rig.relay.request('DELETE', `/api/v1/webhooks/${rig.id}`)

  expect([...before, await rig.send('x')]).toEqual([404, 204, 404])
})

test('a body of 10 MB is refused with its length or without, and one of 256 KiB is taken', async () => {
  await using rig = await startInbox()
  const large = 'x'.repeat(10_000_000)
  const stream = new Blob([large]).stream()

  const answers = [
    await rig.send(large),
    await rig.send(stream),
    await rig.send('x'.repeat(256 * 1_024)),
  ]

  expect(answers).toEqual([413, 413, 204])
  expect(await rig.entries()).toMatchObject([{ size: 256 * 1_024 }])
})

test('the newest hundred are kept', async () => {
  await using rig = await startInbox()
  for (let i = 0; i < 103; i += 1) await rig.send(`number ${i}`)

  const kept = await rig.entries()
  const newest = (await rig.browser.get(`${rig.path}/${kept[0].id}`)).body
  const gone = await rig.browser.get(`${rig.path}/1`)

  expect([kept.length, newest.body, gone.status]).toEqual([100, 'number 102', 404])
})

test('after a day a request is gone', async () => {
  const rig = await startWebhooks({ isRunning: false })
  const webhook = await rig.webhook()
  const inbox = new TestInbox(rig.core, { seal: rig.seal, origin: String })
  inbox.receive(webhook.id as WebhookId, new Headers(), new Uint8Array(3))

  await rig.clock.advance(DAY - 1)
  const before = inbox.list(webhook.id).length
  await rig.clock.advance(1)

  expect([before, inbox.list(webhook.id).length]).toEqual([1, 0])
})

test('a restart empties it, and its webhook goes on delivering to it', async () => {
  const first = await startInbox()
  await first.send('before')
  await first.relay[Symbol.asyncDispose]()

  await using relay = await startRig(first.relay)
  const browser = await relay.logIn()
  await relay.send({ to: TO, text: 'hello' })
  await relay.clock.advance(1_000)

  const { data } = (await browser.get(first.path)).body
  expect(data).toMatchObject([{ event: 'message.sent', is_verified: true }])
})

test('its address is known as such, and a stranger sees nothing of it', async () => {
  await using rig = await startInbox()
  await rig.send('secret')

  const [day] = (await rig.browser.get('/dashboard/webhook-days')).body.data
  const stranger = rig.relay.browser()
  const seen = await Promise.all([rig.path, `${rig.path}/1`].map((path) => stranger.get(path)))

  expect(day.is_test_inbox).toBe(true)
  expect(seen.map(({ status }) => status)).toEqual([401, 401])
})

async function startInbox() {
  const relay = await startRig()
  const browser = await relay.claim()
  const { url } = (await browser.get('/dashboard/test-inbox')).body
  const webhook = { url, events: ['message.sent'] }
  const { id } = (await browser.post('/dashboard/api/webhooks', webhook)).body
  const path = `/dashboard/webhooks/${id}/inbox`
  return {
    relay,
    browser,
    id,
    path,
    posted: relay.posted,
    entries: async (): Promise<Json> => (await browser.get(path)).body.data,
    send: (body: string | ReadableStream, headers = {}, to = url) =>
      postTo(relay, to, { body, headers }),
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
}

type Sent = {
  readonly body: string | ReadableStream
  readonly headers: Readonly<Record<string, string>>
}

async function postTo({ app }: Rig, url: string, { body, headers }: Sent): Promise<number> {
  const init = { method: 'POST', body, headers: { ...headers, host: 'localhost' } }
  return (await app.http.fetch(new Request(url, init), PEER)).status
}

type Rig = Awaited<ReturnType<typeof startDashboard>>

/** A relay whose webhooks reach itself; on the database of `earlier` if that is given. */
async function startRig(earlier?: Rig) {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  const posted: Json[] = []
  const post: Post = async ({ url, headers, body }) => {
    posted.push({ headers, body })
    const statusCode = await postTo(relay, url, { body, headers })
    const answer = { statusCode, excerpt: null, retryAfterSeconds: null }
    return { result: 'answered', ...answer, isPrivateTarget: true }
  }
  const { clock, database, key } = earlier ?? {}
  const relay: Rig = await startDashboard({ drivers: [driver], post, clock, database, key })
  return { ...relay, posted }
}
