// A relay goes back to a back-up while its devices have gone on: real files, a real restore, and the
// device's own memory of what it sent. What the files look like then is in test/storage.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type MessageId } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { findMessage } from '../../src/storage/messages.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, guidOf, refuses } from '../support/scripted-driver.ts'
import { startScripted, type ScriptedRelay } from '../support/scripted-relay.ts'
import type { Json, TestRelay } from '../support/test-relay.ts'

const REFUSED_BEFORE = '+12025550700'
const QUEUED_BEFORE = '+12025550701'

/**
 * A life up to the restore: one message refused and one queued, the back-up, then both are sent and
 * more comes in. Gives what the relay reported of it.
 */
async function liveAndRestore(folder: ScratchFolder) {
  const directory = openDataDirectory(folder.path)
  const life = await startScripted({ path: directory.database, script: refuses })
  const { clock, device, key } = life
  await device.receive({ guid: guidOf(801), text: 'before' })
  const refused = await life.send({ to: REFUSED_BEFORE, text: 'refused' })
  await device.goOffline()
  const queued = await life.send({ to: QUEUED_BEFORE, text: 'queued' })
  const reserved = reservedPlaces(life)
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))

  device.script = accepts
  await device.goOnline()
  await clock.advance(60_000)
  await device.receive({ guid: guidOf(802), text: 'since' })
  const ids: readonly MessageId[] = [refused.body.id, queued.body.id]
  const told = { ids, reserved, received: receivedEvents(life), sent: device.sent.length }
  await life[Symbol.asyncDispose]()
  const restored = await restoreInto(directory, folder, { clock, key })
  return { before: told, ...restored }
}

/** Puts the backup in the folder in the place of what is there, and starts a relay on it. */
function restoreInto(
  directory: DataDirectory,
  folder: ScratchFolder,
  { clock, key }: Pick<ScriptedRelay, 'clock' | 'key'>,
) {
  const file = folder.file('backup.db')
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })
  return startScripted({ path: directory.database, clock, key })
}

test('after a restore nothing is sent: what was queued is uncertain, is announced, and yields to proof', async () => {
  using folder = new ScratchFolder()
  await using relay = await liveAndRestore(folder)
  const { before, clock, device } = relay
  const messages = () => Promise.all(before.ids.map((id) => relay.message(id)))

  await clock.advance(590_000)
  const restored = await messages()
  const early = await relay.eventNames()
  await clock.advance(11_000)
  const late = await relay.eventNames()
  const [refused, queued] = before.ids as [MessageId, MessageId] // Two were sent.
  await device.settle(refused, { outcome: 'accepted', guid: guidOf(803) })
  await device.settle(queued, { outcome: 'held', guid: guidOf(804) })
  await device.report(guidOf(804), 'delivered', clock.now())
  const settled = await messages()
  await clock.advance(3_600_000)

  const uncertain = { status: 'uncertain', error: { code: 'restored' }, queued_reason: null }
  expect(before.sent).toBe(2)
  expect(restored).toMatchObject([uncertain, uncertain])
  expect(device.attended[0]?.unsettled.map(({ message }) => message.id)).toEqual([refused, queued])
  expect(early).toEqual(['message.received'])
  expect(late).toEqual(['message.received', 'message.failed', 'message.failed'])
  expect(settled).toMatchObject([
    { status: 'sent', error: null, platform_guid: guidOf(803) },
    { status: 'delivered', error: null, platform_guid: guidOf(804) },
  ])
  expect(device.given).toEqual([])
})

test('what came in since the back-up is reported again under the ids that receivers know', async () => {
  using folder = new ScratchFolder()
  await using relay = await liveAndRestore(folder)
  const { before, device } = relay
  const kept = receivedEvents(relay)

  await device.receive({ guid: guidOf(801), text: 'before' })
  await device.receive({ guid: guidOf(802), text: 'since' })

  expect(device.attended[0]?.checkpoint).toBe(guidOf(801))
  expect(before.received).toHaveLength(2)
  expect(kept).toEqual(before.received.slice(0, 1))
  expect(receivedEvents(relay)).toEqual(before.received)
})

