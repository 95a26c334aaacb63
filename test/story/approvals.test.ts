// Messages of keys that may not send by themselves: they wait for a person, or for another key.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

const TO = '+12025550700'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A relay with a key under `rules`, and the owner. */
async function openDesk(rules: Json) {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const relay = await startRelay({ drivers: [driver] })
  const owner = (method: string, path: string, body?: unknown) =>
    asOwner(relay, method, path, body === undefined ? {} : { body })
  const addKey = async (wish: Json) => {
    const { body } = await relay.post('/api/v1/keys', wish)
    const headers = { 'X-API-Key': body.key, 'X-API-Secret': body.secret }
    const ask = (method: string, path: string, wanted?: unknown) =>
      relay.request(method, `/api/v1/messages${path}`, wanted, headers)
    const send = (text: string, more = {}) => ask('POST', '/send', { to: TO, text, ...more })
    return { id: body.id, ask, send }
  }
  const agent = await addKey({ name: 'agent', rules })
  const texts = () => device.sent.map(({ text }) => text)
  const rest = () => relay.clock.advance(1_000)
  const dispose = relay[Symbol.asyncDispose]
  return { relay, device, owner, addKey, agent, texts, rest, [Symbol.asyncDispose]: dispose }
}

test('a held message leaves once it is approved, with the text that was approved', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, owner, agent, texts, rest } = desk

  const held = await agent.send('Hi Ana')
  await relay.clock.advance(HOUR)
  const before = texts()
  const approved = await owner('POST', `/messages/${held.body.id}/approve`, { text: 'Hello Ana' })
  await rest()

  expect([held.status, held.body.status, held.body.queued_reason]).toEqual([
    202,
    'queued',
    'approval',
  ])
  expect(held.body.approval).toMatchObject({ state: 'pending', requested_by: agent.id })
  expect([before, texts()]).toEqual([[], ['Hello Ana']])
  expect(approved).toMatchObject({
    text: 'Hello Ana',
    approval: { state: 'approved', resolved_by: 'cli', original_text: 'Hi Ana' },
  })
  expect(await relay.eventNames()).toEqual([
    'approval.requested',
    'approval.resolved',
    'message.sent',
  ])
})

test('a denied message never leaves, and says why', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, owner, agent, texts, rest } = desk

  const { body } = await agent.send('Hi Ana')
  await owner('POST', `/messages/${body.id}/deny`, { reason: 'She left.' })
  await rest()

  expect(await relay.message(body.id)).toMatchObject({
    status: 'failed',
    error: { code: 'denied' },
    approval: { state: 'denied', reason: 'She left.' },
  })
  expect(texts()).toEqual([])
  expect(await relay.eventNames()).toEqual([
    'approval.requested',
    'approval.resolved',
    'message.failed',
  ])
})

test('of two decisions the first one counts, also of those made at the same time', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { owner, agent, texts, rest } = desk

  const { body } = await agent.send('Hi Ana')
  const path = `/messages/${body.id}`
  const both = await Promise.all([
    owner('POST', `${path}/approve`, { text: 'one' }),
    owner('POST', `${path}/approve`, { text: 'two' }),
    owner('POST', `${path}/deny`, {}),
  ])
  await rest()

  expect(both.map(({ status, error }) => status ?? error.code)).toEqual([
    'queued',
    'not_awaiting_approval',
    'not_awaiting_approval',
  ])
  expect(texts()).toEqual(['one'])
})

test('no key decides on its own messages, and another one only with the scope', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { agent, addKey, texts, rest } = desk
  const reader = await addKey({ name: 'reader', scopes: ['messages:read'] })
  const approver = await addKey({ name: 'approver', scopes: ['approvals:write'] })
  const { body } = await agent.send('Hi Ana')
  const approve = (key: typeof agent) => key.ask('POST', `/${body.id}/approve`)

  const refused = [await approve(agent), await approve(reader)]
  const before = texts()
  const approved = await approve(approver)
  await rest()

  expect(refused.map((answer) => [answer.status, answer.body.error.code])).toEqual([
    [403, 'forbidden'],
    [403, 'forbidden'],
  ])
  expect([before, texts()]).toEqual([[], ['Hi Ana']])
  expect(approved.body.approval.resolved_by).toBe(approver.id)
})

test('held messages keep their order, and hold up nobody else', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, owner, agent, texts, rest } = desk

  const first = await agent.send('first')
  const second = await agent.send('second')
  await relay.send({ to: TO, text: 'from a person' })
  const early = await owner('POST', `/messages/${second.body.id}/approve`)
  await rest()
  const between = texts()
  await owner('POST', `/messages/${first.body.id}/approve`)
  await rest()

  expect([early.status, early.queued_reason]).toEqual(['queued', 'earlier_message'])
  expect([between, texts()]).toEqual([['from a person'], ['from a person', 'first', 'second']])
})

