// Route of a send: to a group by its own guid and to nobody else, by SMS only if it is asked for.

import { expect, test } from 'bun:test'

import type { OutgoingMessage } from '../../../../src/domain/message.ts'
import type { SendOutcome } from '../../../../src/lines/driver.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { messageOf, messagesOf, receiptsOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { SchemaName } from '../../../support/mac/chat-db-schemas.ts'
import { refused } from '../../../support/mac/script-behaviours.ts'

const SCHEMAS: readonly SchemaName[] = ['macos15', 'macos26b', 'macos27']
const MEMBER = '+15550001111'

type Line = Awaited<ReturnType<typeof runLine>>

async function send(rig: MacRig, line: Line, more: Partial<OutgoingMessage>): Promise<SendOutcome> {
  const message = { ...messageOf(rig, 'hello'), ...more }
  const sending = line.session().send(message, async () => true, NEVER)
  await rig.clock.advance(30_000)
  return sending
}

function addGroup({ model: { file } }: MacRig): string {
  const rowId = file.addChat({ identifier: 'chat831', style: 43, members: [MEMBER] })
  const sql = 'SELECT guid FROM chat WHERE ROWID = ?'
  return file.db.query<{ guid: string }, [number]>(sql).get(rowId)?.guid ?? ''
}

function callsOf(rig: MacRig, from: number): readonly string[] {
  return rig.model.calls.slice(from).map(({ mode, route, key }) => `${mode} ${route} ${key}`)
}

test.each(SCHEMAS)('%s: a group is checked and written to by its guid, exactly', async (schema) => {
  using rig = makeMacRig({ schema })
  const chatGuid = addGroup(rig)
  await using line = await runLine(rig, rig.driver)
  const before = rig.model.calls.length

  const outcome = await send(rig, line, { chatGuid })
  await rig.clock.advance(10_000)

  expect(outcome).toMatchObject({ outcome: 'accepted', service: 'iMessage' })
  expect(callsOf(rig, before)).toEqual([`check chat ${chatGuid}`, `send chat ${chatGuid}`])
  expect(messagesOf(line.events)).toEqual([])
  expect(receiptsOf(line.events)).toEqual([])
})

test('a group that Messages does not find is not reached by any of its people, nor in another spelling', async () => {
  using rig = makeMacRig()
  const chatGuid = addGroup(rig)
  rig.model.receive(MEMBER, 'hello')
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('resolve_not_found_chat')
  const before = rig.model.calls.length

  const outcome = await send(rig, line, { chatGuid })

  const reason = 'group_not_reachable'
  expect(outcome).toEqual({ outcome: 'not_sent', reason, blame: 'message' })
  expect(callsOf(rig, before)).toEqual([`check chat ${chatGuid}`])
  expect(rig.carried('hello')).toBe(0)
})

test('a trouble of Messages is the line’s also in a group', async () => {
  using rig = makeMacRig()
  const chatGuid = addGroup(rig)
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend(refused('account', -600))

  const outcome = await send(rig, line, { chatGuid })

  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'messages_refused', blame: 'line' })
})

test('a ghost in place of a group’s message is a group that was not reached, and the line stays well', async () => {
  using rig = makeMacRig()
  const chatGuid = addGroup(rig)
  await using line = await runLine(rig, rig.driver)

  for (let i = 0; i < 4; i += 1) {
    rig.model.nextSend('ghost_row')
    const outcome = await send(rig, line, { chatGuid })
    const reason = 'group_not_reachable'
    expect(outcome).toMatchObject({ outcome: 'not_sent', reason, blame: 'message' })
  }

  expect(line.events.filter(({ type }) => type === 'offline')).toEqual([])
})

test('a message to a group is not claimed by the same text to one of its people', async () => {
  using rig = makeMacRig()
  const chatGuid = addGroup(rig)
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('misrouted')

  const outcome = await send(rig, line, { chatGuid })

  const reason = 'misrouted'
  const strayGuid = expect.stringMatching(/^[0-9A-F-]{36}$/)
  expect(outcome).toEqual({ outcome: 'not_sent', reason, blame: 'message', strayGuid })
})

test('after a crash a group’s message is found in its group, also under the guid of a new macOS', async () => {
  using rig = makeMacRig({ schema: 'macos15' })
  const chatGuid = addGroup(rig)
  const notes: (string | null)[] = []
  const first = await runLine(rig, rig.driver)
  const message = { ...messageOf(rig, 'hello'), chatGuid }
  const pass = async (note: string | null) => notes.push(note) > 0
  void first.session().send(message, pass, NEVER)
  await rig.clock.advance(5_000)
  await first.end()

  rig.model.file.db.run("UPDATE chat SET guid = 'any;+;chat831' WHERE guid = 'iMessage;+;chat831'")
  const unsettled = [{ message, note: notes[0] ?? null }]
  const checkpoint = first.checkpoint()
  await using second = await runLine(rig, rig.restart(), { checkpoint, unsettled })
  await rig.clock.advance(5_000)

  expect(second.events.filter(({ type }) => type === 'settled')).toMatchObject([
    { messageId: message.id, outcome: { outcome: 'accepted' } },
  ])
})

test('SMS goes by the account of SMS, to the person, and the row says so', async () => {
  using rig = makeMacRig()
  rig.model.receive(rig.recipient, 'an iMessage')
  await using line = await runLine(rig, rig.driver)
  const before = rig.model.calls.length

  const outcome = await send(rig, line, { service: 'SMS' })

  expect(outcome).toMatchObject({ outcome: 'accepted', service: 'SMS' })
  const to = `participant ${rig.recipient}`
  expect(callsOf(rig, before)).toEqual([`check ${to}`, `send ${to}`])
})

