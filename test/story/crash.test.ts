// Crashes without a process: the files of a relay are copied in the middle of its life, and a second relay starts on
// the copy. The first one never stops; its sends just never end. A message that its driver proves was never handed over
// goes out after all; the proof itself is in `simulated-proof.test.ts`.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { type MessageId, timestamp } from '../../src/domain/ids.ts'
import type { Settlement } from '../../src/lines/driver.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { copyDatabase, vanishes } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { type SendScript, accepts, ends, guidOf } from '../support/scripted-driver.ts'
import { type ScriptedRelay, startScripted } from '../support/scripted-relay.ts'
import { TestClock } from '../support/test-clock.ts'

const TO = '+15550001234'
const ASYNC = { Prefer: 'respond-async' }

/** A relay on a file in `folder`, whose device does what `script` says. */
function startIn(folder: ScratchFolder, name: string, script: SendScript, before?: ScriptedRelay) {
  const clock = new TestClock(before?.clock.now()) // The life before goes on on its own.
  return startScripted({ path: folder.file(name), script, capacity: 4, clock, key: before?.key })
}

/** A relay that accepts everything, on what `before` leaves if it is killed now. */
function startAgain(folder: ScratchFolder, before: ScriptedRelay) {
  copyDatabase(folder, 'a.db', 'b.db')
  return startIn(folder, 'b.db', accepts, before)
}

test('a crash past the point of no return leaves the message uncertain, and it is never sent again', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', vanishes)
  const { body } = await before.send({ to: TO, text: 'past' }, ASYNC)
  await before.clock.advance(10)

  await using relay = await startAgain(folder, before)
  const { device } = relay
  await relay.clock.advance(60_000)
  const uncertain = await relay.message(body.id)
  await device.settle(body.id, { outcome: 'accepted', guid: guidOf(701) })
  const settled = await relay.message(body.id)
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
    await before.send({ to: TO, text: 'past' }, ASYNC),
    await before.send({ to: TO, text: 'behind' }, ASYNC),
    await before.send({ to: TO, text: 'past' }, ASYNC),
    await before.send({ to: TO, text: 'last' }, ASYNC),
  ]
  await before.clock.advance(10)

  await using relay = await startAgain(folder, before)
  const { device } = relay
  await relay.clock.advance(599_000)
  const early = device.given.map((message) => message.text)
  await relay.clock.advance(60_000)
  const ids = sent.map(({ body }) => body.id as string)
  const messages = await Promise.all(ids.map((id) => relay.message(id)))

  expect(early).toEqual(['behind'])
  expect(device.given.map((message) => message.text)).toEqual(['behind', 'past', 'last'])
  expect(messages.map(({ status }) => status)).toEqual(['uncertain', 'sent', 'sent', 'sent'])
})

test('a message that the device holds goes on waiting for its receipt', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', ends({ outcome: 'held', guid: guidOf(700) }))
  const { body } = await before.send({ to: TO, text: 'held' }, ASYNC)
  await before.clock.advance(10)

  await using relay = await startAgain(folder, before)
  const { device } = relay
  await relay.clock.advance(3_600_000)
  const waiting = await relay.message(body.id)
  await device.report(guidOf(700), 'delivered', relay.clock.now())

  expect(device.attended[0]?.unsettled).toMatchObject([
    { message: { id: body.id, platformGuid: guidOf(700) }, note: 'note of held' },
  ])
  expect([waiting.status, waiting.platform_guid]).toEqual(['sending', guidOf(700)])
  expect((await relay.message(body.id)).status).toBe('delivered')
  expect(device.given).toEqual([])
})

test('deliveries that were pending go out under the same webhook-id', async () => {
  using folder = new ScratchFolder()
  const before = await startIn(folder, 'a.db', accepts)
  // A receiver that has never answered gets one delivery at a time.
  before.sink.answer = (_posted, index) => (index === 0 ? 200 : 'hang')
  const webhook = { url: 'http://192.168.1.20/hook', events: ['message.received', 'message.sent'] }
  await before.post('/api/v1/webhooks', webhook)
  await before.device.receive({ guid: guidOf(701) })
  await before.clock.advance(10)
  await before.device.receive({ guid: guidOf(702) })
  await before.send({ to: TO, text: 'hello' })
  await before.clock.advance(10)

  await using after = await startAgain(folder, before)
  await after.clock.advance(1_000)

  const posted = ({ sink }: typeof after) => sink.posts.map(({ id, body }) => ({ id, body }))
  const pending = posted(before).slice(1)
  expect(pending).toHaveLength(2)
  expect(posted(after)).toEqual(pending)
})

