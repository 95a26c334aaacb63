// What `hookline imsg rpc` says of all messages: those that wait for their time, and how many there are.

import { expect, test } from 'bun:test'

import { ANNA, imsgKey, receive, startChild } from '../support/imsg-child.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { photo, startRich } from './rich-relay.ts'

const BEN = '+12025550778'
const HOUR_MS = 3_600_000

test('messages that wait for their time are listed, the next one first, until they are sent or canceled', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  const schedule = async (text: string, send_at: string) =>
    (await relay.post('/api/v1/messages/send', { to: ANNA, text, send_at })).body.id
  const next = await schedule('Sooner', '2026-11-21T12:00:00.000Z')
  await schedule('Later', '2026-11-21T14:00:00.000Z')

  const { messages } = await child.result('messages.scheduled')
  const one = await child.result('messages.scheduled', { limit: 1 })
  const none = await child.ask('messages.scheduled', { limit: 0 })
  await relay.request('DELETE', `/api/v1/messages/${next}`)
  const left = await child.result('messages.scheduled')
  await relay.clock.advance(4 * HOUR_MS)
  const sent = await child.result('messages.scheduled')

  expect(messages.map(({ text }: { text: string }) => text)).toEqual(['Sooner', 'Later'])
  expect(messages[0]).toMatchObject({
    guid: next,
    chat_identifier: ANNA,
    chat_guid: `any;-;${ANNA}`,
    scheduled_at: '2026-11-21T12:00:00.000Z',
    schedule_type: 2,
  })
  expect(one.messages).toEqual([messages[0]])
  expect(none.error.code).toBe(-32_602)
  expect([left.messages.length, sent.messages.length]).toEqual([1, 0])
})

test('messages are counted by chat, sender, service and day, and a chat alone', async () => {
  await using relay = await startScripted()
  const child = startChild(() => relay, await imsgKey(relay))
  await receive(relay, 1, 'one')
  await receive(relay, 2, 'two', { handle: BEN })
  await child.result('send', { to: ANNA, text: 'three' })
  await relay.clock.advance(15 * HOUR_MS)
  await receive(relay, 3, 'four')

  const all = await child.result('messages.stats', { time_zone: 'UTC' })
  const west = await child.result('messages.stats', { time_zone: 'America/New_York' })
  const { chats } = await child.result('chats.list')
  const ofBen = chats.find(({ identifier }: { identifier: string }) => identifier === BEN)
  const alone = await child.result('messages.stats', { chat_id: ofBen.id, time_zone: 'UTC' })
  const refused = [
    await child.ask('messages.stats', { chat_id: 42 }),
    await child.ask('messages.stats', { time_zone: 'Mars/North' }),
  ]

  expect(all).toMatchObject({
    total_messages: 4,
    sent_messages: 1,
    received_messages: 3,
    time_zone: 'UTC',
    chats: [
      { identifier: ANNA, message_count: 3 },
      { identifier: BEN, message_count: 1 },
    ],
    senders: [
      { handle: ANNA, message_count: 2 },
      { handle: BEN, message_count: 1 },
    ],
    services: [{ service: 'iMessage', message_count: 4 }],
    dates: [
      { date: '2026-11-21', message_count: 3 },
      { date: '2026-11-22', message_count: 1 },
    ],
  })
  expect(all).not.toHaveProperty('media')
  expect(west.dates).toEqual([{ date: '2026-11-21', message_count: 4 }])
  expect(alone).toMatchObject({ total_messages: 1, chats: [{ chat_id: ofBen.id }] })
  expect(refused.map(({ error }) => error.code)).toEqual([-32_602, -32_602])
})

test('a message that is uncertain is not counted as sent', async () => {
  const script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  await using relay = await startScripted({ script })
  const child = startChild(() => relay, await imsgKey(relay))
  await relay.post('/api/v1/messages/send', { to: ANNA, text: 'maybe' })
  await relay.clock.advance(60_000)

  const { data } = await relay.get('/api/v1/messages')
  const counted = await child.result('messages.stats')

  expect(data).toMatchObject([{ status: 'uncertain' }])
  expect(counted).toMatchObject({ total_messages: 0, sent_messages: 0, chats: [], dates: [] })
})

test('files are counted by type and chat if they are asked for', async () => {
  await using world = await startRich()
  const child = startChild(() => world.relay, await imsgKey(world.relay))
  const attachments = [photo('F1', world.fileOf('a picture'), 'menu.jpg')]
  await world.receive(guidOf(1), { text: 'Look!', attachments })

  const { media } = await child.result('messages.stats', { include_media: true })

  expect(media).toMatchObject({
    total_attachments: 1,
    total_bytes: 'a picture'.length,
    types: [{ uti: 'unknown', attachment_count: 1, total_bytes: 'a picture'.length }],
    chats: [{ attachment_count: 1 }],
  })
})
