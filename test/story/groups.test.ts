import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import type { DeviceChange } from '../../src/lines/driver.ts'
import { guidOf } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { ANNA, AT, BEN, FAMILY, reaction, startRich } from './rich-relay.ts'

type GroupRow = Extract<DeviceChange, { readonly kind: 'group' }>

const changed = (guid: string, more: Partial<GroupRow>): GroupRow => ({
  kind: 'group',
  guid,
  at: AT,
  isHistory: false,
  group: FAMILY,
  change: 'renamed',
  actor: ANNA,
  target: null,
  ...more,
})

test("a group's message is one of its conversation, with its sender, and never a direct one", async () => {
  await using world = await startRich()
  const { relay } = world
  await world.receive(guidOf(1), { group: FAMILY, text: 'dinner?' })
  await world.receive(guidOf(2), { group: FAMILY, handle: BEN, text: 'yes' })

  const groups = await relay.get('/api/v1/conversations?type=group')
  const [conversation] = groups.data
  const inGroup = await relay.get(`/api/v1/messages?conversation_id=${conversation.id}`)
  const bodies = await world.bodies()

  expect(conversation).toMatchObject({
    type: 'group',
    chat_guid: FAMILY.chatGuid,
    chat_identifier: 'chat100',
    handle: 'chat100',
    name: 'Family',
    participants: [
      { handle: ANNA, name: null },
      { handle: BEN, name: null },
    ],
    state: 'active',
    message_count: 2,
    last_message: { text: 'yes', conversation_type: 'group', sender: { handle: BEN, name: null } },
  })
  expect(inGroup.data.map(({ from, to }: Json) => [from, to])).toEqual([
    [BEN, '+12025550801'],
    [ANNA, '+12025550801'],
  ])
  expect(bodies[0]).toMatchObject({
    event: 'group_message.received',
    message: { text: 'dinner?', handle: ANNA, chatIdentifier: 'chat100', isFromMe: false },
    conversation: {
      id: conversation.id,
      chat_guid: FAMILY.chatGuid,
      name: 'Family',
      participant_count: 2,
    },
  })
  expect(bodies.map(({ event }) => event)).toEqual(Array(2).fill('group_message.received'))
})

test('lists have direct messages only, unless they are asked for groups', async () => {
  await using world = await startRich()
  const { relay } = world
  await world.receive(guidOf(1), { text: 'direct' })
  await world.receive(guidOf(2), { group: FAMILY, text: 'to all' })
  const texts = async (query: string) =>
    (await relay.get(`/api/v1/messages${query}`)).data.map(({ text }: Json) => text)
  const handles = async (query: string) =>
    (await relay.get(`/api/v1/conversations${query}`)).data.map(({ handle }: Json) => handle)

  expect(await texts('')).toEqual(['direct'])
  expect(await texts('?type=group')).toEqual(['to all'])
  expect(await texts('?type=all')).toEqual(['to all', 'direct'])
  expect(await texts(`?handle=%2B${ANNA.slice(1)}`)).toEqual(['direct'])
  expect(await texts(`?type=all&handle=%2B${ANNA.slice(1)}`)).toEqual(['direct'])
  expect(await texts('?updated_since=2026-11-21T00:00:00Z')).toEqual(['direct'])
  expect(await handles('')).toEqual([ANNA])
  expect(await handles('?type=group')).toEqual(['chat100'])
  expect(await handles('?type=all')).toEqual(['chat100', ANNA])
  expect(await handles('?handle=chat100')).toEqual([])
  expect((await relay.request('GET', '/api/v1/messages?type=both')).status).toBe(400)
})

test('a group is known by its identifier, not by its guid and not by its members', async () => {
  await using world = await startRich()
  await world.receive(guidOf(1), { group: FAMILY })
  await world.receive(guidOf(2), { group: { ...FAMILY, chatGuid: 'any;+;chat100', name: 'Us' } })
  await world.receive(guidOf(3), { group: { ...FAMILY, identifier: 'chat200' } })

  const { data } = await world.relay.get('/api/v1/conversations?type=group')
  const shown = data.map(({ handle, chat_guid, name }: Json) => [handle, chat_guid, name])
  expect(shown).toEqual([
    ['chat200', FAMILY.chatGuid, 'Family'],
    ['chat100', 'any;+;chat100', 'Us'],
  ])
})

