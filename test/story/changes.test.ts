import { expect, test } from 'bun:test'

import type { DeviceChange } from '../../src/lines/driver.ts'
import { guidOf } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, AT, BEN, FAMILY, PENDING, photo, reaction, startRich } from './rich-relay.ts'

const MESSAGE = guidOf(501)
const ISO = '2026-11-21T09:58:20.000Z'

const edited = (guid: string, text: string, ...before: readonly string[]): DeviceChange => ({
  kind: 'edited',
  guid,
  targetGuid: MESSAGE,
  at: AT,
  isHistory: false,
  text,
  edits: before.map((earlier) => ({ text: earlier, at: AT })),
})

const unsent = (guid: string, targetGuid = MESSAGE): DeviceChange => ({
  kind: 'unsent',
  guid,
  targetGuid,
  at: AT,
  isHistory: false,
})

test('a thumb is an answer: it stands on the message and is announced with it', async () => {
  await using world = await startRich()
  const { body: sent } = await world.relay.send({ to: ANNA, text: 'Lunch?' })
  await world.change(reaction('row-1', sent.platform_guid))

  const bodies = await world.bodies()
  const message = await world.relay.message(sent.id)
  expect(message.reactions).toEqual([
    { type: 'like', emoji: null, handle: ANNA, is_from_me: false, part: 0, created_at: ISO },
  ])
  expect(bodies.at(-1)).toMatchObject({
    event: 'message.reaction',
    message: { id: sent.id, text: 'Lunch?', isFromMe: true },
    reaction: {
      action: 'added',
      type: 'like',
      emoji: null,
      handle: ANNA,
      isFromMe: false,
      part: 0,
      occurred_at: ISO,
    },
  })
})

test('each person has one reaction for each part, and the last one counts', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { text: 'hi' })
  await world.change(reaction('row-1', MESSAGE))
  await world.change(reaction('row-1', MESSAGE))
  await world.change(reaction('row-2', MESSAGE, { type: 'emoji', emoji: '🎉' }))
  await world.change(reaction('row-3', MESSAGE, { handle: BEN, type: 'love' }))
  await world.change(reaction('row-4', MESSAGE, { part: 1 }))
  await world.change(reaction('row-5', MESSAGE, { action: 'removed', type: 'laugh' }))
  const all = (await world.relay.get('/api/v1/messages')).data[0].reactions
  const given = { type: 'emoji', emoji: '🎉' } as const
  await world.change(reaction('row-6', MESSAGE, { action: 'removed', ...given }))

  const kept = (await world.relay.get('/api/v1/messages')).data[0].reactions
  const shown = (list: readonly Json[]) =>
    list.map(({ handle, type, part }) => [handle, type, part])
  expect(shown(all)).toEqual([
    [ANNA, 'emoji', 0],
    [BEN, 'love', 0],
    [ANNA, 'like', 1],
  ])
  expect(shown(kept)).toEqual([
    [BEN, 'love', 0],
    [ANNA, 'like', 1],
  ])
  const actions = (await world.bodies()).flatMap(({ reaction: one }) => one?.action ?? [])
  expect(actions).toEqual(['added', 'added', 'added', 'added', 'removed', 'removed'])
})

test('an edit changes the text, keeps the earlier ones, and is announced', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { text: 'Se you at 8' })
  await world.change(edited('edit-1', 'See you at 8', 'Se you at 8'))
  await world.change(edited('edit-1', 'See you at 8', 'Se you at 8'))
  await world.change(edited('edit-2', 'See you at 9', 'Se you at 8', 'See you at 8'))

  const [message] = (await world.relay.get('/api/v1/messages')).data
  const [conversation] = (await world.relay.get('/api/v1/conversations')).data
  const [, first, second, ...others] = await world.bodies()
  expect(message).toMatchObject({
    text: 'See you at 9',
    edits: [
      { text: 'Se you at 8', at: ISO },
      { text: 'See you at 8', at: ISO },
    ],
  })
  expect(conversation.last_message.text).toBe('See you at 9')
  expect(first).toMatchObject({
    event: 'message.edited',
    message: { text: 'See you at 8', edits: [{ text: 'Se you at 8', at: ISO }] },
  })
  expect(second.message.text).toBe('See you at 9')
  expect(others).toEqual([])
})

test('what was taken back keeps its row, without any of its texts', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { text: 'oops' })
  await world.change(edited('edit-1', 'oops!', 'oops'))
  await world.change(unsent('gone-1'))
  await world.change(edited('edit-2', 'back again', 'oops'))

  const [message] = (await world.relay.get('/api/v1/messages')).data
  expect(message).toMatchObject({ text: '', unsent_at: ISO })
  expect(message).not.toHaveProperty('edits')
  const [, , last, ...others] = await world.bodies()
  expect(last).toMatchObject({ event: 'message.unsent', message: { text: '', unsent_at: ISO } })
  expect(others).toEqual([])
})

