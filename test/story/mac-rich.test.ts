// Files, groups, reactions and edits through the whole relay on a Mac, and what a crash leaves of them.

import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { inTime } from '../contract/line-rig.ts'
import { eventually } from '../support/eventually.ts'
import { encodeAttributedBody } from '../support/mac/attributed-body-encoder.ts'
import type { Json, TestRelay } from '../support/test-relay.ts'
import { FRIEND, MacBox } from './mac-relay.ts'

const HOOK = 'https://receiver.example/hook'

async function startBox(box: MacBox) {
  const started = await box.start()
  const { relay, sink } = started
  await relay.clock.advance(1_000)
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  await relay.post('/api/v1/webhooks', { url: HOOK, events: EVENT_NAMES })
  const bodies = (): readonly Json[] => sink.to(HOOK).map(({ body }) => JSON.parse(body))
  return { ...started, line, bodies }
}

type Started = Awaited<ReturnType<typeof startBox>>

async function upload({ app, key }: TestRelay, filename: string, content: string): Promise<Json> {
  const response = await app.http.fetch(
    new Request(`http://localhost/api/v1/attachments?filename=${filename}`, {
      method: 'POST',
      headers: { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' },
      body: content,
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout: () => {} },
  )
  return response.json()
}

/** The first posts to the webhook, once a disk that others use too has taken the files. */
function firstOf({ relay, bodies }: Pick<Started, 'relay' | 'bodies'>): Promise<readonly Json[]> {
  return eventually('the webhook gets the message', async () => {
    await relay.clock.advance(100)
    return bodies().length > 0 ? bodies() : null
  })
}

test('a photo that comes is announced with its bytes in the store of the relay', async () => {
  using box = new MacBox()
  const { relay, bodies } = await startBox(box)
  await using _ = relay
  const name = 'Attachments/ab/photo.jpg'
  mkdirSync(join(box.folder, 'Attachments/ab'), { recursive: true })
  writeFileSync(join(box.folder, name), 'jpeg?')

  const values = { attributedBody: encodeAttributedBody('\uFFFCa boat', { attachments: ['P'] }) }
  const { file } = box.model
  file.db.transaction(() => {
    const { rowId } = file.receive({ from: FRIEND, text: '', at: relay.clock.now(), values })
    const columns = { filename: `~/Library/Messages/${name}`, transfer_name: 'photo.jpg' }
    file.addAttachment(rowId, { guid: 'P', ...columns, total_bytes: 5 })
  })()

  const [{ event, message }] = (await firstOf({ relay, bodies })) as [Json]
  expect([event, message.text]).toEqual(['message.received', 'a boat'])
  expect(message.attachments).toMatchObject([
    { filename: 'photo.jpg', size: 5, state: 'available' },
  ])
  const content = await relay.app.http.fetch(
    new Request(`http://localhost${message.attachments[0].url}`, {
      headers: { 'X-API-Key': relay.key?.key ?? '', 'X-API-Secret': relay.key?.secret ?? '' },
    }),
    { address: '127.0.0.1', isControl: false, liftTimeout: () => {} },
  )
  expect(await content.text()).toBe('jpeg?')
})

test('an uploaded file leaves before its text, and both are proven', async () => {
  using box = new MacBox()
  const { relay } = await startBox(box)
  await using _ = relay
  box.model.receive(FRIEND, 'the menu, please')
  const { id } = await upload(relay, 'menu.pdf', '%PDF')

  const order = { to: FRIEND, text: 'here it is', attachments: [{ id }] }
  const { body } = await relay.send(order, { Prefer: 'respond-async' })
  const message = await eventually('both parts are read', async () => {
    await relay.clock.advance(100)
    const { status, attachments } = await relay.message(body.id)
    return status === 'read' ? { attachments } : null
  })

  const sent = box.model.letters.map(({ text, file }) => (file ? basename(file) : text))
  expect(sent).toEqual(['menu.pdf', 'here it is'])
  expect(message.attachments).toMatchObject([{ id, sent: true }])
})

test('after a crash between two parts the message is uncertain, one file is sent, and nothing goes again', async () => {
  using box = new MacBox()
  const first = await startBox(box)
  box.model.receive(FRIEND, 'both, please')
  const files = [await upload(first.relay, 'a.pdf', 'a'), await upload(first.relay, 'b.pdf', 'b')]
  box.model.nextSend('happy', 'no_row')
  const attachments = files.map(({ id }: Json) => ({ id }))
  const async = { Prefer: 'respond-async' }
  const { body } = await first.relay.send({ to: FRIEND, text: 'both', attachments }, async)
  await eventually('both files are handed over', async () => {
    await first.relay.clock.advance(1_000)
    return box.model.calls.filter(({ mode }) => mode === 'send_file').length === 2 ? true : null
  })
  box.crash()

  const { relay } = await box.start()
  await using _ = relay
  await relay.clock.advance(60_000)

  expect(box.model.letters.map(({ file }) => basename(file ?? ''))).toEqual(['a.pdf'])
  const message = await relay.message(body.id)
  expect(message.status).toBe('uncertain')
  expect(message.attachments).toMatchObject([{ sent: true }, { sent: null }])
})

test('a group is read and answered, and what is gone of it is unreachable', async () => {
  using box = new MacBox()
  const { relay, bodies } = await startBox(box)
  await using _ = relay
  const { file } = box.model
  const chat = file.addChat({ identifier: 'chat831', style: 43, name: 'Family', members: [FRIEND] })
  file.receive({ from: FRIEND, text: 'dinner?', at: relay.clock.now(), chat })
  await relay.clock.advance(2_000)

  const { data } = await relay.get('/api/v1/conversations?type=group')
  const path = `/api/v1/conversations/${data[0].id}/messages`
  const answer = await inTime(relay, relay.post(path, { text: 'yes' }))
  box.model.nextSend('resolve_not_found_chat')
  await inTime(relay, relay.post(path, { text: 'hello?' }))
  await relay.clock.advance(1_000)

  expect(bodies().map(({ event }) => event)).toEqual([
    'group_message.received',
    'group_message.sent',
    'group_message.failed',
  ])
  expect((await relay.message(answer.body.id)).status).toBe('sent')
  expect(bodies()[2].message.error.code).toBe('group_not_reachable')
  expect(box.model.letters.map(({ to, text }) => [to, text])).toEqual([['chat831', 'yes']])
  const after = await relay.get('/api/v1/conversations?type=group')
  expect(after.data[0].state).toBe('unreachable')
})

test('reactions, edits and unsends are events of the message that they are about', async () => {
  using box = new MacBox('macos27')
  const { relay, bodies } = await startBox(box)
  await using _ = relay
  const { file } = box.model
  const { rowId, guid } = box.model.receive(FRIEND, 'see you at eigth')
  await relay.clock.advance(2_000)

  const about = { associated_message_type: 2_001, associated_message_guid: `p:0/${guid}` }
  box.model.receive(FRIEND, 'Liked a message', about)
  await relay.clock.advance(2_000)
  file.set(rowId, { text: 'see you at eight', date_edited: file.date(relay.clock.now()) })
  await relay.clock.advance(2_000)
  file.set(rowId, {
    attributedBody: null,
    is_empty: 1,
    date_edited: file.date(relay.clock.now()),
  })
  await relay.clock.advance(2_000)

  const names = ['message.received', 'message.reaction', 'message.edited', 'message.unsent']
  expect(bodies().map(({ event }) => event)).toEqual(names)
  const ids = new Set(bodies().map(({ message }) => message.guid))
  expect(ids.size).toBe(1)
  expect(bodies()[1].reaction).toMatchObject({ action: 'added', type: 'like', handle: FRIEND })
  expect(bodies()[2].message.text).toBe('see you at eight')
})
