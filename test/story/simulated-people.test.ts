// Simulated people through the whole relay: a developer sees files, groups and changes before there is a device.
// What each number does is in `test/lines/kinds/simulated-rich.test.ts`.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startRelay, type Json } from '../support/test-relay.ts'

test('a picture comes with its bytes', async () => {
  await using world = await start()

  await world.send('+15550000188')

  const [message] = await world.arrived()
  const [file] = message.attachments
  const { status, body } = await world.download(file.url)
  expect(file).toMatchObject({
    filename: 'IMG_0001.JPG',
    mime_type: 'image/jpeg',
    state: 'available',
  })
  expect([status, body.length, body.subarray(0, 3).toHex()]).toEqual([200, file.size, 'ffd8ff'])
})

test('a file that was uploaded goes out, comes back as an echo, and is the same', async () => {
  await using world = await start()
  const file = await world.upload('the menu')

  const sent = await world.send('+15550000196', { attachments: [{ id: file.id }] })

  const [echo] = await world.arrived()
  const { body } = await world.download(echo.attachments[0].url)
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  expect(sent.body.attachments.map((each: Json) => each.sent)).toEqual([true])
  expect(new TextDecoder().decode(body)).toBe('the menu')
})

test('0198 takes the first file only, and 0199 says no more', async () => {
  await using world = await start()
  const attachments = [
    { id: (await world.upload('one')).id },
    { id: (await world.upload('two')).id },
  ]

  const partly = await world.send('+15550000198', { attachments })
  const unknown = await world.send('+15550000199', { attachments })

  const failed = await world.relay.message(partly.body.error.details.message_id)
  const uncertain = await world.relay.message(unknown.body.id)
  expect([failed.status, failed.error.code]).toEqual(['failed', 'partly_sent'])
  expect(failed.attachments.map((each: Json) => each.sent)).toEqual([true, false])
  expect(uncertain.status).toBe('uncertain')
  expect(uncertain.attachments.map((each: Json) => each.sent)).toEqual([true, null])
})

test('a group writes, is answered, and its people answer there', async () => {
  await using world = await start()
  await world.relay.patch(`/api/v1/phone-lines/${world.line.id}`, { relay_groups: true })
  await world.send('+15550000180')
  await world.relay.clock.advance(1_000)
  const { data } = await world.relay.get('/api/v1/conversations?type=group')

  const path = `/api/v1/conversations/${data[0].id}/messages`
  const sent = await world.relay.post(path, { text: 'Who comes?' })
  await world.relay.clock.advance(1_000)

  expect([data[0].name, data[0].participants.length]).toEqual(['Weekend', 3])
  expect([sent.status, sent.body.status]).toEqual([200, 'sent'])
  const group = await world.relay.get('/api/v1/messages?direction=inbound&type=group')
  expect(group.data.map(({ text, handle }: Json) => [text, handle])).toEqual([
    ['Who comes?', '+15550000196'],
    ['Here we all are.', '+15550000180'],
  ])
  expect(await world.inbound()).toEqual([])
})

test('a script plays a whole conversation: a late file, a reply, an edit and a reaction', async () => {
  await using world = await start()
  const play = (event: object) =>
    world.relay.post(`/api/v1/simulated/lines/${world.line.id}/events`, event)
  const from = '+15550001234'

  const first = await play({ type: 'message', from, text: 'See', attachments: [{ kind: 'slow' }] })
  const { guid } = first.body
  await play({ type: 'message', from, text: 'That one.', reply_to_guid: guid })
  await play({ type: 'edit', target_guid: guid, text: 'See here' })
  await play({ type: 'edit', target_guid: guid, text: 'See there' })
  await play({ type: 'reaction', from, target_guid: guid, reaction: 'laugh' })
  await world.relay.clock.advance(20_000)
  await world.until(async () => (await world.inbound())[1].attachments[0].state !== 'pending')

  const [reply, message] = await world.inbound()
  expect(reply.reply_to).toMatchObject({ message_id: message.id, guid })
  expect(message).toMatchObject({ text: 'See there', attachments: [{ state: 'available' }] })
  expect(message.edits.map((edit: Json) => edit.text)).toEqual(['See', 'See here'])
  expect(message.reactions).toMatchObject([{ type: 'laugh', handle: from }])
})

async function start() {
  const folder = new ScratchFolder()
  const relay = await startRelay({
    drivers: 'own',
    environment: { HOOKLINE_SIMULATED_LINES: '1' },
    folder: folder.path,
  })
  const [line] = await relay.lines()
  const call = async (path: string, body: string | null) => {
    const { key = '', secret = '' } = relay.key ?? {}
    const request = new Request(`http://localhost${path}`, {
      method: body === null ? 'GET' : 'POST',
      headers: { 'X-API-Key': key, 'X-API-Secret': secret },
      body,
    })
    const peer = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }
    return relay.app.http.fetch(request, peer)
  }
  const inbound = async (): Promise<readonly Json[]> =>
    (await relay.get('/api/v1/messages?direction=inbound')).data
  /** Files take real time, during which the test's clock goes on. */
  const until = (isSo: () => Promise<boolean>) =>
    eventually('the files are there', async () => {
      await relay.clock.advance(10)
      return (await isSo()) ? true : null
    })
  return {
    relay,
    line,
    until,
    inbound,
    /** Messages that came in, once there are some. */
    async arrived(): Promise<readonly Json[]> {
      await relay.clock.advance(1_000)
      await until(async () => (await inbound()).length > 0)
      return inbound()
    },
    send: (to: string, more: object = {}) => relay.send({ to, text: 'hello', ...more }),
    upload: async (text: string): Promise<Json> => (await call('/api/v1/attachments', text)).json(),
    download: async (path: string) => {
      const response = await call(path, null)
      return { status: response.status, body: await response.bytes() }
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
