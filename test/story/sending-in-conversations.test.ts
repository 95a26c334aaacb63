// Sends into a conversation that there is: to its person, or to its group, which is addressed by the
// device's own guid of it and by nothing else.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import type { DeviceGroup } from '../../src/lines/driver.ts'
import { ABLE, startRich } from '../support/rich-relay.ts'
import { accepts, ends, guidOf } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'
import type { Answer } from '../support/test-relay.ts'

const ANNA = deviceHandle('+15550001234')
const BEN = deviceHandle('+15550005678')
const FAMILY: DeviceGroup = {
  chatGuid: 'iMessage;+;chat4711',
  identifier: 'chat4711',
  name: 'Family',
  participants: [ANNA, BEN],
}
const HOOK = 'https://shop.example.com/hooks'

/** A relay whose line has got one message of a group. */
async function startWithGroup(group: DeviceGroup = FAMILY, numbers?: readonly string[]) {
  const relay = await startRich(numbers === undefined ? {} : { numbers })
  for (const { id } of await relay.lines()) {
    await relay.patch(`/api/v1/phone-lines/${id}`, { relay_groups: true })
  }
  await relay.device.receive({ guid: guidOf(701), handle: ANNA, group, text: 'hello all' })
  const [conversation] = (await relay.get('/api/v1/conversations?type=group')).data
  const path = `/api/v1/conversations/${conversation.id}`
  const say = (body: unknown, headers = {}): Promise<Answer> =>
    relay.request('POST', `${path}/messages`, body, headers)
  return { ...relay, conversation, say, group: () => relay.get(path) }
}

test('a message to a group goes to the guid that the device has for it, and says that it is one', async () => {
  await using relay = await startWithGroup()
  const { conversation, say } = relay
  await relay.post('/api/v1/webhooks', {
    url: HOOK,
    events: ['message.sent', 'group_message.sent'],
  })

  const { status, body } = await say({ text: 'dinner?' })
  await relay.device.report(body.platform_guid, 'delivered', TEST_START + 1_000)
  await relay.clock.advance(1_000)

  expect([status, body.status, body.conversation_type]).toEqual([200, 'sent', 'group'])
  expect([body.to, body.handle, body.conversation_id]).toEqual([
    'chat4711',
    'chat4711',
    conversation.id,
  ])
  const [sent] = relay.device.sent
  expect([sent?.chatGuid, sent?.text]).toEqual(['iMessage;+;chat4711', 'dinner?'])
  const told = relay.sink.to(HOOK).map((posted) => JSON.parse(posted.body))
  expect(told.map(({ event }) => event)).toEqual(['group_message.sent'])
  expect((await relay.message(body.id)).status).toBe('sent')
})

test('the guid is the one that the device gave last', async () => {
  await using relay = await startWithGroup()
  const { say } = relay
  const group = { ...FAMILY, chatGuid: 'any;+;chat4711' }
  await relay.device.receive({ guid: guidOf(702), handle: BEN, group })

  await say({ text: 'dinner?' })

  expect(relay.device.sent[0]?.chatGuid).toBe('any;+;chat4711')
})

test('a group takes no place among the new contacts of the day, and files need no text', async () => {
  await using relay = await startWithGroup()
  const { say } = relay
  await relay.limit(0)

  const { status } = await say({ attachments: [{ id: await relay.file('menu') }] })

  expect(status).toBe(200)
  expect((await relay.lines())[0].new_contacts_today).toBe(0)
  const contacts = relay.db.sqlite.query("SELECT * FROM contacts WHERE handle = 'chat4711'").all()
  expect(contacts).toEqual([])
})

test('a group that the device does not find fails its message, once, and nobody else gets it', async () => {
  await using relay = await startWithGroup()
  const { say, group } = relay
  const gone = { outcome: 'not_sent', reason: 'group_not_reachable', blame: 'line' } as const
  relay.device.script = ends(gone)

  const { status, body } = await say({ text: 'dinner?' })
  await relay.clock.advance(60_000)

  expect([status, body.error.details.reason]).toEqual([422, 'group_not_reachable'])
  expect(relay.device.given.map(({ chatGuid }) => chatGuid)).toEqual([FAMILY.chatGuid])
  expect((await group()).state).toBe('unreachable')
  expect(await relay.findings('group_not_reachable')).toMatchObject([
    { why: expect.stringContaining('Family') },
  ])
  expect(await relay.eventNames()).toContain('group_message.failed')

  await relay.device.receive({ guid: guidOf(703), handle: BEN, group: FAMILY })
  expect((await group()).state).toBe('active')
  expect(await relay.findings('group_not_reachable')).toEqual([])
})