const HOUR_MS = 3_600_000
const UNPROVEN = { outcome: 'not_sent', reason: 'not_carried', blame: 'line' } as const
const PROVEN: Settlement = { ...UNPROVEN, proof: true }

/** Ends a relay in the middle of a send and starts another one on what it left. */
async function endInSend(folder: ScratchFolder, bodies: readonly Record<string, unknown>[]) {
  const before = await startIn(folder, 'a.db', vanishes)
  await before.limit(1)
  const ids: MessageId[] = []
  for (const body of bodies) ids.push((await before.send(body, ASYNC)).body.id)
  await before.clock.advance(10)
  const after = await startAgain(folder, before)
  const messages = () => Promise.all(ids.map((id) => after.message(id)))
  return { ...after, ids, first: ids[0] ?? ('' as MessageId), messages }
}

test('a message that is proven unsent goes out after all, before those behind it', async () => {
  using folder = new ScratchFolder()
  await using relay = await endInSend(folder, [
    { to: TO, text: 'first' },
    { to: TO, text: 'first' },
    { to: TO, text: 'last' },
  ])
  const { device, ids, first, messages } = relay
  await device.goOffline()
  await relay.clock.advance(1_000)

  await device.settle(first, PROVEN)
  const queued = await messages()
  await device.goOnline()
  await relay.clock.advance(5_000)

  expect(queued.map((message) => [message.status, message.queued_reason])).toEqual([
    ['queued', 'retry'],
    ['queued', 'earlier_message'],
    ['queued', 'earlier_message'],
  ])
  expect(queued[0]?.error).toBeNull()
  expect(device.sent.map(({ id }) => id)).toEqual(ids)
  expect(await relay.eventNames()).toEqual(['message.sent', 'message.sent', 'message.sent'])
})

test('what was proven unsent keeps its place among the contacts of the day', async () => {
  using folder = new ScratchFolder()
  await using relay = await endInSend(folder, [{ to: TO, text: 'hello' }])
  const { device, first } = relay
  const used = async () => (await relay.lines())[0].new_contacts_today
  const uncertain = await used()

  await device.settle(first, PROVEN)
  const queued = await used()
  const newcomer = await relay.send({ to: '+15550001299', text: 'hello' })
  await relay.clock.advance(5_000)

  expect([uncertain, queued, await used()]).toEqual([1, 1, 1])
  expect(newcomer.status).toBe(429)
  expect(device.sent).toHaveLength(1)
})

test('a repeat of a request whose answer was lost gets the message that goes out', async () => {
  using folder = new ScratchFolder()
  const headers = { 'Idempotency-Key': 'once' }
  const body = { to: TO, text: 'hello' }
  const before = await startIn(folder, 'a.db', vanishes)
  void before.send(body, headers)
  await before.clock.advance(10)
  await using after = await startAgain(folder, before)
  const [{ id }] = (await after.get('/api/v1/messages')).data
  await after.device.settle(id, PROVEN)

  const repeated = await after.send(body, headers)
  await after.clock.advance(5_000)
  const later = await after.send(body, headers)

  expect([repeated.status, repeated.body.id, repeated.body.status]).toEqual([202, id, 'queued'])
  expect([later.status, later.body.status]).toEqual([202, 'queued'])
  expect((await after.message(id)).status).toBe('sent')
  expect(after.device.sent).toHaveLength(1)
})

