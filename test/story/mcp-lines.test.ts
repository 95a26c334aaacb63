// An agent and a person with whom several lines have a conversation: what holds on one line holds on the others.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { NEWEST, openMcp } from './mcp-stage.ts'

const ANNA = '+12025550701'

/** A relay with two lines and an agent that has written to Anna by the first one, which has gone offline since. */
async function openTwoLines() {
  const stage = await openMcp({}, { hasSecondLine: true })
  const { call } = await stage.connect(NEWEST)
  const [first, second] = stage.devices
  const codeOf = async (name: string, args: object) => {
    const { structuredContent } = await call(name, { ...args })
    return structuredContent.error?.code ?? structuredContent.status
  }
  const { structuredContent: sent } = await call('send_message', { to: ANNA, text: 'Ready.' })
  const isFirst = first?.sent.length === 1
  const [used, other] = isFirst ? [first, second] : [second, first]
  if (used === undefined || other === undefined) throw new Error('The stage has two lines.')
  await used.goOffline()
  return {
    ...stage,
    codeOf,
    used,
    other,
    conversation: String(sent.conversation_id),
    write: (text: string, more: object = {}) => codeOf('send_message', { to: ANNA, text, ...more }),
    sent: () => [used, other].map((device) => device.sent.map(({ text }) => text)),
  }
}

test('a repeat is refused although the relay would send it by another line', async () => {
  await using stage = await openTwoLines()

  const repeat = await stage.write('Ready.')
  const next = await stage.write('Come at 5.')
  await stage.other.receive({ guid: guidOf(1), handle: deviceHandle(ANNA), text: 'and now?' })
  const asked = await stage.write('Ready.')

  expect([repeat, next, asked]).toEqual(['already_sent', 'sent', 'sent'])
  expect(stage.sent()).toEqual([['Ready.'], ['Come at 5.', 'Ready.']])
})

test('while a person answers on one line, an agent that names no line sends by no other', async () => {
  await using stage = await openTwoLines()
  await stage.codeOf('hand_to_person', { conversation_id: stage.conversation })
  const { data: lines } = await stage.get('/api/v1/phone-lines')
  const other = lines.find(({ status }: { status: string }) => status === 'online')

  const unnamed = await stage.write('me')
  const named = await stage.write('by the other line', { line_id: other.id })

  expect([unnamed, named]).toEqual(['automation_paused', 'sent'])
  expect(stage.sent()).toEqual([['Ready.'], ['by the other line']])
})

test('a message of an agent that moves to another line fails there if a person answers by now', async () => {
  await using stage = await openTwoLines()
  await stage.other.goOffline()
  const queued = await stage.write('written before')
  const [{ conversation_id, phone_line_id }] = (await stage.get('/api/v1/messages?status=queued'))
    .data
  await stage.codeOf('hand_to_person', { conversation_id })

  const [{ id: firstLine }] = (await stage.get('/api/v1/phone-lines')).data
  await stage.devices[phone_line_id === firstLine ? 1 : 0]?.goOnline()
  await stage.clock.advance(60_000)
  const [failed] = (await stage.get('/api/v1/messages?status=failed')).data

  expect([queued, failed.error.code]).toEqual(['queued', 'automation_paused'])
  expect(failed.phone_line_id).not.toBe(phone_line_id)
  expect(stage.sent()).toEqual([['Ready.'], []])
})
