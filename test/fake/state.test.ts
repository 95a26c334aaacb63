import { expect, test } from 'bun:test'

import { startFake } from '../support/fake-relay.ts'

test('a reset brings back the start, and a snapshot its own state and time', async () => {
  await using fake = await startFake()
  const lines = await fake.get('/api/v1/phone-lines')
  await fake.send({ to: '+12025550123', text: 'Kept' })
  await fake.advance('1h')
  await fake.post('/api/v1/simulated/snapshots', { name: 'one' })
  await fake.send({ to: '+12025550123', text: 'Lost' })
  const texts = async () => {
    return (await fake.get('/api/v1/messages')).data.map(({ text }: { text: string }) => text)
  }

  const one = await fake.post('/api/v1/simulated/reset', { name: 'one' })
  const textsOfOne = await texts()
  const start = await fake.post('/api/v1/simulated/reset')
  const textsOfStart = await texts()

  expect(one).toEqual({ name: 'one', now: '2026-01-01T13:00:00.000Z' })
  expect(textsOfOne).toEqual(['Kept'])
  expect(start).toEqual({ name: 'start', now: '2026-01-01T12:00:00.000Z' })
  expect(textsOfStart).toEqual([])
  expect(await fake.get('/api/v1/phone-lines')).toEqual(lines)
  expect((await fake.call('POST', '/api/v1/simulated/reset', { name: 'other' })).status).toBe(404)
})

test('a restart leaves a message that was on its way to the evidence of the network', async () => {
  await using fake = await startFake()
  // The network accepts it after half a minute.
  const sending = fake.call(
    'POST',
    '/api/v1/messages/send',
    { to: '+12025550195', text: 'Slow' },
    { prefer: 'wait=0' },
  )
  const { body: message } = await sending

  const restarted = await fake.post('/api/v1/simulated/restart')
  const found = await fake.get(`/api/v1/messages/${message.id}`)
  await fake.advance('1m')
  const settled = await fake.get(`/api/v1/messages/${message.id}`)

  expect(restarted.now).toBe('2026-01-01T12:00:00.000Z')
  expect([message.status, found.status, settled.status]).toEqual(['queued', 'uncertain', 'read'])
})

test('a fake keeps at most a hundred snapshots, and a thousand faults', async () => {
  await using fake = await startFake()
  const snapshot = async (name: string) =>
    (await fake.call('POST', '/api/v1/simulated/snapshots', { name })).status
  const faults = Array.from({ length: 1_000 }, () => ({ fault: 'uncertain' }))

  for (let count = 1; count < 100; count += 1) await snapshot(`state ${count}`)
  const statuses = [await snapshot('one more'), await snapshot('state 1')]
  const people = await fake.call('PUT', '/api/v1/simulated/people', { faults })
  const added = await fake.call('POST', '/api/v1/simulated/faults', { fault: 'lost' })

  expect(statuses).toEqual([400, 200])
  expect([people.status, added.status]).toEqual([200, 400])
  expect(added.body.error.message).toContain('1000 are not over')
})
