import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import {
  createFirstKey,
  createKey,
  listKeys,
  revokeKey,
  type CredentialTools,
} from '../../src/keys/credentials.ts'
import { createAuthenticate, type Authenticate } from '../../src/keys/last-used.ts'
import { createAudit } from '../../src/storage/audit.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

const NOW = '2026-11-21T10:00:00.000Z'
const UNNAMED = { name: null, origin: COMMAND_LINE }
const ALL = { limit: 50, cursor: null }

type Rig = CredentialTools & { readonly clock: TestClock; readonly callerOf: Authenticate }

function createTools(): Rig {
  const clock = new TestClock()
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(
    db,
    () => {},
    () => {},
  )
  const stamps = new LogicalClock(clock, systemRandom, TEST_START)
  const callerOf = createAuthenticate({ db, clock, lastUsed: { note() {} } })
  const audit = createAudit({ writer, stamps, log: silentLog })
  return { db, writer, stamps, audit, random: systemRandom, clock, callerOf }
}

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a key that another process revoked fails from the next turn on', async () => {
  const tools = createTools()
  const key = await createKey(tools, UNNAMED)
  expect(tools.callerOf(key.key, key.secret)).not.toBeNull()

  tools.db.sqlite.run('UPDATE credentials SET revoked_at = 1')
  await turn()

  expect(tools.callerOf(key.key, key.secret)).toBeNull()
})

test('spec 5.5: the database holds nothing from which the secret could be read', async () => {
  const tools = createTools()
  const key = await createKey(tools, UNNAMED)

  const file = Buffer.from(tools.db.sqlite.serialize())

  expect(file.includes(key.key)).toBe(true)
  expect(file.includes(key.secret)).toBe(false)
  expect(file.includes(key.secret.slice('hl_secret_'.length))).toBe(false)
})

test('revoking twice answers alike and keeps the first time', async () => {
  const tools = createTools()
  const key = await createKey(tools, UNNAMED)

  const first = await revokeKey(tools, key.id, COMMAND_LINE)
  await tools.clock.advance(5_000)
  const second = await revokeKey(tools, key.id, COMMAND_LINE)

  expect([first, second]).toEqual([
    { id: key.id, deleted: true },
    { id: key.id, deleted: true },
  ])
  expect(listKeys(tools, ALL).data[0]?.revoked_at).toBe(NOW)
})

test('keys are listed newest first, page by page, with a hint in place of the key', async () => {
  const tools = createTools()
  const made = []
  for (const name of ['a', 'b', 'c'])
    made.push(await createKey(tools, { name, origin: COMMAND_LINE }))

  const first = listKeys(tools, { limit: 2, cursor: null })
  const second = listKeys(tools, { limit: 2, cursor: first.next_cursor })

  expect(first.data.map((key) => key.name)).toEqual(['c', 'b'])
  expect(first.has_more).toBe(true)
  expect(second).toEqual({
    data: [
      {
        id: made[0]?.id ?? '',
        name: 'a',
        key_hint: made[0]?.key.slice(0, 14) ?? '',
        created_by: 'cli',
        created_at: NOW,
        last_used_at: null,
        revoked_at: null,
      },
    ],
    has_more: false,
    next_cursor: null,
  })
})

test('a name has at most 100 characters, counted in code points', async () => {
  const tools = createTools()

  const long = await createKey(tools, { name: '\u{1F600}'.repeat(100), origin: COMMAND_LINE })
  const refusal = await createKey(tools, { name: 'x'.repeat(101), origin: COMMAND_LINE }).catch(
    (error: unknown) => error,
  )

  expect(Array.from(long.name ?? '').length).toBe(100)
  expect(refusal).toMatchObject({ code: 'invalid_request' })
})

test('a first key is made once, and never again, even when it is revoked', async () => {
  const tools = createTools()

  const [first, twin] = await Promise.all([createFirstKey(tools), createFirstKey(tools)])
  await revokeKey(tools, first?.id ?? '', COMMAND_LINE)
  const later = await createFirstKey(tools)

  expect(first?.created_by).toBe('cli')
  expect([twin, later]).toEqual([null, null])
  expect(listKeys(tools, ALL).data.length).toBe(1)
})
