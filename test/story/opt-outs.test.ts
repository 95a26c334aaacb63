// People who want no more messages, on the real relay: what they text, what then leaves, and who is told.

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
import { guidOf, ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { TestClock, settle } from '../support/test-clock.ts'
import { startRelay, type Json, type TestRelay } from '../support/test-relay.ts'

const ANNA = '+12025550701'
const BOB = '+12025550702'
const OPT_OUTS = '/api/v1/opt-outs'
const pathOf = (handle: string) => `${OPT_OUTS}/${encodeURIComponent(handle)}`

/** A relay with lines of these numbers, all on one driver. */
async function openRelay(numbers = ['+12025550801'], more: Parameters<typeof startRelay>[0] = {}) {
  const driver = new ScriptedDriver()
  const devices = numbers.map((number) => driver.add(number))
  const relay = await startRelay({ drivers: [driver], ...more })
  return { relay, devices, device: devices[0] as ScriptedDevice }
}

let texts = 0

/** Anna, or someone else, texts to a device. */
function text(device: ScriptedDevice, words: string, more: Json = {}): Promise<void> {
  texts += 1
  const handle = deviceHandle(ANNA)
  return device.receive({ guid: guidOf(70_000 + texts), handle, text: words, ...more })
}

const hello = (relay: TestRelay, more: Json = {}) =>
  relay.send({ to: ANNA, text: 'hello', ...more })

const set = (relay: Pick<TestRelay, 'app'>, value: string) =>
  asOwner(relay, 'PUT', '/settings/opt_out', { body: { value } })

test('after STOP nothing is sent to the person any more, and others are written to as ever', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  await hello(relay)
  await text(device, 'Stop. Thank you')

  const refused = await hello(relay)
  const conversation = (await relay.get(`/api/v1/conversations?handle=%2B12025550701`)).data[0]
  const there = await relay.post(`/api/v1/conversations/${conversation.id}/messages`, { text: 'x' })
  const other = await relay.send({ to: BOB, text: 'hello' })

  expect([refused.status, refused.body.error]).toEqual([
    409,
    {
      code: 'recipient_opted_out',
      message: 'The recipient wants no more messages: ask them to text START.',
      details: { phone_line_id: null, opted_out_at: conversation.last_message.created_at },
    },
  ])
  expect([there.status, other.status]).toEqual([409, 200])
  expect(device.given.map(({ to }) => String(to))).toEqual([ANNA, BOB])
  expect(conversation.opted_out).toBe(true)
  const { last_message: message } = conversation
  expect((await relay.get(OPT_OUTS)).data).toEqual([
    {
      handle: ANNA,
      phone_line_id: null,
      keyword: 'STOP',
      message_id: message.id,
      source: 'keyword',
      created_at: message.created_at,
    },
  ])
})

test('START ends it, and what was refused meanwhile is not sent', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  await text(device, 'STOP')
  await hello(relay)
  await text(device, 'Start, please')

  const sent = await hello(relay)
  const recipient = await relay.get('/api/v1/recipients/%2B12025550701')

  expect([sent.status, device.given.length]).toEqual([200, 1])
  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect(recipient).not.toHaveProperty('opted_out')
})

test('a sentence with the word in it, an own message, a group and the past mean nothing', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const [line] = await relay.lines()
  await relay.patch(`/api/v1/phone-lines/${line.id}`, { relay_groups: true })
  const group = {
    chatGuid: 'iMessage;+;chat1',
    identifier: 'chat1',
    name: 'Family',
    participants: [],
  }

  await text(device, 'Please stop by at five')
  await text(device, 'STOP', { isFromMe: true })
  await text(device, 'STOP', { group: { ...group, participants: [deviceHandle(ANNA)] } })
  await text(device, 'STOP', { isHistory: true })

  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect((await hello(relay)).status).toBe(200)
})

test('a keyword by SMS counts, although SMS is not relayed', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay

  await text(device, 'STOP', { service: 'SMS' })

  expect(await relay.eventNames()).toEqual(['contact.opted_out'])
  expect((await hello(relay)).status).toBe(409)
})

test('the events are in the log in order, with the opt-out, and are not repeated', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const [line] = await relay.lines()

  for (const words of ['STOP', 'unsubscribe', 'unstop', 'start']) await text(device, words)

  expect(await relay.eventNames()).toEqual([
    'message.received',
    'contact.opted_out',
    'message.received',
    'message.received',
    'contact.opted_in',
    'message.received',
  ])
  const { data } = await relay.get(
    '/api/v1/events?after=oldest&types=contact.opted_out,contact.opted_in',
  )
  const payloads = data.map(({ payload }: Json) => payload)
  expect(payloads).toMatchObject([
    {
      event: 'contact.opted_out',
      phone_line_id: line.id,
      opt_out: { handle: ANNA, keyword: 'STOP' },
    },
    {
      event: 'contact.opted_in',
      phone_line_id: line.id,
      opt_out: { handle: ANNA, keyword: 'UNSTOP' },
    },
  ])
})

test('the opt-out, its event and the message are one transaction', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  relay.db.sqlite.run(`CREATE TEMP TRIGGER no_events BEFORE INSERT ON events
    WHEN NEW.name = 'contact.opted_out' BEGIN SELECT RAISE(ABORT, 'broken'); END`)

  await text(device, 'STOP')

  expect((await relay.get(OPT_OUTS)).data).toEqual([])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
  expect(await relay.eventNames()).toEqual([])
})

