// Route of a Mac line to a person with whom Messages has chats: never by one that would make
// a carrier's text message of it.

import { expect, test } from 'bun:test'

import { runLine } from '../../../contract/line-rig.ts'
import { makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { SchemaName } from '../../../support/mac/chat-db-schemas.ts'

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

const SCHEMAS: readonly SchemaName[] = ['macos15', 'macos26b', 'macos27']

test.each(SCHEMAS)('%s: somebody who wrote by SMS is written to by iMessage', async (schema) => {
  using rig = makeMacRig({ schema })
  receiveBy(rig, 'SMS')

  const { outcome, sends } = await sendOne(rig)

  expect(outcome).toMatchObject({ outcome: 'accepted' })
  expect(sends).toEqual([`participant ${rig.recipient}`])
  expect(servicesOf(rig)).toEqual(['iMessage'])
})

test.each(['SMS', 'RCS'])(
  'somebody who has %s only is not on iMessage, and gets none',
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
