// Faults by call, and what a test can assert on: the outbox and the calls to webhooks.

import { expect, test } from 'bun:test'

import { webhookSecret } from '../../src/fake/credentials.ts'
import { isSigned } from '../../src/webhooks/signature.ts'
import { startFake } from '../support/fake-relay.ts'
import { Receiver } from '../support/receiver.ts'
import type { Json } from '../support/test-relay.ts'

const ANN = '+12025550123'
const OUTBOX = '/api/v1/simulated/outbox'
const CALLS = '/api/v1/simulated/webhook-calls'

test('the outbox has what people have on their phones, in their order, and what became of it there', async () => {
  await using fake = await startFake()
  const { data: lines } = await fake.get('/api/v1/phone-lines')
  const other = lines[1]
  const { id } = await fake.send({ to: ANN, text: 'Your bike is ready.' })
  await fake.send({ to: '+12025550191', text: 'Soup of the day: 5', phone_line_id: other.id })
  await fake.advance('2s')
  const sent = await fake.get(`/api/v1/messages/${id}`)
  const happens = (event: object) =>
    fake.post(`/api/v1/simulated/lines/${lines[0].id}/events`, event)
  const about = { from: ANN, target_guid: sent.platform_guid }
  await happens({ type: 'reaction', reaction: 'love', ...about })
  await happens({ type: 'reaction', reaction: 'laugh', ...about })

  const [first, second, ...rest] = (await fake.get(OUTBOX)).data
  const texts = async (query: string) =>
    (await fake.get(`${OUTBOX}?${query}`)).data.map(({ text }: Json) => text)

  expect(rest).toEqual([])
  expect(first).toMatchObject({
    id,
    guid: sent.platform_guid,
    line: '+12025550101',
    to: ANN,
    text: 'Your bike is ready.',
    state: 'read',
    reactions: [{ from: ANN, reaction: 'laugh', emoji: null }],
    sent_at: '2026-01-01T12:00:00.000Z',
    delivered_at: '2026-01-01T12:00:00.400Z',
    read_at: '2026-01-01T12:00:00.800Z',
  })
  expect([second.line, second.state]).toEqual(['+12025550102', 'delivered'])
  expect(await texts(`to=${ANN}`)).toEqual(['Your bike is ready.'])
  expect(await texts(`line=${other.id}`)).toEqual(['Soup of the day: 5'])
  expect(await texts('line=%2B12025550101')).toEqual(['Your bike is ready.'])
  expect(await texts('contains=SOUP')).toEqual(['Soup of the day: 5'])
  expect(await texts('matches=%5Cd%24')).toEqual(['Soup of the day: 5'])
})

test('the outbox waits for enough messages, and says 408 with what there is if they do not come', async () => {
  await using fake = await startFake()
  await fake.send({ to: ANN, text: 'One' })

  const waiting = fake.call('GET', `${OUTBOX}?count=2&wait=60s`)
  await fake.send({ to: ANN, text: 'Two' })
  const enough = await waiting
  const tooFew = await fake.call('GET', `${OUTBOX}?contains=two&count=2`)
  const wrong = [
    `${OUTBOX}?wait=soon`,
    `${OUTBOX}?wait=2m`,
    `${OUTBOX}?matches=(`,
    `${OUTBOX}?line=9`,
  ]

  expect([enough.status, enough.body.data.length]).toEqual([200, 2])
  expect([tooFew.status, tooFew.body.data.length]).toEqual([408, 1])
  expect(tooFew.body.error.code).toBe('timeout')
  expect(tooFew.body.error.message).toMatch(/^There is 1 of 2 wanted\. The clock stands still/)
  expect((await fake.call('GET', `${CALLS}?event=message.recieved`)).body.error.message).toContain(
    'Did you mean message.received?',
  )
  for (const path of wrong) expect((await fake.call('GET', path)).status).toBe(400)
})

test('an uncertain message is on the phone, a lost one is not, and the relay knows neither', async () => {
  await using fake = await startFake()
  await fake.post('/api/v1/simulated/faults', { fault: 'uncertain', to: ANN })
  await fake.post('/api/v1/simulated/faults', { fault: 'lost', to: ANN, times: 2 })
  const texts = ['Uncertain', 'Lost', 'Lost too', 'Sent']

  const sent = []
  for (const text of texts) sent.push((await fake.send({ to: ANN, text })).status)
  const { data } = await fake.get(OUTBOX)

  expect(sent).toEqual(['uncertain', 'uncertain', 'uncertain', 'sent'])
  expect(data.map(({ text }: Json) => text)).toEqual(['Uncertain', 'Sent'])
  expect((await fake.get('/api/v1/simulated/faults')).data).toEqual([])
})

test('a message of which only a file was sent is in the outbox without its text', async () => {
  await using fake = await startFake()
  const upload = await fake.call('POST', '/api/v1/attachments?filename=menu.txt', 'soup')
  const { id } = upload.body

  await fake.send({ to: '+12025550198', text: 'The menu', attachments: [{ id }] })
  const { data } = await fake.get(OUTBOX)

  expect(data).toMatchObject([{ text: '', files: [{ filename: 'menu.txt' }] }])
})