test('a reply names the message and its beginning, in the answer and in the event', async () => {
  await using world = await startRich()
  const { body: sent } = await world.relay.send({ to: ANNA, text: 'x'.repeat(150) })
  await world.receive(MESSAGE, { text: 'yes', replyTo: { guid: sent.platform_guid, part: 0 } })
  await world.receive(guidOf(502), { text: 'no', replyTo: { guid: 'unknown', part: 1 } })

  const { data } = await world.relay.get('/api/v1/messages')
  const bodies = await world.bodies()
  const reply = {
    message_id: sent.id,
    guid: sent.platform_guid,
    part: 0,
    text_excerpt: 'x'.repeat(100),
  }
  const unknown = { message_id: null, guid: 'unknown', part: 1, text_excerpt: null }
  expect(data.map(({ reply_to }: Json) => reply_to)).toEqual([unknown, reply, undefined])
  expect(bodies.slice(-2).map(({ message }) => message.replyTo)).toEqual([reply, unknown])
})

test('a reply quotes nothing of another conversation', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { group: FAMILY, text: 'a secret of the family' })
  await world.receive(guidOf(2), { replyTo: { guid: MESSAGE, part: 0 } })

  const [message] = (await world.relay.get('/api/v1/messages')).data
  expect(message.reply_to).toMatchObject({ message_id: null, text_excerpt: null })
})

test('a change that comes before its message waits for it, and follows it', async () => {
  await using world = await startRich()
  await world.change(reaction('row-1', MESSAGE))
  await world.change(edited('edit-1', 'second', 'first'))
  await world.clock.advance(9_000)
  await world.receive(MESSAGE, { text: 'first' })
  await world.clock.advance(60_000)

  expect(await world.names()).toEqual(['message.received', 'message.reaction', 'message.edited'])
  const [message] = (await world.relay.get('/api/v1/messages')).data
  expect(message).toMatchObject({ text: 'second', reactions: [{ type: 'like' }] })
})

test('a reaction to nothing known is announced alone after ten seconds; other changes are dropped', async () => {
  await using world = await startRich()
  await world.change(reaction('row-1', MESSAGE))
  await world.change(unsent('gone-1'))
  await world.clock.advance(9_900)
  const before = await world.names()
  await world.clock.advance(200)
  await world.change(reaction('row-1', MESSAGE))
  await world.clock.advance(20_000)

  const [body, ...others] = await world.bodies()
  expect(before).toEqual([])
  expect(body).toMatchObject({
    event: 'message.reaction',
    phone_line_id: world.line.id,
    message: null,
    target_guid: MESSAGE,
    reaction: { action: 'added', handle: ANNA },
  })
  expect(body).not.toHaveProperty('conversation')
  expect(others).toEqual([])
})

test('a message that waits for its files goes out before the change that comes meanwhile', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { text: 'look', attachments: [photo('at-1', PENDING)] })
  await world.change(unsent('gone-1'))

  const [received, taken] = await world.bodies()
  expect(received).toMatchObject({ event: 'message.received', message: { text: 'look' } })
  expect(taken).toMatchObject({ event: 'message.unsent', message: { text: '' } })
})

test('in a group a reaction says which group it is', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { group: FAMILY })
  await world.change(reaction('row-1', MESSAGE, { handle: BEN, group: FAMILY }))
  await world.change(reaction('row-2', guidOf(2), { handle: BEN, group: FAMILY }))
  await world.clock.advance(10_100)

  const [, known, unknown] = await world.bodies()
  const conversation = { name: 'Family', participant_count: 2 }
  expect(known).toMatchObject({ message: { chatIdentifier: 'chat100' }, conversation })
  expect(unknown).toMatchObject({ message: null, conversation })
})

test('history is changed and not announced, and neither is what the owner does on the device', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { isHistory: true, text: 'old' })
  await world.change({ ...edited('edit-1', 'older', 'old'), isHistory: true })
  await world.change(edited('edit-2', 'oldest', 'old', 'older'))
  const own = { handle: ANNA, isFromMe: true }
  await world.change(reaction('row-1', MESSAGE, own))

  const [message] = (await world.relay.get('/api/v1/messages')).data
  expect(message).toMatchObject({ text: 'oldest', reactions: [{ is_from_me: true }] })
  expect(await world.names()).toEqual([])
})

test('a reaction over SMS is no event where SMS are not relayed', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { service: 'SMS' })
  await world.change(reaction('row-1', MESSAGE))

  expect(await world.names()).toEqual([])
  const [{ not_relayed }] = await world.relay.lines()
  expect(not_relayed).toMatchObject([{ kind: 'sms', count: 2 }])
})

test('several reactions to one message are several events, which a replay sends again', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE)
  await world.change(reaction('row-1', MESSAGE))
  await world.change(reaction('row-2', MESSAGE, { type: 'love' }))
  await world.change(reaction('row-3', guidOf(9)))
  await world.clock.advance(11_000)
  const url = 'https://late.example/'
  const late = { url, events: ['message.reaction'] }
  const { body: webhook } = await world.relay.post('/api/v1/webhooks', late)
  const again = { since: '2026-11-21T00:00:00Z', include_earlier: true }
  await world.relay.post(`/api/v1/webhooks/${webhook.id}/replay`, again)
  await world.clock.advance(1_000)

  const types = world.sink.to(url).map(({ body }) => JSON.parse(body).reaction.type)
  expect(types).toEqual(['like', 'love', 'like'])
  expect(new Set(world.sink.to(url).map(({ id }) => id)).size).toBe(3)
})