test('one that waits behind a denied or canceled message goes then', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { owner, agent, texts, rest } = desk
  const [denied, canceled, last] = [
    await agent.send('denied'),
    await agent.send('canceled'),
    await agent.send('last'),
  ]

  await owner('POST', `/messages/${last.body.id}/approve`)
  await owner('POST', `/messages/${denied.body.id}/deny`)
  await rest()
  const between = texts()
  await agent.ask('DELETE', `/${canceled.body.id}`)
  await rest()

  expect([between, texts()]).toEqual([[], ['last']])
})

test('a reply that waits answers nobody until it is approved, and none that is denied', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, device, owner, agent, rest } = desk
  const waiting = async () => {
    const { data } = await relay.get('/api/v1/conversations?unanswered=true')
    return data.map(({ handle }: Json) => handle)
  }
  await device.receive({ guid: 'A', handle: deviceHandle(TO), text: 'Are you open today?' })

  const first = await agent.send('No')
  const held = await waiting()
  await owner('POST', `/messages/${first.body.id}/deny`)
  const denied = await waiting()
  const second = await agent.send('Yes')
  await owner('POST', `/messages/${second.body.id}/approve`)
  await rest()
  const approved = await waiting()
  const late = await agent.send('Until six')
  await device.receive({ guid: 'B', handle: deviceHandle(TO), text: 'And on Sunday?' })
  await owner('POST', `/messages/${late.body.id}/approve`)

  expect([held, denied, approved, await waiting()]).toEqual([[TO], [TO], [], [TO]])
})

test('with approval for new contacts only those are held', async () => {
  await using desk = await openDesk({ approval: 'new_contacts' })
  const { owner, agent, texts, rest } = desk

  const first = await agent.send('first')
  await owner('POST', `/messages/${first.body.id}/approve`)
  await rest()
  const second = await agent.send('second')

  expect([first.status, second.status, second.body.approval]).toEqual([202, 200, undefined])
  expect(texts()).toEqual(['first', 'second'])
})

test('unanswered for a day, a message expires; an approved one has its own day', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, device, owner, agent, rest } = desk
  const forgotten = await agent.send('forgotten')
  const late = await agent.send('late', { to: '+12025550701' })

  relay.clock.doze(23 * HOUR)
  await rest()
  await device.goOffline()
  await owner('POST', `/messages/${late.body.id}/approve`)
  relay.clock.doze(2 * HOUR)
  await rest()

  expect(await relay.message(forgotten.body.id)).toMatchObject({
    status: 'expired',
    approval: { state: 'expired', resolved_by: null },
  })
  expect(await relay.message(late.body.id)).toMatchObject({
    status: 'queued',
    queued_reason: 'line_offline',
  })
})

test('an approved message still waits for its time, and for the quiet hours of its key', async () => {
  const quiet_hours = { from: '09:00', to: '12:00' }
  await using desk = await openDesk({ approval: 'always', quiet_hours })
  const { relay, owner, agent, texts } = desk
  const send_at = new Date(relay.clock.now() + HOUR).toISOString()

  const { body } = await agent.send('later', { send_at })
  const approved = await owner('POST', `/messages/${body.id}/approve`)
  await relay.clock.advance(HOUR)
  const quiet = await relay.message(body.id)
  await relay.clock.advance(HOUR - 1)
  const before = texts()
  await relay.clock.advance(1)

  expect([approved.queued_reason, quiet.queued_reason]).toEqual(['scheduled', 'quiet_hours'])
  expect([before, texts()]).toEqual([[], ['later']])
})

test('a held message leaves its conversation unread until it is approved', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, device, owner, agent, rest } = desk
  const receive = (guid: string) =>
    device.receive({ guid, handle: deviceHandle(TO), text: 'Is it ready?' })
  const unread = async () => {
    const { data } = await relay.get('/api/v1/conversations')
    return data[0].unread_count ?? 0
  }

  await receive('G1')
  const denied = await agent.send('No')
  const held = await agent.send('Yes')
  const counts = [await unread()]
  await owner('POST', `/messages/${denied.body.id}/deny`)
  await receive('G2')
  counts.push(await unread())
  await owner('POST', `/messages/${held.body.id}/approve`)
  await rest()
  counts.push(await unread())
  await relay.send({ to: TO, text: 'Come by.' })
  counts.push(await unread())

  expect(counts).toEqual([1, 2, 1, 0])
})

test('the list and the page find what waits for an approval', async () => {
  await using desk = await openDesk({ approval: 'always' })
  const { relay, agent, owner } = desk
  const { body } = await agent.send('Hi Ana')

  const { data } = await relay.get('/api/v1/messages?queued_reason=approval')
  await owner('POST', `/messages/${body.id}/deny`)
  const after = await relay.get('/api/v1/messages?queued_reason=approval')

  expect(data.map(({ id }: Json) => id)).toEqual([body.id])
  expect(after.data).toEqual([])
})
