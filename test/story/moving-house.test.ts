// Everything of a relay as one file: downloaded from one, and restored on another by its page. The relays
// have real folders; the test that starts them exchanges their data, as `hookline serve` does.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { timestamp } from '../../src/domain/ids.ts'
import type { Outside } from '../../src/runtime.ts'
import { BackupWorker } from '../../src/storage/backup.ts'
import { openData } from '../../src/storage/data.ts'
import { restoreBackup, type RestoreWish } from '../../src/storage/restore.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { type Browser, PASSWORD, startDashboard } from '../http/dashboard-rig.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

const READER = '+12025550100'

async function open(folder: ScratchFolder, parts: Partial<Outside> = {}) {
  const clock = new TestClock()
  const place = { dataDir: folder.path, host: '127.0.0.1', port: 0 }
  const data = openData(place, { clock, random: systemRandom, log: silentLog, version: 'test' })
  return startDashboard({
    clock,
    drivers: 'own',
    environment: { HOOKLINE_SIMULATED_LINES: '1' },
    parts: { data, random: systemRandom, backupWorker: new BackupWorker(), ...parts },
  })
}

/** A relay with a key, a contact, a webhook and a message with a file; downloads everything of it. */
async function furnishedArchive(folder: ScratchFolder): Promise<Uint8Array> {
  await using relay = await open(folder)
  const owner = await relay.claim()
  await owner.put(`/dashboard/api/contacts/${encodeURIComponent(READER)}`, { name: 'Anna' })
  await owner.post('/dashboard/api/webhooks', {
    url: 'https://shop.example/hook',
    events: ['message.received'],
  })
  const uploaded = await owner.upload(
    '/dashboard/api/attachments?filename=menu.txt',
    'fish and chips',
  )
  const sent = { to: READER, text: 'the menu', attachments: [{ id: uploaded.body.id }] }
  await owner.post('/dashboard/api/messages/send', sent)
  await relay.clock.advance(60_000)
  return await downloaded(owner)
}

async function downloaded(owner: Browser): Promise<Uint8Array> {
  const { body } = await owner.post('/dashboard/downloads', { backup: null })
  return (await owner.fetch('GET', body.url)).bytes()
}

async function contentsOf(owner: Browser) {
  const read = async (path: string) => (await owner.get(`/dashboard/api/${path}`)).body.data
  const [message] = await read('messages')
  const { attachments, ...facts } = message
  const file = await owner.fetch('GET', `/dashboard/api/attachments/${attachments[0].id}/content`)
  return {
    message: [facts.text, facts.status, attachments[0].filename],
    file: await file.text(),
    contacts: (await read('contacts')).map(({ name }: { name: string }) => name),
    webhooks: (await read('webhooks')).map(({ url }: { url: string }) => url),
    keys: (await read('keys')).length,
  }
}

test('a download of everything, restored on an empty relay, brings messages, files, contacts, webhooks and the password', async () => {
  using old = new ScratchFolder()
  using fresh = new ScratchFolder()
  const archive = await furnishedArchive(old)
  const wishes: RestoreWish[] = []
  {
    await using relay = await open(fresh, { restore: (wish) => wishes.push(wish) })
    const owner = await relay.claim({}, 'another password')
    const { body: seen } = await owner.upload('/dashboard/restore?filename=move.tar', archive)
    expect(seen.counts).toEqual({
      messages: 1,
      conversations: 1,
      contacts: 1,
      phone_lines: 1,
      webhooks: 1,
      keys: 1,
      attachments: 1,
    })
    expect([seen.name, seen.has_secret_key, seen.missing_files]).toEqual(['move.tar', true, 0])
    await owner.post('/dashboard/restore/start', { id: seen.id })
  }
  const [wish] = wishes
  if (wish === undefined) throw new Error('Nobody asked for a restore.')
  const directory = dataDirectoryAt(fresh.path)
  restoreBackup({ ...wish, directory, version: 'test', now: timestamp(Date.now()) })
  await using relay = await open(fresh)
  const owner = await relay.logIn()

  const contents = await contentsOf(owner)
  const trail = (await owner.get('/dashboard/api/audit?action=backup.restored')).body.data

  expect(contents).toEqual({
    message: ['the menu', 'read', 'menu.txt'],
    file: 'fish and chips',
    contacts: ['Anna'],
    webhooks: ['https://shop.example/hook'],
    keys: 1,
  })
  expect(trail[0].actor.kind).toBe('dashboard')
  expect(trail[0].about).toEqual({ kind: 'backup', id: 'move.tar' })
  expect(existsSync(directory.incoming)).toBe(false)
  expect(readFileSync(directory.secretKey)).toEqual(
    readFileSync(dataDirectoryAt(old.path).secretKey),
  )
})

