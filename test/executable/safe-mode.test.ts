// A service whose database cannot be used: too new for its executable, or damaged.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { nextVersion } from '../support/next-version.ts'
import { UpgradeMachine } from './upgrade-machine.ts'

/** The index by which recovery looks for what a dead process left. */
const READ_ONCE_IT_LISTENS = 'messages_by_status'
const TEST_MS = 600_000

test(
  'a database that is too new ends a start by hand with 78; a service waits in safe mode for the version that fits',
  async () => {
    const { machine, key } = await UpgradeMachine.create()
    await using _machine = machine
    const executable = await nextVersion()
    await machine.start({ executable, isService: false }).until('/readyz', '200')
    await machine.stop()

    const exitCode = await machine.start({ isService: false }).exited()
    const service = machine.start()
    await service.until('/healthz', '200 {"status":"safe_mode"')
    const headers = { 'x-api-key': key.key, 'x-api-secret': key.secret }
    const page = await service.look('/', { accept: 'text/html' })
    const answer = await service.look('/api/v1/messages', headers)
    const state = await service.control.probe('/healthz')
    const told = await machine.upgrade(executable)
    const stopped = await service.exited()
    await machine.relay?.until('/swagger', '200')

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
    expect(told).toMatchObject({ exitCode: 0, json: { outcome: 'upgraded', to: '9.9.9' } })
  },
  TEST_MS,
)

test(
  'damage that a service meets ends it; the next start looks, and stays in safe mode',
  async () => {
    const { machine } = await UpgradeMachine.create()
    await using _machine = machine
    damage(machine.dataDir, READ_ONCE_IT_LISTENS)

    const met = await machine.start().exited()
    const next = machine.start()
    await next.until('/healthz', '200 {"status":"safe_mode"')
    const answer = await next.look('/readyz')

    expect(met).toBe(1)
    expect(answer).toContain('The database failed its check: ')
  },
  TEST_MS,
)

test(
  'damage that a service meets before it listens brings it into safe mode at once',
  async () => {
    const { machine } = await UpgradeMachine.create()
    await using _machine = machine
    damage(machine.dataDir, 'lines')

    const relay = machine.start()
    await relay.until('/healthz', '200 {"status":"safe_mode"')

    expect(await relay.look('/readyz')).toContain(
      'hookline.db is damaged. Stop the relay and restore a backup with',
    )
  },
  TEST_MS,
)

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
