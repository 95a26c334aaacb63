// Opt-outs of the owner and of programs, and what becomes of all of them in the life of a relay.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { asOwner } from '../support/control-socket.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'
import { ANNA, BOB, OPT_OUTS, hello, openRelay, pathOf, set, text } from './opt-outs-stage.ts'

test('an opt-out of one line leaves the other lines alone', async () => {
  await using relay = await openRelay(['+12025550801', '+12025550802'])
  const [first, second] = await relay.lines()
  const added = await relay.put(pathOf(ANNA), { phone_line_id: first.id })

  const statuses = []
  for (const { id } of [first, second]) {
    statuses.push((await hello(relay, { phone_line_id: id })).status)
  }
  const { data } = await relay.get('/api/v1/conversations')

  expect(added.body).toMatchObject({ handle: ANNA, phone_line_id: first.id, source: 'api' })
  expect(statuses).toEqual([409, 200])
  expect(data.map(({ opted_out }: Json) => opted_out)).toEqual([undefined])
})

test('START ends the opt-outs of all lines and of its own line, not that of another', async () => {
  await using relay = await openRelay(['+12025550801', '+12025550802'])
  const [first, second] = await relay.lines()
  for (const line of [null, first.id, second.id]) {
    await relay.put(pathOf(ANNA), { phone_line_id: line })
  }

  await text(relay, 'START')

  const { data } = await relay.get(OPT_OUTS)
  expect(data.map(({ phone_line_id: line }: Json) => line)).toEqual([second.id])
})

test('a webhook of one line gets what is about it, and one of all lines gets everything', async () => {
  await using relay = await openRelay(['+12025550801', '+12025550802'])
  const [first, second] = await relay.lines()
  const events = ['contact.opted_out']
  const hooks: string[] = []
  for (const phone_line_ids of [null, [first.id], [second.id]]) {
    const url = 'https://hooks.example'
    hooks.push((await relay.post('/api/v1/webhooks', { url, events, phone_line_ids })).body.id)
  }

  await relay.put(pathOf(BOB), {})
  await text(relay, 'STOP')

  const counts = hooks.map(
    async (id) => (await relay.get(`/api/v1/webhooks/${id}/deliveries`)).data,
  )
  expect((await Promise.all(counts)).map(({ length }) => length)).toEqual([2, 1, 0])
})

test('PUT adds one, says what is there already, and DELETE ends it; each announces it', async () => {
  await using relay = await openRelay()
  const [line] = await relay.lines()
  const added = await relay.put(pathOf(ANNA), undefined)
  await relay.clock.advance(1_000)
  const again = await relay.put(pathOf(ANNA), { phone_line_id: null })
  await text(relay, 'STOP')
  await relay.put(pathOf(ANNA), { phone_line_id: line.id })
  const listed = await relay.get(`${OPT_OUTS}?handle=%2B12025550701&limit=1`)

  const ofLine = await relay.request('DELETE', `${pathOf(ANNA)}?phone_line_id=${line.id}`)
  const refused = await hello(relay)
  const ended = await relay.request('DELETE', pathOf(ANNA))
  const gone = await relay.request('DELETE', pathOf(ANNA))

  expect([added.status, again.body]).toEqual([200, added.body])
  expect(added.body).toMatchObject({ keyword: null, message_id: null, source: 'api' })
  expect([listed.data.length, listed.has_more]).toEqual([1, true])
  expect([ofLine.status, refused.status, ended.body]).toEqual([
    200,
    409,
    { handle: ANNA, deleted: true },
  ])
  expect([gone.status, gone.body.error.code]).toEqual([404, 'not_found'])
  expect((await hello(relay)).status).toBe(200)
  const names = (await relay.eventNames()).filter((name) => name.startsWith('contact.'))
  expect(names).toEqual([
    'contact.opted_out',
    'contact.opted_out',
    'contact.opted_in',
    'contact.opted_in',
  ])
})

test('what is no handle and no line is refused, and says so', async () => {
  await using relay = await openRelay()
  const answers = [
    await relay.put(pathOf('Vodafone'), {}),
    await relay.put(pathOf(ANNA), { phone_line_id: 'line_01k5c3qv7yfxn8t2w9r4d6m0ab' }),
    await relay.put(pathOf(ANNA), { phone_line_id: 'x' }),
    await relay.put(pathOf(ANNA), { keyword: 'STOP' }),
    await relay.request('DELETE', `${pathOf(ANNA)}?phone_line_id=x`),
  ]

  expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual([
    '400 invalid_request',
    '404 phone_line_not_found',
    '404 phone_line_not_found',
    '400 invalid_request',
    '404 not_found',
  ])
})

