// What an agent reads about its own rights and about people is true.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { ABLE } from '../support/rich-relay.ts'
import { guidOf } from '../support/scripted-driver.ts'
import type { Json } from '../support/test-relay.ts'
import { NEWEST, openMcp } from './mcp-stage.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'

async function openSaid() {
  const stage = await openMcp()
  const agent = async (limits: object = {}) => {
    const { body: key } = await stage.post('/api/v1/keys', limits)
    const { client, call } = await stage.connect(NEWEST, key)
    const ask = async (name: string, args: Record<string, unknown> = {}): Promise<Json> =>
      (await call(name, args)).structuredContent
    return { client, ask, instructions: client.getInstructions() ?? '' }
  }
  return { ...stage, agent }
}

test('the instructions say in words whom a key may write to, how often, and when', async () => {
  await using stage = await openSaid()
  const said = async (rules: object) => (await stage.agent({ rules })).instructions

  const list = await said({ recipients: 'list', allow: [ANNA], sends_per_day: 9 })
  const nobody = await said({ recipients: 'list' })
  const more = await said({ recipients: 'known', allow: [ANNA], sends_per_hour: 3 })
  const quiet = await said({ quiet_hours: { from: '21:00', to: '08:00' } })

  expect(list).toContain('Your key may write to these people only: those on its list.')
  expect(list).toContain('It may send 9 in 24 hours.')
  expect(nobody).toContain('Your key may write to these people only: nobody yet.')
  expect(more).toContain(
    'these people only: people with whom its lines have written, and those on its list.',
  )
  expect(more).toContain('It may send 3 messages in an hour.')
  expect(quiet).toContain("From 21:00 to 08:00 of the relay's time its messages wait.")
  expect(quiet).not.toContain('these people only')
})

test('a refusal by the recipients of a key names its list as well', async () => {
  await using stage = await openSaid()
  const { ask } = await stage.agent({ rules: { recipients: 'known', allow: [ANNA] } })

  const { error } = await ask('send_message', { to: BOB, text: 'hello' })

  expect(error.message).toBe(
    'The rules of this key allow only these recipients: known and those in rules.allow.',
  )
})

test('a listed conversation says that an agent is refused there', async () => {
  await using stage = await openSaid()
  const { ask } = await stage.agent()
  await stage.receive('hello?')
  const [{ conversation_id }] = (await ask('list_conversations')).conversations
  await ask('hand_to_person', { conversation_id })

  const [listed] = (await ask('list_conversations')).conversations
  const { conversation } = await ask('read_conversation', { conversation_id })

  const said = { a_person_answers: true, note: expect.stringContaining('is refused') }
  expect([listed, conversation]).toMatchObject([said, said])
})

test('again sends nothing under an idempotency key that was used', async () => {
  await using stage = await openSaid()
  const { ask } = await stage.agent()
  const sends = (again: boolean) =>
    ask('send_message', { to: ANNA, text: 'Ready.', idempotency_key: 'a', again })

  const first = await sends(false)
  const repeat = await sends(true)

  expect([repeat.message_id, repeat.note]).toEqual([
    first.message_id,
    expect.stringContaining('not sent a second time'),
  ])
  expect(stage.device.sent.map(({ text }) => text)).toEqual(['Ready.'])
})

test('a search calls nobody in a group unknown: whether they are contacts is asked by the message', async () => {
  await using stage = await openSaid()
  const { device } = stage
  device.capabilities = ABLE
  await device.goOnline()
  const [line] = await stage.lines()
  await stage.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  await stage.put(`/api/v1/contacts/${ANNA}`, { name: 'Anna' })
  const { ask } = await stage.agent()
  const participants = [deviceHandle(ANNA), deviceHandle(BOB)]
  const identifier = deviceHandle('chat1')
  await device.receive({
    guid: guidOf(1),
    handle: deviceHandle(ANNA),
    text: 'zebra',
    group: { chatGuid: 'iMessage;+;chat1', identifier, name: null, participants },
  })

  const [found] = (await ask('search_messages', { query: 'zebra' })).messages
  const { message } = await ask('get_message', { message_id: found.message_id })

  expect([found.from, found.known_contact, message.known_contact]).toEqual([ANNA, undefined, true])
})