test('queued, scheduled and held messages fail at once, and those to others stay', async () => {
  const { relay, devices } = await openRelay(['+12025550801', '+12025550802'])
  await using _ = relay
  const [first, second] = devices as [ScriptedDevice, ScriptedDevice]
  const [line] = await relay.lines()
  await first.goOffline()
  const pin = { phone_line_id: line.id }
  const queued = await hello(relay, pin)
  const behind = await hello(relay, { ...pin, text: 'behind' })
  const later = new Date(relay.clock.now() + 3_600_000).toISOString()
  const scheduled = await hello(relay, { ...pin, send_at: later })
  const rules = { recipients: 'anyone', approval: 'always' }
  const key = (await relay.post('/api/v1/keys', { name: 'agent', rules })).body
  const as = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
  const held = await relay.send({ to: ANNA, text: 'held', ...pin }, as)
  const other = await relay.send({ to: BOB, text: 'hello', ...pin })

  await text(second, 'STOP')
  const messages = await Promise.all(
    [queued, behind, scheduled, held, other].map(({ body }) => relay.message(body.id)),
  )
  await first.goOnline()
  await relay.clock.advance(2 * 3_600_000)

  const failed = { status: 'failed', error: { code: 'recipient_opted_out' }, queued_reason: null }
  expect(messages).toMatchObject([failed, failed, failed, failed, { status: 'queued' }])
  expect(messages[3].approval.state).toBe('canceled')
  expect(first.given.map(({ to }) => String(to))).toEqual([BOB])
  expect((await relay.eventNames()).filter((name) => name === 'message.failed')).toHaveLength(4)
})

test('one that a driver has in hand does not pass its point of no return', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const stopped = Promise.withResolvers<void>()
  const passed: boolean[] = []
  device.script = async (_message, pointOfNoReturn) => {
    await stopped.promise
    passed.push(await pointOfNoReturn(null))
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  const sending = hello(relay)
  await settle()

  await text(device, 'STOP')
  stopped.resolve()
  const { status, body } = await sending
  await relay.clock.advance(60_000)

  expect([passed, status, body.error.code]).toEqual([[false], 422, 'send_failed'])
  expect(body.error.details.reason).toBe('recipient_opted_out')
  expect(device.given).toHaveLength(1)
})

test('a message that was accepted while opt-outs were only recorded fails before it leaves', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  await set(relay, 'record')
  await text(device, 'STOP')
  const allowed = await hello(relay)
  await device.goOffline()
  const waiting = await hello(relay)

  await set(relay, 'enforce')
  await device.goOnline()
  await relay.clock.advance(10_000)

  expect([allowed.status, waiting.status]).toEqual([200, 202])
  expect((await relay.message(waiting.body.id)).error.code).toBe('recipient_opted_out')
  expect(device.sent).toHaveLength(1)
})

test('with the setting off no keyword is recorded, and nobody is kept from anything', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  await set(relay, 'off')

  await text(device, 'STOP')

  expect(await relay.eventNames()).toEqual(['message.received'])
  expect((await hello(relay)).status).toBe(200)
})

test('an opt-out of one line leaves the other lines alone', async () => {
  const { relay } = await openRelay(['+12025550801', '+12025550802'])
  await using _ = relay
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

test('PUT adds one, says what is there already, and DELETE ends it; each announces it', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const [line] = await relay.lines()
  const added = await relay.put(pathOf(ANNA), undefined)
  await relay.clock.advance(1_000)
  const again = await relay.put(pathOf(ANNA), { phone_line_id: null })
  await text(device, 'STOP')
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
  const { relay } = await openRelay()
  await using _ = relay
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
  const { relay, devices } = await openRelay(['+12025550801', '+12025550802'])
  await using _ = relay
  const [first, second] = await relay.lines()
  await text(devices[0] as ScriptedDevice, 'STOP')
  await text(devices[1] as ScriptedDevice, 'STOP', { handle: deviceHandle(BOB) })
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
  await text(device, 'STOP')
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

test('a repeat of what was accepted before STOP gets its first answer', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const key = { 'Idempotency-Key': 'order-1042' }
  const first = await relay.send({ to: ANNA, text: 'hello' }, key)
  await text(device, 'STOP')

  const again = await relay.send({ to: ANNA, text: 'hello' }, key)

  expect([again.status, again.body]).toEqual([200, first.body])
  expect(device.given).toHaveLength(1)
})

test('contacts show it, and deleting contact or message does not end it', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  const contact = `/api/v1/contacts/${encodeURIComponent(ANNA)}`
  await relay.put(contact, { name: 'Anna' })
  const before = await relay.get(contact)
  await text(device, 'STOP')
  const after = await relay.get(contact)
  const recipient = await relay.get('/api/v1/recipients/%2B12025550701')

  await relay.request('DELETE', contact)

  expect([before.opted_out, after.opted_out, recipient.opted_out]).toEqual([undefined, true, true])
  expect((await hello(relay)).status).toBe(409)
})

test('changes by hand are in the audit trail, without the number in the log', async () => {
  const { relay, device } = await openRelay()
  await using _ = relay
  await relay.put(pathOf(ANNA), {})
  await relay.request('DELETE', pathOf(ANNA))
  await text(device, 'STOP')

  const { data } = await relay.get('/api/v1/audit?about=opt_out')

  const scope = { handle: ANNA, phone_line_id: null }
  expect(data).toMatchObject([
    { action: 'opt_out.removed', about: { id: null }, before: scope },
    { action: 'opt_out.added', about: { id: null }, after: scope },
  ])
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

  await live(() => text(device, 'hello'))
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
    await text(device, 'STOP')
    takeSnapshot(wholeBackup(directory, file))
    await text(device, 'STOP', { handle: deviceHandle(BOB) })
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