test('SMS reaches a person who is not on iMessage', async () => {
  await using rig = await attendedMac()
  rig.model.behave(rig.recipient, 'failed22_at_once')

  const first = await send(rig, rig.line, {})
  const second = await send(rig, rig.line, { id: 'msg_second' as never })
  const third = await send(rig, rig.line, { service: 'SMS', id: 'msg_third' as never })

  const reason = 'not_on_imessage'
  expect([first, second]).toMatchObject([{ reason }, { reason }])
  expect(third).toMatchObject({ outcome: 'accepted', service: 'SMS' })
})

test('a line chooses its service while Messages has an account of SMS, and says when that ends', async () => {
  await using rig = await attendedMac()

  rig.model.hasSms = false
  const gone = await send(rig, rig.line, { service: 'SMS' })
  await rig.clock.advance(310_000)
  const outcome = await send(rig, rig.line, { service: 'SMS', id: 'msg_again' as never })

  const chosen = rig.line.events.flatMap((event) =>
    event.type === 'online' ? [event.capabilities.choose_service] : [],
  )
  expect(chosen).toEqual([true, false])
  expect(gone).toMatchObject({ outcome: 'not_sent', reason: 'messages_refused', blame: 'line' })
  expect(outcome).toEqual({ outcome: 'not_sent', reason: 'not_supported', blame: 'line' })
  expect(rig.line.events.filter(({ type }) => type === 'offline')).toEqual([])
  expect(rig.carried('hello')).toBe(0)
})

test('where iMessage is asked for, a chat that carries all services is not used', async () => {
  using rig = makeMacRig({ schema: 'macos26b' })
  rig.model.receive(rig.recipient, 'an iMessage')
  await using line = await runLine(rig, rig.driver)
  const before = rig.model.calls.length

  const outcome = await send(rig, line, { service: 'iMessage' })

  expect(outcome).toMatchObject({ outcome: 'accepted', service: 'iMessage' })
  const to = `participant ${rig.recipient}`
  expect(callsOf(rig, before)).toEqual([`check ${to}`, `send ${to}`])
})

// The route to a person with whom Messages has chats: never by one that would make a carrier's text message
// of it.

/** A chat with the recipient of that service, and the message that came in it last. */
function receiveBy(rig: MacRig, service: string, more: { readonly guid?: string } = {}): void {
  const { file } = rig.model
  const chat = file.addChat({ identifier: rig.recipient, service, ...more })
  const at = rig.clock.now()
  file.receive({ from: rig.recipient, text: `by ${service}`, at, chat, values: { service } })
}

async function sendOne(rig: MacRig) {
  await using line = await runLine(rig, rig.driver)
  const outcome = await line.send('hello', async () => true)
  await rig.clock.advance(rig.settleMs)
  const sends = rig.model.calls.filter(({ mode }) => mode === 'send')
  return { outcome, sends: sends.map(({ route, key }) => `${route} ${key}`) }
}

test.each(SCHEMAS)('%s: a person who wrote by SMS is written to by iMessage', async (schema) => {
  using rig = makeMacRig({ schema })
  receiveBy(rig, 'SMS')

  const { outcome, sends } = await sendOne(rig)

  expect(outcome).toMatchObject({ outcome: 'accepted' })
  expect(sends).toEqual([`participant ${rig.recipient}`])
  expect(servicesOf(rig)).toEqual(['iMessage'])
})

test.each(['SMS', 'RCS'])(
  'a person who has %s only is not on iMessage, and gets none',
  async (service) => {
    using rig = makeMacRig()
    receiveBy(rig, service)
    rig.model.behave(rig.recipient, 'failed22_at_once')

    const { outcome } = await sendOne(rig)

    expect(outcome).toEqual({ outcome: 'not_sent', reason: 'not_on_imessage', blame: 'message' })
    expect(rig.carried('hello')).toBe(0)
  },
)

test('of two chats with one person the one of iMessage is taken, though the other was used last', async () => {
  using rig = makeMacRig({ schema: 'macos15' })
  receiveBy(rig, 'iMessage')
  await rig.clock.advance(60_000)
  receiveBy(rig, 'SMS')

  const { sends } = await sendOne(rig)

  expect(sends).toEqual([`chat iMessage;-;${rig.recipient}`])
  expect(servicesOf(rig)).toEqual(['iMessage'])
})

test('a chat of all services is used after an iMessage only', async () => {
  using rig = makeMacRig({ schema: 'macos26b' })
  receiveBy(rig, 'iMessage')
  const before = await sendOne(rig)
  const chat = rig.model.file.directChat(rig.recipient)
  const [at, values] = [rig.clock.now(), { service: 'SMS' }]
  rig.model.file.receive({ from: rig.recipient, text: 'by SMS', at, chat, values })

  const after = await sendOne(rig)

  expect(before.sends).toEqual([`chat any;-;${rig.recipient}`])
  expect(after.sends.slice(1)).toEqual([`participant ${rig.recipient}`])
  expect(servicesOf(rig)).toEqual(['iMessage', 'iMessage'])
})

test('a database that does not name the services of chats is asked for the signs of their guids', async () => {
  using rig = makeMacRig({ schema: 'macos15' })
  receiveBy(rig, 'SMS')
  rig.model.file.db.run('UPDATE chat SET service_name = NULL')

  const { sends } = await sendOne(rig)

  expect(sends).toEqual([`participant ${rig.recipient}`])
})

/** By which services our own messages went. */
function servicesOf(rig: MacRig): readonly string[] {
  const sql = 'SELECT service FROM message WHERE is_from_me = 1 ORDER BY ROWID'
  return rig.model.file.db
    .query<{ service: string }, []>(sql)
    .all()
    .map(({ service }) => service)
}
