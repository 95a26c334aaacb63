// One person under all the spellings of a number that devices have, on the real relay: one conversation, one
// opt-out, one name.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { startWithBoxes } from '../support/boxes-rig.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { settle } from '../support/test-clock.ts'
import { ANNA, BOB, OPT_OUTS, hello, openRelay, pathOf, text } from './opt-outs-stage.ts'

/** As Messages, Contacts and automations spell Anna's number on an American line. */
const SPELLINGS = [
  '2025550701',
  '12025550701',
  '(202) 555-0701',
  '+1 (202) 555-0701',
  '1-202-555-0701',
  'tel:+12025550701',
  '\u202A+1 (202) 555‑0701\u202C',
  '0012025550701',
]
const spelled = (spelling: string) => ({ handle: deviceHandle(spelling) })

test('a person has one conversation, and one opt-out, in whatever spellings a device reports them', async () => {
  const anyOf = fc.constantFrom(ANNA, ...SPELLINGS)
  const property = fc.asyncProperty(fc.array(anyOf, { minLength: 1 }), anyOf, anyOf, rememberedAs)
  await fc.assert(property, { numRuns: 25 })
})

async function rememberedAs(heard: readonly string[], stopped: string, started: string) {
  await using relay = await openRelay()
  for (const spelling of heard) await text(relay, 'hello', spelled(spelling))
  await text(relay, 'STOP', spelled(stopped))
  const refused = await hello(relay)
  await text(relay, 'START', spelled(started))
  const sent = await hello(relay)

  const { data: conversations } = await relay.get('/api/v1/conversations')
  const { data: messages } = await relay.get('/api/v1/messages?direction=inbound')
  expect([refused.status, sent.status]).toEqual([409, 200])
  expect(conversations.map((each: { handle: string }) => each.handle)).toEqual([ANNA])
  expect(messages.map((each: { from: string }) => each.from)).toEqual(
    Array.from({ length: heard.length + 2 }, () => ANNA),
  )
}

test('short codes, names of senders and addresses stay as the device has them', async () => {
  await using relay = await openRelay()
  const heard = ['72975', 'MyBank', 'anna+shop@example.com', 'urn:biz:9f1c', '555-0701']
  for (const handle of heard) await text(relay, 'hello', spelled(handle))

  const { data } = await relay.get('/api/v1/conversations')

  expect(data.map((each: { handle: string }) => each.handle)).toEqual(heard.toReversed())
})

test('groups and reactions name their people in one spelling, each person once', async () => {
  await using relay = await openRelay()
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  const people = ['(202) 555-0701', ANNA, '202.555.0702'].map(deviceHandle)
  const group = { chatGuid: 'iMessage;+;chat1', identifier: 'chat1', name: null }
  const inGroup = { ...group, participants: people }
  await relay.put(`/api/v1/contacts/${encodeURIComponent(ANNA)}`, { name: 'Anna' })

  await text(relay, 'hi', { ...spelled('2025550701'), guid: guidOf(1), group: inGroup })
  const row = {
    guid: guidOf(2),
    targetGuid: guidOf(1),
    at: timestamp(1),
    isHistory: false,
    part: 0,
  }
  const reaction = { ...row, kind: 'reaction', action: 'added', type: 'love', emoji: null } as const
  const change = { ...reaction, isFromMe: false, ...spelled('202-555-0702'), group: inGroup }
  await relay.device.emit({ type: 'change', change, checkpoint: null })

  const [conversation] = (await relay.get('/api/v1/conversations?type=group')).data
  const { last_message: message } = conversation
  expect(conversation.handle).toBe('chat1')
  expect(conversation.participants).toEqual([
    { handle: ANNA, name: 'Anna' },
    { handle: BOB, name: null },
  ])
  expect([message.sender, message.reactions[0].handle]).toEqual([
    { handle: ANNA, name: 'Anna' },
    BOB,
  ])
})

test('an opt-out by hand, or its end, counts for the person however a device spells them', async () => {
  await using relay = await openRelay()
  await text(relay, 'hello', spelled('2025550701'))
  await relay.put(pathOf(ANNA), {})

  expect((await hello(relay)).status).toBe(409)
  await text(relay, 'START', spelled('(202) 555-0701'))
  expect((await relay.get(OPT_OUTS)).data).toEqual([])
})

test('a person whom the device of a box spells in its own way is the same person', async () => {
  await using stage = await startWithBoxes()
  const box = await stage.join('studio-3', ['+12025550101'])

  await box.driver.devices[0]?.receive({ guid: 'in-1', ...spelled('(202) 555-0701'), text: 'STOP' })
  await settle(20)

  expect((await stage.relay.get('/api/v1/conversations')).data).toMatchObject([{ handle: ANNA }])
  expect((await hello(stage.relay)).body.error.code).toBe('recipient_opted_out')
})

test('the country of each line decides about its own spellings, and doubt about none', async () => {
  await using relay = await openRelay(['+12025550801', '+4930901820'])
  const [american, german] = relay.devices
  for (const handle of ['2025550701', '030 901821', '017012345678']) {
    await american?.receive({ guid: `us ${handle}`, ...spelled(handle) })
    await german?.receive({ guid: `de ${handle}`, ...spelled(handle) })
  }

  const { data } = await relay.get('/api/v1/conversations')
  const handles = data.map((each: { phone_number: string; handle: string }) => [
    each.phone_number,
    each.handle,
  ])
  expect(handles.toSorted()).toEqual([
    ['+12025550801', ANNA],
    ['+12025550801', '017012345678'],
    ['+12025550801', '030 901821'],
    ['+4930901820', '+4917012345678'],
    ['+4930901820', '+4930901821'],
    ['+4930901820', '2025550701'],
  ])
})
