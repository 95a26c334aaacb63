import { expect, test } from 'bun:test'

import { startFake } from '../support/fake-relay.ts'

test('with a seed the clock stands until a call moves it, and what is due happens on the way', async () => {
  await using fake = await startFake()
  const before = await fake.get('/api/v1/simulated/clock')
  const sent = await fake.send({ to: '+12025550196', text: 'Hello' })
  const early = await fake.get('/api/v1/messages')

  const after = await fake.advance('2s')
  const late = await fake.get('/api/v1/messages')

  expect(before).toEqual({ now: '2026-01-01T12:00:00.000Z', is_frozen: true, in_flight: [] })
  expect(sent.status).toBe('sent')
  expect(early.data.map(({ direction, status }: never) => [direction, status])).toEqual([
    ['outbound', 'sent'],
  ])
  expect(after.now).toBe('2026-01-01T12:00:02.000Z')
  expect(late.data.map(({ direction, status, text }: never) => [direction, status, text])).toEqual([
    ['inbound', 'received', 'Hello'],
    ['outbound', 'read', 'Hello'],
  ])
})

test('a webhook that fails is tried again on the clock, and one that hangs does not hold it', async () => {
  const posts: string[] = []
  using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      posts.push(request.headers.get('webhook-id') ?? '')
      if (posts.length > 1) return new Response(null, { status: 500 })
      // The first one gets no answer, until the receiver ends.
      return new Promise<Response>(() => {})
    },
  })
  await using fake = await startFake()
  const url = `http://127.0.0.1:${receiver.port}/`
  await fake.post('/api/v1/webhooks', { url, events: ['message.sent'] })

  await fake.send({ to: '+12025550190', text: 'Hello' })
  const hanging = await fake.get('/api/v1/simulated/clock')
  const { now } = await fake.advance('20m')

  expect(hanging.in_flight).toEqual([url])
  expect(now).toBe('2026-01-01T12:20:00.000Z')
  expect(posts.length).toBeGreaterThanOrEqual(5)
  expect(new Set(posts).size).toBe(1)
})

test('the clock is set, frozen and let go, refuses to go back, and follows the real time without a seed', async () => {
  await using fake = await startFake({ seed: null })
  const clock = (body: object) => fake.call('POST', '/api/v1/simulated/clock', body)
  const running = await fake.get('/api/v1/simulated/clock')

  const frozen = await clock({ freeze: true })
  const later = new Date(Date.parse(frozen.body.now) + 3_600_000).toISOString()
  const set = await clock({ set: later })
  const back = await clock({ set: running.now })
  const wrong = await clock({ advance: 'soon' })

  expect(running.now.slice(0, 10)).toBe(new Date().toISOString().slice(0, 10))
  expect([running.is_frozen, frozen.body.is_frozen, set.body.now]).toEqual([false, true, later])
  expect([back.status, back.body.error.message]).toEqual([400, expect.stringContaining('go back')])
  expect([wrong.status, wrong.body.error.details.issues[0].path]).toEqual([400, 'advance'])
  expect((await clock({ freeze: false })).body.is_frozen).toBe(false)
})