test('a group whose owner has left, a line that relays no groups and one that cannot are refused', async () => {
  await using relay = await startWithGroup()
  const { say } = relay
  const code = async () => (await say({ text: 'dinner?' })).body.error?.details.capability ?? null

  relay.device.capabilities = { ...ABLE, groups: 'receive' }
  await relay.device.goOnline()
  const unable = await code()
  relay.device.capabilities = ABLE
  await relay.device.goOnline()
  await relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { relay_groups: false })
  const off = await code()
  await relay.patch(`/api/v1/phone-lines/${relay.line.id}`, { relay_groups: true })
  relay.db.sqlite.run("UPDATE groups SET state = 'left'")
  const left = await code()
  relay.db.sqlite.run("UPDATE groups SET state = 'active'")

  expect([unable, off, left, await code()]).toEqual(['groups', 'groups', 'groups', null])
  expect(relay.device.given).toHaveLength(1)
})

test('messages to a group stay in order, and wait for its own line', async () => {
  const numbers = ['+12025550801', '+12025550802']
  await using relay = await startWithGroup(FAMILY, numbers)
  const { say } = relay
  await relay.device.goOffline()

  const first = await say({ text: 'one' })
  const second = await say({ text: 'two' })
  await relay.clock.advance(5_000)
  const waiting = [first, second].map(({ body }) => body.queued_reason)
  await relay.device.goOnline()
  await relay.clock.advance(5_000)

  expect(waiting).toEqual(['line_offline', 'earlier_message'])
  expect(relay.device.sent.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(relay.devices[1]?.given).toEqual([])
})

test('the loop guard counts a group by itself', async () => {
  await using relay = await startWithGroup()
  const { say } = relay
  relay.device.capacity = 50
  const statuses: number[] = []
  for (let i = 0; i < 31; i += 1) statuses.push((await say({ text: `${i}` })).status)

  expect(statuses).toEqual([...Array(30).fill(200), 429])
  expect((await relay.send({ to: ANNA, text: 'hi' })).status).toBe(200)
})

test('an uncertain message to a group is announced as a failure of the group', async () => {
  await using relay = await startWithGroup()
  const { say } = relay
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })

  const { body } = await say({ text: 'dinner?' })
  await relay.clock.advance(3_600_000)
  const names = await relay.eventNames()
  await relay.post(`/api/v1/messages/${body.id}/resolve`, { status: 'sent' })

  expect(relay.device.given).toHaveLength(1)
  expect(names.filter((name) => name.endsWith('failed'))).toEqual(['group_message.failed'])
  expect(relay.db.sqlite.query("SELECT * FROM contacts WHERE handle = 'chat4711'").all()).toEqual(
    [],
  )
})

test('a message to a person in their conversation goes by its line, in the words of a send', async () => {
  await using relay = await startRich({ numbers: ['+12025550801', '+12025550802'] })
  const [, second] = relay.devices
  await second?.receive({ guid: guidOf(704), handle: ANNA })
  const [conversation] = (await relay.get('/api/v1/conversations')).data
  const path = `/api/v1/conversations/${conversation.id}/messages`
  const headers = { 'Idempotency-Key': 'once' }

  const first = await relay.request('POST', path, { text: 'hi' }, headers)
  const again = await relay.request('POST', path, { text: 'hi' }, headers)
  const empty = await relay.request('POST', path, {})
  const nowhere = await relay.request('POST', '/api/v1/conversations/conv_1/messages', {
    text: 'hi',
  })

  expect([first.status, first.body.to, first.body.from]).toEqual([200, ANNA, '+12025550802'])
  expect(Object.keys(first.body)).not.toContain('conversation_type')
  expect(again.body).toEqual(first.body)
  expect(second?.sent.map(({ to, chatGuid }) => [to, chatGuid])).toEqual([[ANNA, undefined]])
  expect(empty.body.error.details.issues).toEqual([{ path: 'text', message: 'is required' }])
  expect([nowhere.status, nowhere.body.error.code]).toEqual([404, 'not_found'])
})

test('a repeat is answered although its conversation is gone', async () => {
  await using relay = await startWithGroup()
  const { say, conversation } = relay
  const headers = { 'Idempotency-Key': 'once' }
  const first = await say({ text: 'hi' }, headers)
  relay.db.sqlite.run('PRAGMA foreign_keys = OFF')
  relay.db.sqlite.run(`DELETE FROM conversations WHERE id = '${conversation.id}'`)

  const again = await say({ text: 'hi' }, headers)

  expect([again.status, again.body]).toEqual([200, first.body])
})

test('a group is no recipient of a send, by no spelling', async () => {
  await using relay = await startWithGroup()
  relay.device.script = accepts

  for (const to of ['chat4711', FAMILY.chatGuid]) {
    expect((await relay.send({ to, text: 'hi' })).body.error.code).toBe('invalid_recipient')
  }
  expect(relay.device.given).toEqual([])
})
