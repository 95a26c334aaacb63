// How long files stay: as long as a message or an upload needs them, and an hour more.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'

import type { AttachmentId, MessageId } from '../../src/domain/ids.ts'
import { linkAttachments } from '../../src/storage/attachments.ts'
import type { Tx } from '../../src/storage/database.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { startWithFiles } from './attachment-relay.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Relay = Awaited<ReturnType<typeof startWithFiles>>

/** Lets a time pass, and the sweep run to its end: it reads the real disk. */
async function pass(relay: Relay, ms: number): Promise<void> {
  await relay.clock.advance(ms)
  for (let turn = 0; turn < 20; turn += 1) {
    await Bun.sleep(5)
    await relay.clock.advance(100)
  }
}

/** Stores a message of now that has these attachments. */
function storeMessageWith(
  relay: Relay,
  id: string,
  ids: readonly string[],
  status: 'sent' | 'queued' = 'sent',
): void {
  const { db, clock } = relay
  storeMessages(db.sqlite, [{ id, status, createdAt: clock.now() }])
  db.sqlite.run('UPDATE messages SET extras = \'{"attachmentCount":1}\' WHERE id = ?', [id])
  linkAttachments(db as Tx, id as MessageId, ids as AttachmentId[]) // A write of its own.
}

const stateOf = async (relay: Relay, id: string) =>
  (await relay.ask('GET', `/api/v1/attachments/${id}`)).body.state

test('an upload that no message uses goes after 24 hours, with its file', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('menu')

  await pass(relay, DAY_MS - HOUR_MS)
  const before = await relay.content(body.id)
  await pass(relay, 2 * HOUR_MS)

  expect(before.status).toBe(200)
  expect((await relay.content(body.id)).status).toBe(404)
  expect(relay.files()).toEqual([])
})

test('an upload that a message uses stays as long as the message', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  const { body } = await relay.upload('menu')
  storeMessageWith(relay, 'msg_a', [body.id])

  await pass(relay, DAY_MS + 2 * HOUR_MS)
  const kept = await relay.ask('GET', `/api/v1/attachments/${body.id}`)
  await relay.set('message_retention_days', '1')
  await pass(relay, 2 * HOUR_MS)

  expect(kept.body).toMatchObject({ state: 'available', message_id: 'msg_a', expires_at: null })
  expect((await relay.content(body.id)).status).toBe(404)
  expect(relay.files()).toEqual([])
})

test('a file of several messages goes with the last of them', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  await relay.set('message_retention_days', '1')
  const { body } = await relay.upload('menu')
  storeMessageWith(relay, 'msg_a', [body.id])
  await pass(relay, DAY_MS / 2)
  storeMessageWith(relay, 'msg_b', [body.id])

  await pass(relay, DAY_MS / 2 + 2 * HOUR_MS)
  const between = await relay.content(body.id)
  await pass(relay, DAY_MS / 2)

  expect(between.status).toBe(200)
  expect((await relay.content(body.id)).status).toBe(404)
  expect(relay.files()).toEqual([])
})

test('files can go before their messages: the row says deleted', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  await relay.set('attachment_retention_days', '1')
  const [old, underWay] = [await relay.upload('menu'), await relay.upload('other')]
  await pass(relay, DAY_MS - HOUR_MS)
  storeMessageWith(relay, 'msg_a', [old.body.id])
  storeMessageWith(relay, 'msg_b', [underWay.body.id], 'queued')

  await pass(relay, 3 * HOUR_MS)

  expect(await stateOf(relay, old.body.id)).toBe('deleted')
  expect(await stateOf(relay, underWay.body.id)).toBe('available')
  expect((await relay.content(old.body.id)).status).toBe(410)
  expect(relay.files()).toEqual([underWay.body.sha256])
})

test('a file of a message under way cannot be deleted', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  const { body } = await relay.upload('menu')
  storeMessageWith(relay, 'msg_a', [body.id], 'queued')

  const refused = await relay.ask('DELETE', `/api/v1/attachments/${body.id}`)
  relay.db.sqlite.run("UPDATE messages SET status = 'sent'")
  const taken = await relay.ask('DELETE', `/api/v1/attachments/${body.id}`)

  expect([refused.status, refused.error.code]).toEqual([409, 'attachment_in_use'])
  expect(taken.status).toBe(200)
})

test('files that no row has go an hour after they came, and what a crash left at once', async () => {
  await using relay = await startWithFiles()
  const folder = `${relay.folder.path}/attachments`
  mkdirSync(`${folder}/incoming`, { recursive: true })
  writeFileSync(`${folder}/incoming/0123456789abcdef01234567`, 'half')
  const { body } = await relay.upload('menu')
  const { sha256 } = body
  relay.db.sqlite.run('DELETE FROM attachments')

  const atFirst = relay.files()
  await pass(relay, HOUR_MS / 2)
  const early = relay.files()
  await pass(relay, 2 * HOUR_MS)

  expect(atFirst).toEqual([sha256])
  expect(early).toEqual([sha256])
  expect(relay.files()).toEqual([])
})

test('a file that is uploaded again just before the sweep stays', async () => {
  await using relay = await startWithFiles()
  await relay.upload('menu')
  relay.db.sqlite.run('DELETE FROM attachments')
  await pass(relay, 55 * 60_000)

  const { body } = await relay.upload('menu')
  relay.db.sqlite.run('DELETE FROM attachments')
  await pass(relay, 30 * 60_000)

  expect(relay.files()).toEqual([body.sha256])
})

test('a folder in the store that is not ours is left alone', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('menu')
  mkdirSync(`${relay.folder.path}/attachments/notes`)
  writeFileSync(`${relay.folder.path}/attachments/notes/readme.txt`, 'mine')
  relay.db.sqlite.run('DELETE FROM attachments')

  await pass(relay, 3 * HOUR_MS)

  expect(relay.files()).not.toContain(body.sha256)
  expect(readdirSync(`${relay.folder.path}/attachments/notes`)).toEqual(['readme.txt'])
})