test('a key of certain lines reads those of its people, and changes none', async () => {
  await using relay = await openRelay(['+12025550801', '+12025550802'])
  const [first, second] = await relay.lines()
  await text({ device: relay.devices[0] as ScriptedDevice }, 'STOP')
  await text({ device: relay.devices[1] as ScriptedDevice }, 'STOP', { handle: deviceHandle(BOB) })
  await relay.put(pathOf(BOB), { phone_line_id: second.id })
  const key = (await relay.post('/api/v1/keys', { name: 'one', phone_line_ids: [first.id] })).body
  const as = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }

  const read = await relay.request('GET', OPT_OUTS, undefined, as)
  const changed = await relay.request('PUT', pathOf(BOB), {}, as)

  expect(read.body.data.map(({ handle }: Json) => handle)).toEqual([ANNA])
  expect([changed.status, changed.body.error.details]).toEqual([
    403,
    { required_scope: 'contacts:write' },
  ])
})

test('a person at the dashboard who was warned may write, and no program may', async () => {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  await text({ device }, 'STOP')
  const confirmed = { 'x-hookline-confirmed': 'recipient_opted_out' }
  const body = { to: ANNA, text: 'You asked us to call back.' }

  const unconfirmed = await browser.post('/dashboard/api/messages/send', body)
  const sent = await browser.ask('POST', '/dashboard/api/messages/send', {
    body,
    headers: confirmed,
  })
  const program = await relay.send(body, confirmed)
  await device.goOffline()
  const waiting = await browser.ask('POST', '/dashboard/api/messages/send', {
    body: { ...body, text: 'And again.' },
    headers: confirmed,
  })
  await device.goOnline()
  await relay.clock.advance(10_000)

  expect([unconfirmed.status, sent.status, program.status]).toEqual([409, 200, 409])
  expect((await relay.message(waiting.body.id)).status).toBe('sent')
  expect(device.sent.map(({ text: words }) => words)).toEqual([body.text, 'And again.'])
})

test('contacts show it, and deleting contact or message does not end it', async () => {
  await using relay = await openRelay()
  const contact = `/api/v1/contacts/${encodeURIComponent(ANNA)}`
  await relay.put(contact, { name: 'Anna' })
  const before = await relay.get(contact)
  await text(relay, 'STOP')
  const after = await relay.get(contact)
  const recipient = await relay.get('/api/v1/recipients/%2B12025550701')

  await relay.request('DELETE', contact)

  expect([before.opted_out, after.opted_out, recipient.opted_out]).toEqual([undefined, true, true])
  expect((await hello(relay)).status).toBe(409)
})

function startOn(directory: DataDirectory, driver: ScriptedDriver, clock = new TestClock()) {
  const database = openDatabase(directory.database, { version: 'test' })
  const onClose = () => closeDatabase(database.db)
  return startRelay({ database, drivers: [driver], clock, onClose })
}

const settingOf = async (relay: TestRelay) =>
  (await asOwner(relay, 'GET', '/settings')).data.find(({ name }: Json) => name === 'opt_out')

test('a new relay enforces opt-outs from the start; one that was at work before records them', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const values: Json[] = []
  const live = async (act: (relay: TestRelay) => unknown = () => {}) => {
    await using relay = await startOn(directory, driver)
    values.push((await settingOf(relay)).value)
    await act(relay)
  }

  await live(() => text({ device }, 'hello'))
  await live((relay) => relay.db.sqlite.run("DELETE FROM settings WHERE name = 'opt_out'"))
  await live()
  await live((relay) => set(relay, 'off'))
  await live()

  expect(values).toEqual(['enforce', 'enforce', 'record', 'record', 'off'])
})

test('a restore keeps opt-outs that came after the backup, and those that are in it', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  const clock = new TestClock()
  const file = folder.file('backup.db')
  {
    await using relay = await startOn(directory, driver, clock)
    await text({ device }, 'STOP')
    takeSnapshot(wholeBackup(directory, file))
    await text({ device }, 'STOP', { handle: deviceHandle(BOB) })
    await relay.put(pathOf('+12025550703'), {})
  }

  restoreBackup({ directory, file, version: 'test', now: timestamp(clock.now()) })

  await using relay = await startOn(directory, driver, clock)
  const { data } = await asOwner(relay, 'GET', '/opt-outs')
  const sources = data.map(({ handle, source }: Json) => [handle, source])
  expect(sources).toEqual([
    ['+12025550703', 'api'],
    [BOB, 'keyword'],
    [ANNA, 'keyword'],
  ])
})
