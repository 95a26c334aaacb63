// How long files stay: as long as a message or an upload needs them, and an hour more.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'

import type { AttachmentId, MessageId } from '../../src/domain/ids.ts'
import { linkAttachments } from '../../src/storage/attachments.ts'
import type { Tx } from '../../src/storage/database.ts'
import { eventually } from '../support/eventually.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { startWithFiles } from './attachment-relay.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

type Relay = Awaited<ReturnType<typeof startWithFiles>>

/** How often the hourly sweep has run to its end. */
function sweeps(relay: Relay): number {
  return relay.logged('job done').filter(([, { job }]) => job === 'retention').length
}

/** Waits, without time that passes, for a sweep that is due: it reads the real disk. */
async function swept(relay: Relay, count: number): Promise<void> {
  const look = async () => {
    await relay.clock.advance(1)
    return sweeps(relay) >= count ? true : null
  }
  await eventually('the sweep has run', look, 60_000)
}

/**
 * Lets three hours or more pass, and the sweep run. Of the time the relay is awake for one hour, within which a
 * sweep leaves alone what was touched. The first of two sweeps may have begun before that was over.
 */
async function pass(relay: Relay, ms: number): Promise<void> {
  relay.clock.doze(ms - 3 * HOUR_MS)
  await relay.clock.advance(HOUR_MS)
  for (const _ of ['first', 'second']) {
    const count = sweeps(relay)
    relay.clock.doze(HOUR_MS)
    await relay.clock.advance(MINUTE_MS)
    await swept(relay, count + 1)
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

test('an upload goes after 24 hours, or with the message that uses it, with its file', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  const [{ body: unused }, { body: used }] = [await relay.upload('x'), await relay.upload('menu')]
  storeMessageWith(relay, 'msg_a', [used.id])

  await pass(relay, DAY_MS - HOUR_MS)
  const before = await relay.content(unused.id)
  await pass(relay, 3 * HOUR_MS)
  const after = await relay.content(unused.id)
  const left = relay.files()
  const kept = await relay.ask('GET', `/api/v1/attachments/${used.id}`)
  await relay.set('message_retention_days', '1')
  await pass(relay, 3 * HOUR_MS)

  expect([before.status, after.status]).toEqual([200, 404])
  expect(left).toEqual([used.sha256])
  expect(kept.body).toMatchObject({ state: 'available', message_id: 'msg_a', expires_at: null })
  expect((await relay.content(used.id)).status).toBe(404)
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

test('files can go before their messages, but for those of a message under way: the row says deleted', async () => {
  await using relay = await startWithFiles()
  storeLine(relay.db.sqlite)
  await relay.set('attachment_retention_days', '1')
  const [old, underWay] = [await relay.upload('menu'), await relay.upload('other')]
  await pass(relay, DAY_MS - HOUR_MS)
  storeMessageWith(relay, 'msg_a', [old.body.id])
  storeMessageWith(relay, 'msg_b', [underWay.body.id], 'queued')

  await pass(relay, 3 * HOUR_MS)
  const left = relay.files()
  const remove = () => relay.ask('DELETE', `/api/v1/attachments/${underWay.body.id}`)
  const refused = await remove()
  const stateUnderWay = await stateOf(relay, underWay.body.id)
  relay.db.sqlite.run("UPDATE messages SET status = 'sent'")
  const taken = await remove()

  expect(await stateOf(relay, old.body.id)).toBe('deleted')
  expect(stateUnderWay).toBe('available')
  expect((await relay.content(old.body.id)).status).toBe(410)
  expect(left).toEqual([underWay.body.sha256])
  expect([refused.status, refused.error.code]).toEqual([409, 'attachment_in_use'])
  expect(taken.status).toBe(200)
})

test('files that no row has go an hour after they came, what a crash left at once, and a strange folder never', async () => {
  await using relay = await startWithFiles()
  const folder = `${relay.folder.path}/attachments`
  mkdirSync(`${folder}/incoming`, { recursive: true })
  writeFileSync(`${folder}/incoming/0123456789abcdef01234567`, 'half')
  const { body } = await relay.upload('menu')
  relay.db.sqlite.run('DELETE FROM attachments')
  const atFirst = relay.files()
  mkdirSync(`${folder}/notes`)
  writeFileSync(`${folder}/notes/readme.txt`, 'mine')

  relay.clock.doze(HOUR_MS / 2)
  await relay.clock.advance(MINUTE_MS)
  await swept(relay, 1)
  const early = relay.files()
  await pass(relay, 3 * HOUR_MS)

  expect(atFirst).toEqual([body.sha256])
  expect(new Set(early)).toEqual(new Set([body.sha256, 'readme.txt']))
  expect(relay.files()).toEqual(['readme.txt'])
  expect(readdirSync(`${folder}/notes`)).toEqual(['readme.txt'])
})

test('a file that is uploaded again just before the sweep stays', async () => {
  await using relay = await startWithFiles()
  await relay.upload('menu')
  relay.db.sqlite.run('DELETE FROM attachments')
  await relay.clock.advance(MINUTE_MS)
  await swept(relay, 1)
  await relay.clock.advance(12 * MINUTE_MS)
  await swept(relay, 2)
  await relay.clock.advance(42 * MINUTE_MS)
  const { body } = await relay.upload('menu')
  relay.db.sqlite.run('DELETE FROM attachments')

  // Thirteen minutes past the hour.
  await relay.clock.advance(30 * MINUTE_MS)
  await swept(relay, 3)

  expect(relay.files()).toEqual([body.sha256])
})
