// What an owner ended since a backup stays ended when that backup is restored: a real relay with boxes, a real
// restore, and the same credentials tried before and after it.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'

import { Secret, TOTP } from 'otpauth'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { PASSWORD, startDashboard, tokenOf } from '../http/dashboard-rig.ts'
import { startWithBoxes, type BoxesRelay } from '../support/boxes-rig.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TEST_START } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'
import { openTestStorage } from '../support/test-storage.ts'
import { phoneOf } from './shortcuts-relay.ts'

const open = ({ database }: DataDirectory) => openDatabase(database, { version: 'test' })

function restore(directory: DataDirectory, folder: ScratchFolder, name = 'backup.db') {
  const now = timestamp(TEST_START + 3_600_000)
  return restoreBackup({ directory, file: folder.file(name), version: 'test', now })
}

const backUp = (directory: DataDirectory, folder: ScratchFolder, name = 'backup.db') =>
  takeSnapshot(wholeBackup(directory, folder.file(name)))

/** Two of everything that opens the relay or gets its events: the owner ends the first of each. */
async function furnish(stage: BoxesRelay) {
  const { relay, owner } = stage
  const make = async (path: string, body: object) =>
    (await relay.post(`/api/v1/${path}`, body)).body
  const hook = { url: 'https://shop.example/hook?secret=1', events: ['message.received'] }
  const both = async <T>(one: (place: number) => Promise<T>) =>
    [await one(1), await one(2)] as const
  return {
    keys: await both((place) => make('keys', { name: `key ${place}` })),
    bridges: await both((place) => make('bridges', { phone_number: `+1202555014${place}` })),
    renewed: await make('bridges', { phone_number: '+12025550149' }),
    webhooks: await both(() => make('webhooks', hook)),
    paused: await make('webhooks', hook),
    moved: await make('webhooks', hook),
    rotated: await make('webhooks', hook),
    boxes: await both((place) => stage.join(`box${place}`, [])),
    invited: (await owner('POST', '/boxes', { name: 'invited' })).body,
  }
}

type Furniture = Awaited<ReturnType<typeof furnish>>

async function endTheFirst({ relay, owner }: BoxesRelay, made: Furniture): Promise<string> {
  await relay.request('DELETE', `/api/v1/keys/${made.keys[0].id}`)
  await relay.request('DELETE', `/api/v1/bridges/${made.bridges[0].id}`)
  await relay.request('DELETE', `/api/v1/webhooks/${made.webhooks[0].id}`)
  await relay.request('PUT', `/api/v1/webhooks/${made.paused.id}`, { is_active: false })
  await relay.request('PUT', `/api/v1/webhooks/${made.moved.id}`, { url: 'https://new.example/' })
  await relay.post(`/api/v1/webhooks/${made.rotated.id}/rotate-secret`, {})
  await owner('DELETE', '/boxes/box1')
  await relay.clock.advance(60_000)
  return (await relay.post(`/api/v1/bridges/${made.renewed.id}/token`, {})).body.token
}

/** Everything that still works, by name. */
async function working({ relay, owner }: BoxesRelay, made: Furniture, newToken: string) {
  const status = async (key: Json) => {
    const headers = { 'X-API-Key': key.key, 'X-API-Secret': key.secret }
    return (await relay.request('GET', '/api/v1/keys/self', undefined, headers)).status
  }
  const calls = async (token: string) =>
    (await phoneOf(relay, token).call('/bridge/v1/done', { id: 'msg_x', sent: true })).status !==
    401
  const { body: boxes } = await owner('GET', '/boxes')
  const hooks = (await relay.get('/api/v1/webhooks?limit=50')).data
  const activeIds = hooks.filter((one: Json) => one.is_active).map(({ id }: Json) => id)
  return {
    keys: [await status(made.keys[0]), await status(made.keys[1])],
    bridges: [await calls(made.bridges[0].token), await calls(made.bridges[1].token)],
    tokens: { old: await calls(made.renewed.token), new: await calls(newToken) },
    webhooks: hooks.map(({ id }: Json) => id).includes(made.webhooks[0].id),
    active: [...made.webhooks, made.paused, made.moved, made.rotated].map(({ id }) =>
      activeIds.includes(id),
    ),
    boxes: boxes.data.map(({ name, status }: Json) => [name, status === 'invited']),
    secrets: secretsOf(relay.db, made.rotated.id),
  }
}