test('a line that relays no groups counts them, says how to get them, and stores nothing', async () => {
  await using world = await startRich({ relaysGroups: false })
  const { relay, line } = world
  await world.receive(guidOf(1), { group: FAMILY })
  await world.receive(guidOf(1), { group: FAMILY })
  await world.receive(guidOf(2), { group: FAMILY, isHistory: true })
  await world.receive(guidOf(3), { group: FAMILY, isFromMe: true })
  await world.change(changed('row-1', {}))
  await world.change(reaction('row-2', guidOf(1), { group: FAMILY }))
  await world.change(reaction('row-3', guidOf(1)))
  await world.clock.advance(20_000)

  const [{ not_relayed, relay_groups }] = await relay.lines()
  expect(relay_groups).toBe(false)
  expect(not_relayed).toMatchObject([{ kind: 'group', count: 1 }])
  expect(not_relayed[0].hint).toContain(`--relay-groups true`)
  expect((await relay.get('/api/v1/messages?type=all')).data).toEqual([])
  expect((await relay.get('/api/v1/conversations?type=all')).data).toEqual([])
  expect(await world.names()).toEqual([])

  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  await world.receive(guidOf(4), { group: FAMILY })

  expect(await world.names()).toEqual(['group_message.received'])
  expect((await relay.lines())[0].not_relayed[0].hint).toStartWith('relay_groups is on')
})

test('members and names that change are announced, and kept', async () => {
  await using world = await startRich()
  const carl = deviceHandle('+12025550773')
  await world.receive(guidOf(1), { group: FAMILY })
  const bigger = { ...FAMILY, participants: [ANNA, BEN, carl] }
  const added = { group: bigger, change: 'participant_added', actor: ANNA, target: carl } as const
  await world.change(changed('row-1', added))
  await world.change(changed('row-1', added))
  await world.change(changed('row-2', { group: { ...bigger, name: 'All' }, actor: null }))
  await world.change(changed('row-3', { change: 'left', actor: null, isHistory: true }))

  const [, first, second, ...others] = await world.bodies()
  expect(first).toEqual({
    event: 'group.updated',
    phone_line_id: world.line.id,
    conversation: expect.objectContaining({ name: 'Family', participant_count: 3 }),
    change: 'participant_added',
    actor: ANNA,
    target: carl,
    name: 'Family',
    occurred_at: '2026-11-21T09:58:20.000Z',
  })
  expect(second).toMatchObject({ change: 'renamed', name: 'All', actor: null })
  expect(others).toEqual([])
  const { data } = await world.relay.get('/api/v1/conversations?type=group')
  expect(data[0].state).toBe('left')
})

test('an owner who writes to a group on the device is announced where the setting says so', async () => {
  await using world = await startRich()
  await world.receive(guidOf(1), { group: FAMILY, isFromMe: true, text: 'from my phone' })

  const [message] = (await world.relay.get('/api/v1/messages?type=group')).data
  expect(message).toMatchObject({
    to: 'chat100',
    handle: 'chat100',
    direction: 'outbound',
    sender: null,
  })
  expect(await world.names()).toEqual([])
})

test('a row whose group is not known is no direct message, however its handle reads', async () => {
  await using world = await startRich()
  await world.receive(guidOf(1), { group: FAMILY })
  await world.receive(guidOf(2), { handle: deviceHandle('chat100'), text: 'of nobody' })
  await world.receive(guidOf(3), { group: { ...FAMILY, identifier: BEN } })
  await world.receive(guidOf(4), { handle: BEN, text: 'direct' })

  expect(await world.names()).toEqual(['group_message.received', 'message.received'])
  const [{ not_relayed }] = await world.relay.lines()
  expect(not_relayed).toMatchObject([{ kind: 'unplaced', count: 2 }])
})

test('groups make no contacts, and their messages say nothing of single people', async () => {
  await using world = await startRich()
  await world.relay.limit(0)
  await world.receive(guidOf(1), { group: FAMILY })

  const { body } = await world.relay.send({ to: ANNA, text: 'hello' })

  expect(body.error.code).toBe('rate_limit_exceeded')
})

test('a line whose kind has no groups refuses to relay them', async () => {
  await using world = await startRich()
  const { db } = world.relay
  db.sqlite.run("UPDATE lines SET driver = 'shortcuts'")
  await using again = await world.start(world.relay.key)

  const path = `/api/v1/phone-lines/${world.line.id}`
  const { status, body } = await again.patch(path, { relay_groups: true })

  expect([status, body.error.code]).toEqual([422, 'not_supported'])
  expect(body.error.details).toEqual({ capability: 'groups' })
})