test('a line is off until its time is over, or until the faults are cleared', async () => {
  await using fake = await startFake()
  const off = (more: object) =>
    fake.post('/api/v1/simulated/faults', { fault: 'line_off', ...more })
  const isOnline = async () =>
    (await fake.get('/api/v1/phone-lines')).data.map(({ status }: Json) => status)

  await off({ line: '+12025550101', seconds: 60 })
  const during = await isOnline()
  await fake.advance('61s')
  const after = await isOnline()
  await off({})
  await fake.advance('1h')
  const allOff = await isOnline()
  const { id } = await fake
    .call(
      'POST',
      '/api/v1/messages/send',
      { to: ANN, text: 'Later' },
      {
        prefer: 'wait=0',
      },
    )
    .then(({ body }) => body)
  await fake.call('DELETE', '/api/v1/simulated/faults')
  await fake.advance('5s')

  expect([during, after, allOff]).toEqual([
    ['offline', 'online'],
    ['online', 'online'],
    ['offline', 'offline'],
  ])
  expect((await fake.get(`/api/v1/messages/${id}`)).status).toBe('read')
})

test('a slow device takes its time, and one that refuses is asked again', async () => {
  await using fake = await startFake()
  await fake.post('/api/v1/simulated/faults', { fault: 'slow', seconds: 90 })
  const soon = { prefer: 'wait=0' }
  const { body: slow } = await fake.call(
    'POST',
    '/api/v1/messages/send',
    { to: ANN, text: 'Slow' },
    soon,
  )
  const status = async (id: string) => (await fake.get(`/api/v1/messages/${id}`)).status
  await fake.advance('89s')
  const [before, { data }] = [await status(slow.id), await fake.get(OUTBOX)]
  await fake.advance('2s')
  await fake.post('/api/v1/simulated/faults', { fault: 'refuses' })
  const { body: refused } = await fake.call(
    'POST',
    '/api/v1/messages/send',
    { to: ANN, text: 'Refused' },
    soon,
  )
  await fake.advance('10m')

  expect([before, data[0].state]).toEqual(['sending', 'sending'])
  expect([await status(slow.id), await status(refused.id)]).toEqual(['read', 'read'])
})

test('each call to a webhook is kept as it was made, with its attempt and its answer', async () => {
  await using fake = await startFake()
  using receiver = new Receiver()
  const made = await fake.post('/api/v1/webhooks', { url: receiver.url, events: ['message.sent'] })
  const fault = (more: object) => fake.post('/api/v1/simulated/faults', more)
  await fault({ fault: 'receiver_fails', status: 503 })
  await fault({ fault: 'answer_lost', event: 'message.sent' })
  await fault({ fault: 'receiver_refuses', url: '/elsewhere' })

  await fake.send({ to: ANN, text: 'Hello' })
  await fake.advance('1h')
  await fault({ fault: 'delivered_twice' })
  await fake.send({ to: ANN, text: 'Twice' })
  const { data: calls } = await fake.get(`${CALLS}?event=message.sent&url=${receiver.url}`)
  const { data: twice } = await fake.get(`${CALLS}?contains=twice`)

  const [first] = calls
  const signed = { headers: new Headers(first.headers), body: first.body }
  const now = Number(first.headers['webhook-timestamp'])
  const secret = Buffer.from(webhookSecret().slice('whsec_'.length), 'base64')
  expect(made.secret).toBe(webhookSecret())
  expect(isSigned({ ...signed, now }, [secret])).toBe(true)
  expect(calls.map(({ attempt, status, error }: Json) => [attempt, status, error])).toEqual([
    [1, 503, null],
    [2, null, 'connection_reset'],
    [3, 200, null],
    [1, 200, null],
    [2, 200, null],
  ])
  expect(new Set(twice.map(({ event_id }: Json) => event_id)).size).toBe(1)
  expect(receiver.received.length).toBe(4)
  expect(first.json.event).toBe('message.sent')
  expect((await fake.call('GET', `${CALLS}?event=message.failed&wait=1ms`)).status).toBe(408)
})

test('a call in the format of another API is kept as the form that it is', async () => {
  await using fake = await startFake()
  const webhook = { url: 'http://127.0.0.1:9/sms', events: ['message.received'] }
  await fake.post('/api/v1/webhooks', { ...webhook, format: 'twilio' })

  await fake.send({ to: '+12025550196', text: 'Soup' })
  await fake.advance('2s')

  const [call] = (await fake.get(`${CALLS}?contains=soup`)).data
  expect(new URLSearchParams(call.body).get('From')).toBe('+12025550196')
  expect([call.json, call.event]).toEqual([call.body, 'message.received'])
})

test('a fault with a field that says nothing about it is refused', async () => {
  await using fake = await startFake()

  const answer = await fake.call('POST', '/api/v1/simulated/faults', { fault: 'slow', status: 500 })

  expect([answer.status, answer.body.error.message]).toEqual([
    400,
    'status: says nothing about slow',
  ])
})

test('a file without a place is refused with where a fake looks for one', async () => {
  await using fake = await startFake({ folder: null })

  const answer = await fake.call('POST', '/api/v1/attachments?filename=menu.txt', 'soup')

  expect([answer.status, answer.body.error.code]).toEqual([503, 'storage_full'])
  expect(answer.body.error.message).toContain('/dev/shm')
})
