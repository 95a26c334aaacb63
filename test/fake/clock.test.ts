import { expect, test } from 'bun:test'

import { startFake } from './rig.ts'

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
