// Crashes without a process: the files of a relay are copied in the middle of its life, and a second
// relay starts on the copy. The first one never stops; its clock just stands still.

import { expect, test } from 'bun:test'
import { copyFileSync, existsSync } from 'node:fs'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, guidOf, ScriptedDriver, type SendScript } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay } from '../support/test-relay.ts'
import { WebhookSink } from '../support/webhook-sink.ts'

const NUMBER = '+12025550801'
const TO = '+12025550700'
const ASYNC = { Prefer: 'respond-async' }

/** A relay whose files lie in `folder`, with one device and a sink for webhooks. */
async function startIn(folder: ScratchFolder, name: string, script: SendScript) {
  const clock = new TestClock()
  const sink = new WebhookSink(clock)
  const driver = new ScriptedDriver()
  const device = driver.add(NUMBER)
  device.capacity = 4
  device.script = script
  const database = openDatabase(folder.file(name), { version: 'test' })
  const onClose = () => closeDatabase(database.db)
  const relay = await startRelay({ clock, database, drivers: [driver], post: sink.post, onClose })
  return { relay, device, sink, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() }
}

/** The files as a power cut leaves them; the shared memory beside them is lost. */
function crash(folder: ScratchFolder, from: string, to: string): void {
  copyFileSync(folder.file(from), folder.file(to))
  const log = folder.file(`${from}-wal`)
  if (existsSync(log)) copyFileSync(log, folder.file(`${to}-wal`))
}

/** Passes the point of no return and never says what became of it. */
const vanishes: SendScript = async (message, pointOfNoReturn) => {
  await pointOfNoReturn(`note of ${message.text}`)
  return new Promise(() => {})
}

/** The device has the message, and is still trying. */
const holds: SendScript = async (message, pointOfNoReturn) => {
  await pointOfNoReturn(`note of ${message.text}`)
  return { outcome: 'held', guid: guidOf(700) }
}

test('a crash past the point of no return leaves the message uncertain, and it is never sent again', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', vanishes)
  const { body } = await before.relay.send({ to: TO, text: 'past' }, ASYNC)
  await before.relay.clock.advance(10)
  crash(folder, 'a.db', 'b.db')

  await using after = await startIn(folder, 'b.db', accepts)
  const { relay, device } = after
  await relay.clock.advance(60_000)
  const uncertain = await asOwner(relay, 'GET', `/messages/${body.id}`)
  await device.settle(body.id, { outcome: 'accepted', guid: guidOf(701) })
  const settled = await asOwner(relay, 'GET', `/messages/${body.id}`)
  await relay.clock.advance(3_600_000)

  expect(device.attended[0]?.unsettled).toMatchObject([
    { message: { id: body.id, to: TO, text: 'past' }, note: 'note of past' },
  ])
  expect(uncertain).toMatchObject({ status: 'uncertain', error: { code: 'outcome_unknown' } })
  expect(settled).toMatchObject({ status: 'sent', error: null, platform_guid: guidOf(701) })
  expect(device.given).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.sent'])
})

test('what was queued at the crash is sent once, also behind a message that is uncertain now', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', vanishes)
  const sent = [
    await before.relay.send({ to: TO, text: 'past' }, ASYNC),
    await before.relay.send({ to: TO, text: 'behind' }, ASYNC),
    await before.relay.send({ to: TO, text: 'past' }, ASYNC),
    await before.relay.send({ to: TO, text: 'last' }, ASYNC),
  ]
  await before.relay.clock.advance(10)
  crash(folder, 'a.db', 'b.db')

  await using after = await startIn(folder, 'b.db', accepts)
  const { relay, device } = after
  await relay.clock.advance(599_000)
  const early = device.given.map((message) => message.text)
  await relay.clock.advance(60_000)
  const ids = sent.map(({ body }) => body.id as string)
  const messages = await Promise.all(ids.map((id) => asOwner(relay, 'GET', `/messages/${id}`)))

  expect(early).toEqual(['behind'])
  expect(device.given.map((message) => message.text)).toEqual(['behind', 'past', 'last'])
  expect(messages.map(({ status }) => status)).toEqual(['uncertain', 'sent', 'sent', 'sent'])
})

test('a message that the device holds goes on waiting for its receipt', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', holds)
  const { body } = await before.relay.send({ to: TO, text: 'held' }, ASYNC)
  await before.relay.clock.advance(10)
  crash(folder, 'a.db', 'b.db')

  await using after = await startIn(folder, 'b.db', accepts)
  const { relay, device } = after
  await relay.clock.advance(3_600_000)
  const waiting = await asOwner(relay, 'GET', `/messages/${body.id}`)
  await device.report(guidOf(700), 'delivered', relay.clock.now())

  expect(device.attended[0]?.unsettled).toMatchObject([
    { message: { id: body.id, platformGuid: guidOf(700) }, note: 'note of held' },
  ])
  expect([waiting.status, waiting.platform_guid]).toEqual(['sending', guidOf(700)])
  expect((await asOwner(relay, 'GET', `/messages/${body.id}`)).status).toBe('delivered')
  expect(device.given).toEqual([])
})

test('deliveries that were pending go out under the same webhook-id', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', accepts)
  // A receiver that has never answered gets one delivery at a time.
  before.sink.answer = (_posted, index) => (index === 0 ? 200 : 'hang')
  const webhook = { url: 'http://192.168.1.20/hook', events: ['message.received', 'message.sent'] }
  await before.relay.post('/api/v1/webhooks', webhook)
  await before.device.receive({ guid: guidOf(701) })
  await before.relay.clock.advance(10)
  await before.device.receive({ guid: guidOf(702) })
  await before.relay.send({ to: TO, text: 'hello' })
  await before.relay.clock.advance(10)
  crash(folder, 'a.db', 'b.db')

  await using after = await startIn(folder, 'b.db', accepts)
  await after.relay.clock.advance(1_000)

  const posted = ({ sink }: typeof after) => sink.posts.map(({ id, body }) => ({ id, body }))
  const pending = posted(before).slice(1)
  expect(pending).toHaveLength(2)
  expect(posted(after)).toEqual(pending)
})

test('a repeat after the crash is answered from the message as it is, and sends nothing', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', vanishes)
  const body = { to: TO, text: 'past' }
  const headers = { 'Idempotency-Key': 'once' }
  void before.relay.send(body, headers)
  await before.relay.clock.advance(10)
  crash(folder, 'a.db', 'b.db')

  await using after = await startIn(folder, 'b.db', accepts)
  const repeated = await asOwner(after.relay, 'POST', '/messages/send', { body, headers })
  await after.relay.clock.advance(60_000)

  expect(repeated.status).toBe('uncertain')
  expect(after.device.given).toEqual([])
})