function secretsOf({ sqlite }: BoxesRelay['relay']['db'], id: string) {
  const sql = 'SELECT sealed FROM webhook_secrets WHERE webhook_id = $id ORDER BY seq'
  return sqlite
    .query<{ sealed: Uint8Array }, [{ id: string }]>(sql)
    .all({ id })
    .map(({ sealed }) => sealed.toHex())
}

test('keys, bridges, tokens, webhooks and boxes that were ended since the backup stay ended after its restore', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const life = await startWithBoxes({ database: open(directory) })
  const made = await furnish(life)
  backUp(directory, folder)
  const newToken = await endTheFirst(life, made)
  const before = await working(life, made, newToken)
  const { clock } = life
  const { key } = life.relay
  await life[Symbol.asyncDispose]()
  closeDatabase(life.relay.db)

  const { cameBack } = restore(directory, folder)

  await using after = await startWithBoxes({ database: open(directory), clock, key })
  const works = await working(after, made, newToken)
  const pausedAt = after.relay.db.sqlite
    .query<{ at: number }, [string]>('SELECT paused_at AS at FROM webhooks WHERE id = ?')
    .get(made.moved.id)
  expect(pausedAt).toEqual({ at: TEST_START + 3_600_000 })
  expect([before.keys, before.active]).toEqual([
    [401, 200],
    [false, true, false, true, true],
  ])
  expect(works).toMatchObject({
    keys: [401, 200],
    bridges: [false, true],
    tokens: { old: false, new: true },
    webhooks: false,
    active: [false, true, false, false, true],
    boxes: [
      ['box2', false],
      ['invited', true],
    ],
    secrets: before.secrets,
  })
  const invitations = after.relay.db.sqlite.query('SELECT invitation_key AS key FROM boxes').all()
  expect(invitations).toEqual(invitations.map(() => ({ key: null })))
  expect(cameBack).toEqual([])
})

test('after a second restore, of a later backup over an earlier one, what was ended in between stays ended', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const first = open(directory)
  backUp(directory, folder, 'early.db')
  closeDatabase(first.db)
  const life = await startWithBoxes({ database: open(directory) })
  const made = await furnish(life)
  backUp(directory, folder, 'late.db')
  const newToken = await endTheFirst(life, made)
  const { clock } = life
  const { key } = life.relay
  await life[Symbol.asyncDispose]()
  closeDatabase(life.relay.db)

  restore(directory, folder, 'early.db')
  restoreBackup({
    directory,
    file: folder.file('late.db'),
    version: 'test',
    now: timestamp(TEST_START + 7_200_000),
  })

  await using after = await startWithBoxes({ database: open(directory), clock, key })
  expect(await working(after, made, newToken)).toMatchObject({
    keys: [401, 200],
    bridges: [false, true],
    // The database that knew the new token is no longer the one that was replaced.
    tokens: { old: false, new: false },
    webhooks: false,
    secrets: [],
  })
})

for (const present of ['is damaged', 'is missing']) {
  test(`if the replaced database ${present}, a restore reports what came back and how to end it`, async () => {
    using folder = new ScratchFolder()
    const directory = openDataDirectory(folder.path)
    const life = await startWithBoxes({ database: open(directory) })
    const made = await furnish(life)
    backUp(directory, folder)
    await life[Symbol.asyncDispose]()
    closeDatabase(life.relay.db)
    if (present === 'is damaged') writeFileSync(directory.database, 'no database')
    else
      for (const end of ['', '-wal', '-shm'])
        await Bun.file(directory.database + end)
          .delete()
          .catch(() => {})

    const { cameBack } = restore(directory, folder)

    const told = (id: string) => cameBack.find((one) => one.id === id)
    expect(told(made.keys[0].id)).toEqual({
      kind: 'key',
      id: made.keys[0].id,
      name: 'key 1',
      revoke: `hookline keys revoke ${made.keys[0].id}`,
    })
    expect(told(made.renewed.id)?.revoke).toBe(`hookline bridges remove ${made.renewed.id}`)
    expect(told(made.boxes[0].id)?.revoke).toBe(`hookline boxes remove ${made.boxes[0].id}`)
    const hook = told(made.paused.id)
    expect(hook?.revoke).toBe(`hookline webhooks remove ${made.paused.id}`)
    expect(hook?.name).toStartWith('https://shop.example/…')
  })
}

