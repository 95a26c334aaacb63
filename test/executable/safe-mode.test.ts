// A service whose database cannot be used: too new for its executable, or damaged.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { requestStartupCheck } from '../../src/hosting/startup-check.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { builtOnce } from '../support/next-version.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { UpgradeMachine } from './upgrade-machine.ts'

/** The index by which recovery looks for what a dead process left. */
const READ_ONCE_IT_LISTENS = 'messages_by_status'

const builds = new ScratchFolder()
afterAll(() => builds[Symbol.dispose]())

const nextVersion = () => builtOnce(builds, '9.9.9')

test('a database that is too new ends a start by hand with 78, and a service in safe mode', async () => {
  const { machine, key } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const next = machine.start({ executable: nextVersion(), isService: false })
  await next.until('/readyz', '200')
  await machine.stop()

  const byHand = machine.start({ isService: false })
  const exitCode = await byHand.exited()
  const service = machine.start()
  await service.until('/healthz', '200')
  const headers = { 'x-api-key': key.key, 'x-api-secret': key.secret }
  const page = await service.look('/', { accept: 'text/html' })
  const answer = await service.look('/api/v1/messages', headers)
  const state = await service.control.probe('/healthz')
  const stopped = await machine.stop()

  expect(exitCode).toBe(78)
  expect(page).toContain('503 <!doctype html>')
  expect(page).toContain('was written by Hookline 9.9.9')
  expect(answer).toContain('503 {"error":{"code":"starting"')
  expect(state).toMatchObject({
    status: 'safe_mode',
    reason: expect.stringContaining('this executable knows schema'),
    next_step: expect.stringContaining('hookline upgrade --from FILE'),
  })
  expect(stopped).toBe(0)
}, 120_000)

test('a service in safe mode is brought out of it by an upgrade to the version that fits', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const next = machine.start({ executable: nextVersion(), isService: false })
  await next.until('/readyz', '200')
  await machine.stop()
  await machine.start().until('/healthz', '200 {"status":"safe_mode"')

  const told = await machine.upgrade(nextVersion())
  await machine.relay?.until('/swagger', '200')

  expect(told).toMatchObject({ exitCode: 0, json: { outcome: 'upgraded', to: '9.9.9' } })
}, 120_000)

test('damage that a service meets ends it; the next start looks, and stays in safe mode', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  damage(machine.dataDir, READ_ONCE_IT_LISTENS)

  const met = await machine.start().exited()
  const next = machine.start()
  await next.until('/healthz', '200 {"status":"safe_mode"')
  const answer = await next.look('/readyz')

  expect(met).toBe(1)
  expect(answer).toContain('The database failed its check: ')
}, 120_000)

test('damage that a service meets before it listens brings it into safe mode at once', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  damage(machine.dataDir, 'lines')

  const relay = machine.start()
  await relay.until('/healthz', '200 {"status":"safe_mode"')

  expect(await relay.look('/readyz')).toContain(
    'hookline.db is damaged. Stop the relay and restore a backup with',
  )
}, 120_000)

test('damage that a startup check does not find is forgotten', async () => {
  const { machine } = await UpgradeMachine.create('wait for it')
  await using _machine = machine
  await machine.stop()
  const directory = dataDirectoryAt(machine.dataDir)
  requestStartupCheck(directory)

  const relay = machine.start()
  await relay.until('/swagger', '200')

  expect(existsSync(join(directory.path, 'damage-suspected'))).toBe(false)
}, 120_000)

/** Overwrites the first page of a table or an index. */
function damage(dataDir: string, name: string): void {
  const path = join(dataDir, 'hookline.db')
  const database = new Database(path, { strict: true })
  const [row] = database
    .query<{ page: number; size: number }, { name: string }>(
      'SELECT rootpage AS page, page_size AS size FROM sqlite_schema, pragma_page_size WHERE name = $name',
    )
    .all({ name })
  database.close()
  const { page, size } = row ?? { page: 1, size: 0 }
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(size), 0, size, (page - 1) * size)
  closeSync(file)
}
