// A message that was under way when the relay ended, and that its driver proves was never handed over,
// goes out after all. The proof itself is in `simulated-proof.test.ts`.

import { expect, test } from 'bun:test'

import { timestamp, type MessageId } from '../../src/domain/ids.ts'
import type { Settlement } from '../../src/lines/driver.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { copyDatabase, vanishes } from '../support/ended-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, type SendScript } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import { TestClock } from '../support/test-clock.ts'

const TO = '+15550001234'
const HOUR_MS = 3_600_000
const ASYNC = { Prefer: 'respond-async' }
const UNPROVEN = { outcome: 'not_sent', reason: 'not_carried', blame: 'line' } as const
const PROVEN: Settlement = { ...UNPROVEN, proof: true }

/** A relay on a file in `folder`, whose device does what `script` says. */
function startIn(folder: ScratchFolder, name: string, script: SendScript, before?: ScriptedRelay) {
  const clock = new TestClock(before?.clock.now()) // The life before goes on on its own.
  return startScripted({ path: folder.file(name), script, clock, key: before?.key })
}

/** Ends a relay in the middle of a send and starts another one on what it left. */
async function endInSend(folder: ScratchFolder, bodies: readonly Record<string, unknown>[]) {
  const before = await startIn(folder, 'a.db', vanishes)
  await before.limit(1)
  const ids: MessageId[] = []
  for (const body of bodies) ids.push((await before.send(body, ASYNC)).body.id)
  await before.clock.advance(10)
  copyDatabase(folder, 'a.db', 'b.db')
  const after = await startIn(folder, 'b.db', accepts, before)
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
  copyDatabase(folder, 'a.db', 'b.db')
  await using after = await startIn(folder, 'b.db', accepts, before)
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