test('the places of the day that queued messages held are free again', async () => {
  using folder = new ScratchFolder()
  await using relay = await liveAndRestore(folder)
  const [line] = await relay.lines()
  await relay.limit(1)

  const { body } = await relay.send({ to: '+12025550799', text: 'a new contact' })

  expect(relay.before.reserved).toEqual([{ places: 1 }])
  expect(line.new_contacts_today).toBe(0)
  expect(body.status).toBe('sent')
  expect(reservedPlaces(relay)).toEqual([{ places: 0 }])
})

/** Unread counts, contacts, what a search finds, and the figures of all days. */
async function knownBy(relay: TestRelay) {
  const read = (path: string) => asOwner(relay, 'GET', path)
  const { data: conversations } = await read('/conversations')
  const { people, messages } = await read('/search?q=table')
  const { sent, received, failed, uncertain } = (await read('/stats?days=1')).data[0]
  return {
    unread: conversations.map((one: Json) => [
      one.contact_name ?? one.handle,
      one.unread_count ?? 0,
    ]),
    contacts: (await read('/contacts')).data,
    found: [people, messages.map((one: Json) => one.message.text)],
    figures: { sent, received, failed, uncertain },
  }
}

test('unread counts, contacts, searches and figures are those of the backup', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const life = await startScripted({ path: directory.database })
  const { device } = life
  const handle = deviceHandle(REFUSED_BEFORE)
  const name = (relay: TestRelay, of: string, called: string) =>
    asOwner(relay, 'PUT', `/contacts/${encodeURIComponent(of)}`, { body: { name: called } })
  const markAll = async (relay: TestRelay, place: number) => {
    const { data } = await asOwner(relay, 'GET', '/messages?direction=inbound')
    const { id, conversation_id: talk } = data.at(-place)
    await asOwner(relay, 'POST', `/conversations/${talk}/read`, { body: { message_id: id } })
  }
  await life.send({ to: QUEUED_BEFORE, text: 'your table is ready' })
  for (const text of ['a table for four', 'hello?', 'never mind']) {
    await device.receive({ guid: guidOf(800 + text.length), handle, text })
  }
  await name(life, REFUSED_BEFORE, 'Anna Table')
  await markAll(life, 1)
  await life.clock.advance(30_000) // The index follows.
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  const before = await knownBy(life)
  await device.receive({ guid: guidOf(900), handle, text: 'the other table' })
  await markAll(life, 4)
  await name(life, QUEUED_BEFORE, 'Bob Table')
  await life[Symbol.asyncDispose]()

  await using relay = await restoreInto(directory, folder, life)
  const after = await knownBy(relay)
  await name(relay, QUEUED_BEFORE, 'Carl Table')
  const { people } = await asOwner(relay, 'GET', '/search?q=table')

  expect(people).toMatchObject([{ name: 'Carl Table' }, { name: 'Anna Table' }])
  expect(before).toMatchObject({
    unread: [
      ['Anna Table', 2],
      [QUEUED_BEFORE, 0],
    ],
    found: [[{ name: 'Anna Table' }], ['a table for four', 'your table is ready']],
    figures: { sent: 1, received: 3, failed: 0, uncertain: 0 },
  })
  expect(after).toEqual(before)
})

/** What `message.received` reported, in any order that the device chose. */
function receivedEvents({ db, events }: TestRelay): readonly unknown[] {
  const received = events().filter(({ name }) => name === 'message.received')
  return received.map(({ id, messageId }) => {
    const message = findMessage(db, messageId)
    return { event: id, message: messageId, guid: message?.guid, text: message?.text }
  })
}

function reservedPlaces({ db }: TestRelay): readonly unknown[] {
  return db.sqlite.query('SELECT contacts_reserved AS places FROM lines').all()
}