test('a message that is under way at each end of the relay fails in the end, and says so', async () => {
  using folder = new ScratchFolder()
  let life = await startIn(folder, '0.db', vanishes)
  const { body } = await life.send({ to: TO, text: 'poison' }, ASYNC)

  const statuses: string[] = []
  for (let ends = 1; ends <= 4; ends += 1) {
    await life.clock.advance(31_000)
    copyDatabase(folder, `${ends - 1}.db`, `${ends}.db`)
    life = await startIn(folder, `${ends}.db`, vanishes, life)
    await life.device.settle(body.id, PROVEN)
    statuses.push((await life.message(body.id)).status)
  }
  await life.clock.advance(HOUR_MS)

  expect(statuses).toEqual(['queued', 'queued', 'queued', 'failed'])
  expect((await life.message(body.id)).error.code).toBe('not_carried')
  expect(life.device.given).toEqual([])
  expect(await life.eventNames()).toEqual(['message.failed'])
})

test('without proof it is never sent again', async () => {
  using folder = new ScratchFolder()
  await using relay = await endInSend(folder, [{ to: TO, text: 'hello' }])
  const { device, first, messages } = relay

  await device.settle(first, UNPROVEN)
  await relay.clock.advance(HOUR_MS)

  expect((await messages())[0].status).toBe('failed')
  expect(device.given).toEqual([])
})

test('once its failure was announced nobody sends it again, and it fails in plain words', async () => {
  using folder = new ScratchFolder()
  await using relay = await endInSend(folder, [{ to: TO, text: 'hello' }])
  const { device, first, messages } = relay
  await relay.clock.advance(599_000)
  const early = await relay.eventNames()
  await relay.clock.advance(2_000)
  const announced = await relay.eventNames()

  await device.settle(first, { ...PROVEN, reason: 'withdrawn' }) // By a box, which never sent it.
  await relay.clock.advance(HOUR_MS)

  expect([early, announced]).toEqual([[], ['message.failed']])
  expect(await messages()).toMatchObject([
    {
      status: 'failed',
      error: {
        code: 'withdrawn',
        message: expect.stringMatching(/^The message was not sent\./),
      },
    },
  ])
  expect(device.given).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('a restore never causes a send, whatever is proven', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const before = await startIn(folder, 'a.db', vanishes)
  const { body } = await before.send({ to: TO, text: 'hello' }, ASYNC)
  await before.clock.advance(10)
  copyDatabase(folder, 'a.db', 'backup.db')
  closeDatabase(openDatabase(folder.file('backup.db'), { version: 'test' }).db)
  const { clock } = before
  const file = folder.file('backup.db')
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })
  await using after = await startIn(folder, 'hookline.db', accepts, before)

  await after.device.settle(body.id, PROVEN)
  await after.clock.advance(HOUR_MS)

  expect((await after.message(body.id)).status).toBe('failed')
  expect(after.device.given).toEqual([])
})

test('a line has no say about a message that is not its own any more', async () => {
  using folder = new ScratchFolder()
  await using after = await endInSend(folder, [{ to: TO, text: 'first' }])
  const other = after.driver.add('+12025550802')
  after.lookForDevices()
  await after.clock.advance(0)

  await other.settle(after.first, PROVEN)
  await after.clock.advance(60_000)

  expect((await after.messages())[0]?.status).toBe('uncertain')
  expect([...after.device.sent, ...other.sent]).toEqual([])
})

test('a row to another person that a failed message caused is no message, whenever it is read', async () => {
  using folder = new ScratchFolder()
  const strayGuid = guidOf(702)
  const outcome = { outcome: 'not_sent', reason: 'misrouted', blame: 'message', strayGuid } as const
  const before = await startIn(folder, 'a.db', ends(outcome))
  const { body } = await before.send({ to: TO, text: 'hello' }, ASYNC)
  await before.clock.advance(10)

  await using relay = await startAgain(folder, before)
  const row = { text: 'hello', isFromMe: true, handle: deviceHandle('+12025550779') }
  await relay.device.receive({ ...row, guid: strayGuid })
  await relay.device.receive({ ...row, guid: guidOf(703), text: 'typed' })
  const { data } = await relay.get('/api/v1/messages')

  expect(await relay.message(body.id)).toMatchObject({ status: 'failed' })
  expect(data.map(({ text }: { text: string }) => text)).toEqual(['typed', 'hello'])
})
