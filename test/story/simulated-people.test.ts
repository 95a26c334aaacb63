// Simulated people through the whole relay: a developer sees files, groups and changes before there is a device.
// What each number does is in `test/lines/kinds/simulated-rich.test.ts`.

import { expect, test } from 'bun:test'

import { startFake, type FakeRelay } from '../support/fake-relay.ts'
import type { Json } from '../support/test-relay.ts'

test('a picture comes with its bytes', async () => {
  await using fake = await startFake()

  await send(fake, '+15550000188')

  await fake.advance('1s')
  const [message] = await fake.inbound()
  const [file] = message.attachments
  const answer = await fake.ask(file.url)
  const body = await answer.bytes()
  expect(file).toMatchObject({
    filename: 'IMG_0001.JPG',
    mime_type: 'image/jpeg',
    state: 'available',
  })
  expect([answer.status, body.length, body.subarray(0, 3).toHex()]).toEqual([
    200,
    file.size,
    'ffd8ff',
  ])
})

test('a file that was uploaded goes out, comes back as an echo, and is the same', async () => {
  await using fake = await startFake()
  const file = await upload(fake, 'the menu')

  const sent = await send(fake, '+15550000196', { attachments: [{ id: file.id }] })

  await fake.advance('1s')
  const [echo] = await fake.inbound()
  const body = await (await fake.ask(echo.attachments[0].url)).text()
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  expect(sent.body.attachments.map((each: Json) => each.sent)).toEqual([true])
  expect(body).toBe('the menu')
})

test('0198 takes the first file only, and 0199 says no more', async () => {
  await using fake = await startFake()
  const attachments = [
    { id: (await upload(fake, 'one')).id },
    { id: (await upload(fake, 'two')).id },
  ]

  const partly = await send(fake, '+15550000198', { attachments })
  const unknown = await send(fake, '+15550000199', { attachments })

  const failed = await fake.get(`/api/v1/messages/${partly.body.error.details.message_id}`)
  const uncertain = await fake.get(`/api/v1/messages/${unknown.body.id}`)
  expect([failed.status, failed.error.code]).toEqual(['failed', 'partly_sent'])
  expect(failed.attachments.map((each: Json) => each.sent)).toEqual([true, false])
  expect(uncertain.status).toBe('uncertain')
  expect(uncertain.attachments.map((each: Json) => each.sent)).toEqual([true, null])
})

test('a group writes, is answered, and its people answer there', async () => {
  await using fake = await startFake()
  const { data: lines } = await fake.get('/api/v1/phone-lines')
  await fake.call('PATCH', `/api/v1/phone-lines/${lines[0].id}`, { relay_groups: true })
  await send(fake, '+15550000180')
  await fake.advance('1s')
  const { data } = await fake.get('/api/v1/conversations?type=group')

  const path = `/api/v1/conversations/${data[0].id}/messages`
  const sent = await fake.call('POST', path, { text: 'Who comes?' })
  await fake.advance('1s')

  expect([data[0].name, data[0].participants.length]).toEqual(['Weekend', 3])
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  const group = await fake.get('/api/v1/messages?direction=inbound&type=group')
  expect(group.data.map(({ text, handle }: Json) => [text, handle])).toEqual([
    ['Who comes?', '+15550000196'],
    ['Here we all are.', '+15550000180'],
  ])
  expect(await fake.inbound()).toEqual([])
})

test('a script plays a whole conversation: a late file, a reply, an edit and a reaction', async () => {
  await using fake = await startFake()
  const from = '+15550001234'

  const first = await fake.play({
    type: 'message',
    from,
    text: 'See',
    attachments: [{ kind: 'slow' }],
  })
  const { guid } = first.body
  await fake.play({ type: 'message', from, text: 'That one.', reply_to_guid: guid })
  await fake.play({ type: 'edit', target_guid: guid, text: 'See here' })
  await fake.play({ type: 'edit', target_guid: guid, text: 'See there' })
  await fake.play({ type: 'reaction', from, target_guid: guid, reaction: 'laugh' })
  await fake.advance('20s')

  const [reply, message] = await fake.inbound()
  expect(reply.reply_to).toMatchObject({ message_id: message.id, guid })
  expect(message).toMatchObject({ text: 'See there', attachments: [{ state: 'available' }] })
  expect(message.edits.map((edit: Json) => edit.text)).toEqual(['See', 'See here'])
  expect(message.reactions).toMatchObject([{ type: 'laugh', handle: from }])
})

async function send(fake: FakeRelay, to: string, more: object = {}) {
  return fake.call('POST', '/api/v1/messages/send', { to, text: 'hello', ...more })
}

async function upload(fake: FakeRelay, body: string): Promise<Json> {
  return (await fake.ask('/api/v1/attachments', { method: 'POST', body })).json()
}
