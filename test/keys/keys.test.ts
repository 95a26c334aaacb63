import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { createFirstKey, createKey, listKeys, revokeKey } from '../../src/keys/credentials.ts'
import { createAuthenticate, LastUsed } from '../../src/keys/last-used.ts'
import { openTestStorage } from '../support/test-storage.ts'

const UNNAMED = { name: null, origin: COMMAND_LINE }
const ALL = { limit: 50, cursor: null }

function openKeys() {
  const { core } = openTestStorage()
  return { core, callerOf: createAuthenticate(core, { lastUsed: new LastUsed(core) }) }
}

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a key that another process revoked fails from the next turn on', async () => {
  const { core, callerOf } = openKeys()
  const key = await createKey(core, UNNAMED)
  expect(callerOf(key.key, key.secret)).not.toBeNull()

  core.db.sqlite.run('UPDATE credentials SET revoked_at = 1')
  await turn()

  expect(callerOf(key.key, key.secret)).toBeNull()
})

test('spec 5.5: the database holds nothing from which the secret could be read', async () => {
  const { core } = openKeys()
  const key = await createKey(core, UNNAMED)

  const file = Buffer.from(core.db.sqlite.serialize())

  expect(file.includes(key.key)).toBe(true)
  expect(file.includes(key.secret)).toBe(false)
  expect(file.includes(key.secret.slice('hl_secret_'.length))).toBe(false)
})

test('keys are listed newest first, page by page', async () => {
  const { core } = openKeys()
  for (const name of ['a', 'b', 'c']) await createKey(core, { name, origin: COMMAND_LINE })

  const first = listKeys(core.db, { limit: 2, cursor: null })
  const second = listKeys(core.db, { limit: 2, cursor: first.next_cursor })

  expect([first, second].map(({ data }) => data.map(({ name }) => name))).toEqual([
    ['c', 'b'],
    ['a'],
  ])
  expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null])
})

test('a first key is made once, and never again, even when it is revoked', async () => {
  const { core } = openKeys()

  const [first, twin] = await Promise.all([createFirstKey(core), createFirstKey(core)])
  await revokeKey(core, first?.id ?? '', { origin: COMMAND_LINE })
  const later = await createFirstKey(core)

  expect(first?.created_by).toBe('cli')
  expect([twin, later]).toEqual([null, null])
  expect(listKeys(core.db, ALL).data.length).toBe(1)
})