test('a download that is broken off leaves nothing behind', async () => {
  using folder = new ScratchFolder()
  await using relay = await open(folder)
  const owner = await relay.claim()
  const { body } = await owner.post('/dashboard/downloads', { backup: null })
  const reader = (await owner.fetch('GET', body.url)).body?.getReader()
  await reader?.read()
  const { outgoing } = dataDirectoryAt(folder.path)
  const during = readdirSync(outgoing).length

  await reader?.cancel()

  expect(during).toBe(1)
  expect(readdirSync(outgoing)).toEqual([])
})

/** The header of a tar entry, with a true checksum. */
function header(name: string, size: number, type = '0'): Buffer {
  const block = Buffer.alloc(512)
  block.write(name, 0)
  block.write(size.toString(8).padStart(11, '0'), 124)
  block.write(type, 156)
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** The archive up to its first attachment, and then another entry. */
function withEntry(archive: Uint8Array, ...entry: readonly Uint8Array[]): Uint8Array {
  const at = Buffer.from(archive).indexOf('attachments/')
  return Buffer.concat([archive.subarray(0, at), ...entry])
}

function flipped(archive: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(archive)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

test('a file that is no whole backup is refused with the reason, and nothing of it stays', async () => {
  using old = new ScratchFolder()
  using fresh = new ScratchFolder()
  const archive = await furnishedArchive(old)
  const text = Buffer.from(archive)
  const newer = join(old.path, 'newer.db')
  const made = join(old.path, 'made.db')
  {
    using database = new (await import('bun:sqlite')).Database(dataDirectoryAt(old.path).database)
    database.run(`VACUUM INTO '${made}'`)
    database.run("UPDATE about SET value = '99' WHERE name = 'usable_from'")
    database.run(`VACUUM INTO '${newer}'`)
  }
  await using relay = await open(fresh, { disk: { freeBytes: () => 2 ** 30 } })
  const owner = await relay.claim()
  const entry = (name: string, size: number, type = '0') =>
    withEntry(archive, header(name, size, type))
  const file = `attachments/${'a'.repeat(64)}`
  const changed = flipped(archive, text.indexOf('CREATE TABLE') + 300)
  const notSqlite = `SQLite format 3\0${'no page of it '.repeat(999)}`
  const torn = readFileSync(made).fill(7, 2 * 4_096, 40 * 4_096)
  const files: readonly (readonly [what: string, bytes: Uint8Array, answer: string])[] = [
    ['cut', archive.subarray(0, archive.length - 3_000), '400 It is incomplete.'],
    ['a changed database', changed, '400 hookline.db is damaged'],
    [
      'a changed attachment',
      flipped(archive, text.indexOf('fish and')),
      '400 is damaged: the checksum',
    ],
    ['a changed header', flipped(archive, 3), '400 not a backup of Hookline'],
    ['a climbing path', entry('../../evil', 0), '400 "../../evil", which is not part'],
    ['a link', entry(file, 0, '2'), '400 is not part of a backup'],
    ['a file of 7 GB', entry(file, 7 * 2 ** 30), '503 no room'],
    ['a database twice', entry('hookline.db', 0), '400 is not part of a backup'],
    ['a newer version', readFileSync(newer), '400 restore it with that version'],
    ['a database of nothing', Buffer.from(notSqlite), '400 Choose a file that Hookline'],
    ['a database that lost a page', torn, '400 It is damaged. Copy or download it again'],
    ['no backup', Buffer.from('hello'), '400 It is incomplete.'],
    ['nothing', Buffer.alloc(0), '400 It is incomplete.'],
  ]

  for (const [what, bytes, expected] of files) {
    const { status, body } = await owner.upload('/dashboard/restore?filename=bad', bytes)

    const [, reason = ''] = expected.match(/^\d+ (.*)$/) ?? []
    expect([what, `${status} ${reason}`]).toEqual([what, expected])
    expect(body.error.message).toContain(reason)
    expect(readdirSync(dataDirectoryAt(fresh.path).incoming)).toEqual([])
  }
  expect((await owner.get('/dashboard/restore')).body).toEqual({ uploaded: null, outcome: null })
})

test('an upload that nobody restores is deleted after an hour', async () => {
  using folder = new ScratchFolder()
  await using relay = await open(folder)
  const owner = await relay.claim()
  const { body: made } = await owner.post('/dashboard/api/backup', {})
  const { body: seen } = await owner.upload(
    '/dashboard/restore?filename=a.db',
    readFileSync(made.path),
  )

  await relay.clock.advance(2.5 * 3_600_000)
  await owner.post('/dashboard/session/elevate', { password: PASSWORD })
  const late = await owner.post('/dashboard/restore/start', { id: seen.id })

  expect([late.status, late.body.error.code]).toEqual([404, 'not_found'])
  expect(readdirSync(dataDirectoryAt(folder.path).incoming)).toEqual([])
})
