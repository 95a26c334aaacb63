// Ways around the limits of a key that lead nowhere: another message that takes it along, a repeat of another
// caller's request, the network of its owner, and what it learns of the relay as a whole.

import { expect, test } from 'bun:test'

import { ANNA, BOB, errorOf, idsOf, makeKey, openShop } from '../support/limited-keys.ts'
import { startRich } from '../support/rich-relay.ts'
import { refuses } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { type Json } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const ASYNC = { Prefer: 'respond-async' }
const EVENTS = ['message.received']

test('a message that moves to another line leaves behind those that may not follow it', async () => {
  await using relay = await openShop()
  const [first] = await idsOf(relay)
  const [device, other] = relay.devices
  await device?.receive({ guid: 'a', handle: ANNA as never })
  if (device !== undefined) device.script = refuses
  const key = await makeKey(relay, { phone_line_ids: [first] })

  await relay.send({ to: ANNA, text: 'one' }, ASYNC)
  await key.call('POST', '/messages/send', { to: ANNA, text: 'two' }, ASYNC)
  for (let seconds = 0; seconds < 60; seconds += 1) await relay.clock.advance(1_000)

  expect(other?.sent.map(({ text }) => text)).toEqual(['one'])
  expect(device?.given.map(({ text }) => text)).toContain('two')
})

test('a name that leads to a private address is not called for a key without the scope', async () => {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const flags: unknown[] = []
  await using relay = await openShop({
    clock,
    post: (request, signal) => {
      flags.push(request.isPublicOnly)
      return sink.post(request, signal)
    },
  })
  const key = await makeKey(relay, { scopes: ['webhooks:write'] })

  await key.call('POST', '/webhooks', { url: 'https://nas.example/x', events: EVENTS })
  await relay.post('/api/v1/webhooks', { url: 'https://nas.example/y', events: EVENTS })
  await relay.devices[0]?.receive({ guid: 'a', handle: ANNA as never })
  await relay.clock.advance(1_000)

  expect(flags).toEqual([true, undefined])
})

test('no file is fetched from the own network for a key without the scope, and none for a refused message', async () => {
  await using relay = await startRich()
  let calls = 0
  const server = Bun.serve({ port: 0, fetch: () => new Response(`file ${(calls += 1)}`) })
  const attachments = [{ url: `http://127.0.0.1:${server.port}/menu.txt` }]
  const key = await makeKey(relay, { scopes: ['send'] })
  const bound = await makeKey(relay, { rules: { recipients: 'list', allow: [BOB] } })

  const answers = [
    await key.send(ANNA, { attachments }),
    await bound.send(ANNA, { attachments }),
    await bound.send(BOB, { attachments }),
  ]
  await server.stop(true)

  expect(answers.map((answer) => errorOf(answer).slice(0, 2))).toEqual([
    [422, 'attachment_fetch_failed'],
    [403, 'recipient_not_allowed'],
    [200, undefined],
  ])
  expect(calls).toBe(1)
})

test('a key of one line learns nothing of the trouble of others, nor any figure', async () => {
  await using relay = await openShop()
  const [first, second] = await idsOf(relay)
  await relay.devices[0]?.goOffline()
  await relay.devices[1]?.goOffline()
  await relay.clock.advance(120_000)
  const key = await makeKey(relay, { phone_line_ids: [first] })
  const metrics = async (headers: Record<string, string>) => {
    const request = new Request('http://localhost/metrics', {
      headers: { host: 'localhost', ...headers },
    })
    const peer = { address: '10.0.0.9', isControl: false, liftTimeout() {} }
    return (await relay.app.http.fetch(request, peer)).status
  }
  const all = (await relay.get('/api/v1/health')).data.map(({ line_id }: Json) => line_id)
  const own = (await key.get('/health')).data.map(({ line_id }: Json) => line_id)
  const whole = await makeKey(relay, { scopes: ['health:read'] })
  const sender = await makeKey(relay, { scopes: ['send'] })

  expect([all.includes(second), own.includes(first), own.includes(second)]).toEqual([
    true,
    true,
    false,
  ])
  expect([
    await metrics(whole.headers),
    await metrics(key.headers),
    await metrics(sender.headers),
  ]).toEqual([200, 404, 404])
})