test('passwords that were changed since the backup stay changed, of the owner and of a member', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const life = await startDashboard({ database: open(directory) })
  const owner = await life.claim()
  await life.join(owner, 'Anna')
  backUp(directory, folder)
  const changed = await owner.post('/dashboard/password', {
    current: PASSWORD,
    password: 'another horse',
  })
  const { data } = (await owner.get('/dashboard/api/members')).body
  const { body } = await owner.post(`/dashboard/api/members/${data[0].id}/link`, {})
  const token = tokenOf(body.link.url)
  const set = await life.browser().post('/dashboard/setup', { token, password: 'the third horse' })
  const { clock, key } = life
  await life[Symbol.asyncDispose]()
  closeDatabase(life.db)

  restore(directory, folder)

  await using relay = await startDashboard({ database: open(directory), clock, key })
  const logIn = async (password: string, name?: string) =>
    (await relay.browser().post('/dashboard/session', { password, ...(name && { name }) })).status
  const statuses = [
    await logIn(PASSWORD),
    await logIn('another horse'),
    await logIn(PASSWORD, 'Anna'),
    await logIn('the third horse', 'Anna'),
  ]
  expect([changed.status < 300, set.status < 300]).toEqual([true, true])
  expect(statuses.map((status) => status < 300)).toEqual([false, true, false, true])
})

test('a second factor that was turned on since the backup stays on, and a recovery code that was used stays used', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const life = await startDashboard({ database: open(directory) })
  const owner = await life.claim()
  backUp(directory, folder)
  const { body } = await owner.post('/dashboard/second-factor', { password: PASSWORD })
  const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate({
    timestamp: life.clock.now(),
  })
  const on = await owner.ask('PUT', '/dashboard/second-factor', { body: { code } })
  const [used, kept] = on.body.recovery_codes
  const before = await life.browser().post('/dashboard/session', { password: PASSWORD, code: used })
  const { clock, key } = life
  await life[Symbol.asyncDispose]()
  closeDatabase(life.db)

  restore(directory, folder)

  await using relay = await startDashboard({ database: open(directory), clock, key })
  const logIn = async (more: object) =>
    (await relay.browser().post('/dashboard/session', { password: PASSWORD, ...more })).status
  expect(before.status).toBe(200)
  expect([await logIn({}), await logIn({ code: used }), await logIn({ code: kept })]).toEqual([
    401, 401, 200,
  ])
})

test('lines, files and automation that were ended since the backup stay ended', async () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const { db, writer, audit } = openTestStorage(directory.database)
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'read' }])
  const copies = `INSERT INTO lines (id, driver, device_key, phone_number, daily_contact_limit, is_enabled, relay_sms, created_at)
    SELECT $id, driver, $id, '+12025550102', daily_contact_limit, 1, relay_sms, created_at FROM lines WHERE id = 'line_a'`
  for (const id of ['line_gone', 'line_resumed', 'line_kept']) db.sqlite.query(copies).run({ id })
  const file = `INSERT INTO attachments (id, filename, mime_type, size, sha256, direction, state, created_at)
    VALUES ($id, 'a.txt', 'text/plain', 1, $id, 'inbound', 'available', 1)`
  for (const id of ['att_gone', 'att_kept']) db.sqlite.query(file).run({ id })
  backUp(directory, folder)
  const since = [
    ['line.deleted', 'line', 'line_gone', null],
    ['line.changed', 'line', 'line_a', { is_enabled: false }],
    ['line.changed', 'line', 'line_resumed', { is_enabled: false }],
    ['line.changed', 'line', 'line_resumed', { is_enabled: true }],
    ['line.changed', 'line', 'line_kept', { label: 'Shop' }],
    ['attachment.deleted', 'attachment', 'att_gone', null],
  ] as const
  await writer.write((tx) => {
    for (const [action, kind, id, after] of since) {
      audit.record(tx, COMMAND_LINE, { action, about: { kind, id }, after, before: after && null })
    }
    tx.sqlite.run('UPDATE conversations SET automation_paused = 1')
  })
  closeDatabase(db)

  restore(directory, folder)

  const restored = openTestStorage(directory.database).db
  const all = (sql: string) => restored.sqlite.query(sql).values()
  expect(all('SELECT id, is_enabled FROM lines WHERE deleted_at IS NULL ORDER BY id')).toEqual([
    ['line_a', 0],
    ['line_kept', 1],
    ['line_resumed', 1],
  ])
  expect(all('SELECT id, state FROM attachments ORDER BY id')).toEqual([
    ['att_gone', 'deleted'],
    ['att_kept', 'missing'],
  ])
  expect(all('SELECT automation_paused FROM conversations')).toEqual([[1]])
  closeDatabase(restored)
})
