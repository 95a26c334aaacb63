// A relay goes back to a back-up while its devices have gone on: real files, a real restore, and the
// device's own memory of what it sent. What the files look like then is in test/storage.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type { LineDriver } from '../../src/lines/driver.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { findMessage } from '../../src/storage/messages.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, guidOf, refuses, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

const REFUSED_BEFORE = '+12025550700'
const QUEUED_BEFORE = '+12025550701'

async function startOn(directory: DataDirectory, clock: TestClock, driver: LineDriver) {
  const database = openDatabase(directory.database, { version: 'test' })
  return startRelay({
    clock,
    database,
    drivers: [driver],
    onClose: () => closeDatabase(database.db),
  })
}

/**
 * A life up to the restore: one message refused and one queued, the back-up, then both are sent and
 * more comes in. Gives what the relay told of it.
 */
async function liveAndRestore(folder: ScratchFolder, clock: TestClock) {
  const directory = openDataDirectory(folder.path)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = refuses
  const told = await (async () => {
    await using relay = await startOn(directory, clock, driver)
    await device.receive({ guid: guidOf(801), text: 'before' })
    const refused = await relay.send({ to: REFUSED_BEFORE, text: 'refused' })
    await device.goOffline()
    const queued = await relay.send({ to: QUEUED_BEFORE, text: 'queued' })
    const reserved = reservedPlaces(relay)
    takeSnapshot(wholeBackup(directory, folder.file('backup.db')))

    device.script = accepts
    await device.goOnline()
    await clock.advance(60_000)
    await device.receive({ guid: guidOf(802), text: 'since' })
    const ids: readonly string[] = [refused.body.id, queued.body.id]
    return { ids, reserved, received: receivedEvents(relay), sent: device.sent.length }
  })()
  const file = folder.file('backup.db')
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })
  return { directory, ...told }
}

test('after a restore nothing is sent: what was queued is uncertain, is announced, and yields to proof', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const before = await liveAndRestore(folder, clock)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startOn(before.directory, clock, driver)
  const messages = () =>
    Promise.all(before.ids.map((id) => asOwner(relay, 'GET', `/messages/${id}`)))

  await clock.advance(590_000)
  const restored = await messages()
  const early = await relay.eventNames()
  await clock.advance(11_000)
  const late = await relay.eventNames()
  const [refused = '', queued = ''] = before.ids
  await device.settle(refused as never, { outcome: 'accepted', guid: guidOf(803) })
  await device.settle(queued as never, { outcome: 'held', guid: guidOf(804) })
  await device.report(guidOf(804), 'delivered', clock.now())
  const settled = await messages()
  await clock.advance(3_600_000)

  const uncertain = { status: 'uncertain', error: { code: 'restored' }, queued_reason: null }
  expect(before.sent).toBe(2)
  expect(restored).toMatchObject([uncertain, uncertain])
  expect(device.attended[0]?.unsettled.map(({ message }) => message.id as string)).toEqual([
    refused,
    queued,
  ])
  expect(early).toEqual(['message.received'])
  expect(late).toEqual(['message.received', 'message.failed', 'message.failed'])
  expect(settled).toMatchObject([
    { status: 'sent', error: null, platform_guid: guidOf(803) },
    { status: 'delivered', error: null, platform_guid: guidOf(804) },
  ])
  expect(device.given).toEqual([])
})

test('what came in since the back-up is told again under the ids that receivers know', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const before = await liveAndRestore(folder, clock)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startOn(before.directory, clock, driver)
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
  const clock = new TestClock()
  const before = await liveAndRestore(folder, clock)
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  await using relay = await startOn(before.directory, clock, driver)
  const [line] = (await asOwner(relay, 'GET', '/phone-lines')).data
  await asOwner(relay, 'PATCH', `/phone-lines/${line.id}`, { body: { daily_contact_limit: 1 } })

  const body = { to: '+12025550799', text: 'a new contact' }
  const answer = await asOwner(relay, 'POST', '/messages/send', { body })

  expect(before.reserved).toEqual([{ places: 1 }])
  expect(line.new_contacts_today).toBe(0)
  expect(answer.status).toBe('sent')
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
  const clock = new TestClock()
  const directory = openDataDirectory(folder.path)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const handle = deviceHandle(REFUSED_BEFORE)
  const name = (relay: TestRelay, of: string, called: string) =>
    asOwner(relay, 'PUT', `/contacts/${encodeURIComponent(of)}`, { body: { name: called } })
  const markAll = async (relay: TestRelay, place: number) => {
    const { data } = await asOwner(relay, 'GET', '/messages?direction=inbound')
    const { id, conversation_id: talk } = data.at(-place)
    await asOwner(relay, 'POST', `/conversations/${talk}/read`, { body: { message_id: id } })
  }
  const before = await (async () => {
    await using relay = await startOn(directory, clock, driver)
    await relay.send({ to: QUEUED_BEFORE, text: 'your table is ready' })
    for (const text of ['a table for four', 'hello?', 'never mind']) {
      await device.receive({ guid: guidOf(800 + text.length), handle, text })
    }
    await name(relay, REFUSED_BEFORE, 'Anna Table')
    await markAll(relay, 1)
    await clock.advance(30_000) // The index follows.
    takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
    const known = await knownBy(relay)
    await device.receive({ guid: guidOf(900), handle, text: 'the other table' })
    await markAll(relay, 4)
    await name(relay, QUEUED_BEFORE, 'Bob Table')
    return known
  })()
  const file = folder.file('backup.db')
  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })

  await using relay = await startOn(directory, clock, new ScriptedDriver())
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

/** What `message.received` told, in any order that the device chose. */
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
