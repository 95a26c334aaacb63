// What a Mac line does when its database fails, comes back, or is another one than before.

import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { carry, messagesOf, receiptsOf, settledOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { Replacement } from '../../../support/mac/chat-db-replacement.ts'
import { newestRow, writeOwn } from '../../../support/mac/own-rows.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** States and texts that the line published, in order; history in parentheses. */
function publishedOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'online') return ['online']
    if (event.type === 'offline') return [event.reason.code]
    if (event.type !== 'message') return []
    return [event.message.isHistory ? `(${event.message.text})` : event.message.text]
  })
}

function receive(rig: MacRig, text: string, at = rig.clock.now()): void {
  rig.model.file.receive({ from: FRIEND, text, at })
}

/** Renumbers the messages of the same file from 1 on: the newest becomes the first, unless an order is given. */
function rebuild(rig: MacRig, more: Partial<Replacement> = {}): void {
  rig.model.replace({ keep: 1_000, order: 'newest_first', into: 'same_file', ...more })
}

/** A ROWID that no number of JavaScript holds: reading it fails, opening the database does not. */
function spoil({ model }: MacRig): void {
  model.file.db.run("INSERT INTO message (ROWID, guid) VALUES (9100000000000000000, 'spoilt')")
}

function mend({ model }: MacRig): void {
  const { db } = model.file
  db.transaction(() => {
    db.run("DELETE FROM message WHERE guid = 'spoilt'")
    db.run("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'message'")
  })()
}

test('a database that cannot be read takes the line offline at its third failure, until it can be', async () => {
  await using rig = await attendedMac()

  spoil(rig)
  await rig.clock.advance(1_900)
  const early = publishedOf(rig.line.events)
  await rig.clock.advance(20_000)
  const during = publishedOf(rig.line.events)
  mend(rig)
  await rig.clock.advance(2_000)

  expect(early).toEqual(['online'])
  expect(during).toEqual(['online', 'chat_db_unreadable'])
  expect(publishedOf(rig.line.events)).toEqual(['online', 'chat_db_unreadable', 'online'])
})

test('failures are counted again once the database could be read', async () => {
  await using rig = await attendedMac()

  for (let i = 0; i < 4; i += 1) {
    spoil(rig)
    await rig.clock.advance(500)
    mend(rig)
    await rig.clock.advance(2_000)
  }

  expect(publishedOf(rig.line.events)).toEqual(['online'])
})

test('a Mac that wakes up looks at once for a database that was not there', async () => {
  using rig = makeMacRig()
  renameSync(rig.chatDbPath, `${rig.chatDbPath}.away`)
  await using line = await runLine(rig, rig.driver)

  renameSync(`${rig.chatDbPath}.away`, rig.chatDbPath)
  rig.clock.step(HOUR_MS)
  await rig.clock.advance(200)

  expect(publishedOf(line.events)).toEqual(['chat_db_absent', 'online'])
})

test('after a rebuild the row of a message is found that nobody has heard of yet', async () => {
  using rig = makeMacRig()
  for (let i = 0; i < 12; i += 1) receive(rig, `number ${i}`, rig.clock.now() - HOUR_MS + i)
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('no_row')
  const { message } = await carry(rig, line, 'hello')

  rebuild(rig, { keep: 2, into: 'new_file' })
  await rig.clock.advance(6_000)
  const { guid } = writeOwn(rig.model.file, {
    to: rig.recipient,
    text: 'hello',
    at: rig.clock.now(),
  })
  await rig.clock.advance(6_000)

  const outcome = { outcome: 'accepted', guid, service: 'iMessage' } as const
  const settled = { type: 'settled', messageId: message.id, outcome } as const
  expect(settledOf(line.events)).toEqual([settled])
})

test('after a rebuild the receipts of a message are read from where it is now', async () => {
  using rig = makeMacRig()
  for (let i = 0; i < 3; i += 1) receive(rig, `number ${i}`, rig.clock.now() - HOUR_MS + i)
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('stuck')
  const sending = carry(rig, line, 'hello')
  rig.clock.after(1_000, () => {
    rig.model.file.set(newestRow(rig.model.file), { is_sent: 1, is_finished: 1 })
  })
  await sending

  rebuild(rig)
  await rig.clock.advance(1_000)
  rig.model.file.set(1, { is_delivered: 1 })
  await rig.clock.advance(1_000)

  expect(receiptsOf(line.events).map(({ kind }) => kind)).toEqual(['delivered'])
})

test('a rebuilt database is read again from ten minutes before the last message on', async () => {
  await using rig = await attendedMac()
  receive(rig, 'first')
  await rig.clock.advance(1_000)
  rig.clock.step(20 * MINUTE_MS)
  receive(rig, 'last')
  await rig.clock.advance(1_000)
  const before = publishedOf(rig.line.events).length

  receive(rig, 'missed', rig.clock.now() - 9 * MINUTE_MS)
  rebuild(rig)
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events).slice(before)).toEqual(['missed', 'last'])
})

test('a row that waited for its chat is not looked for at its old place in a rebuilt database', async () => {
  await using rig = await attendedMac()
  receive(rig, 'old', rig.clock.now() - HOUR_MS)
  const { file } = rig.model
  const handle = file.addHandle('+15550002222')
  file.addMessage({ at: rig.clock.now(), text: 'waits', handle_id: handle })
  await rig.clock.advance(1_000)

  rebuild(rig)
  await rig.clock.advance(65_000)

  expect(messagesOf(rig.line.events).map(({ text }) => text)).toEqual(['old', 'waits'])
})

test('a copy from before the last messages is noticed, and what comes into it is reported', async () => {
  await using rig = await attendedMac()
  for (let i = 0; i < 12; i += 1) receive(rig, `number ${i}`, rig.clock.now() - HOUR_MS + i)
  const { db } = rig.model.file
  // The ROWID that the copy gives next is that of no row that is remembered.
  db.run('DELETE FROM message WHERE ROWID = 10')
  await rig.clock.advance(1_000)
  const before = publishedOf(rig.line.events).length

  db.transaction(() => {
    db.run('DELETE FROM message WHERE ROWID > 9')
    db.run('DELETE FROM chat_message_join WHERE message_id > 9')
    db.run("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'message'")
    receive(rig, 'after the restore')
  })()
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events).slice(before)).toEqual(['after the restore'])
})

test('deleting the newest messages takes nothing back, and hides nothing that comes', async () => {
  await using rig = await attendedMac()
  for (const text of ['one', 'two']) receive(rig, text)
  await rig.clock.advance(3_000)

  rig.model.file.db.run('DELETE FROM message')
  await rig.clock.advance(1_000)
  receive(rig, 'three')
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events)).toEqual(['online', 'one', 'two', 'three'])
})

test('a database of which no row is known is not read from its beginning', async () => {
  await using rig = await attendedMac()
  receive(rig, 'hello')
  await rig.clock.advance(1_000)

  const { db } = rig.model.file
  db.transaction(() => {
    db.run('DELETE FROM message')
    for (let i = 0; i < 10; i += 1) receive(rig, `long ago ${i}`, rig.clock.now() - 48 * HOUR_MS)
    receive(rig, 'and now')
  })()
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events)).toEqual(['online', 'hello', 'and now'])
})
