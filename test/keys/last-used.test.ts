import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { KeyId } from '../../src/domain/ids.ts'
import { EVERYTHING } from '../../src/domain/permissions.ts'
import { createKey, listKeys } from '../../src/keys/credentials.ts'
import { KEY_USE_MS, LastUsed, createAuthenticate } from '../../src/keys/last-used.ts'
import { TEST_START } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

async function createRig() {
  const { core, clock, db, writer } = openTestStorage()
  const lastUsed = new LastUsed(core)
  const key = await createKey(core, { name: null, origin: COMMAND_LINE })
  const state = { writes: 0, isDiskFull: false }
  const write = writer.write.bind(writer)
  writer.write = (work) => {
    state.writes += 1
    return state.isDiskFull ? Promise.reject(new Error('full')) : write(work)
  }
  const stop = new AbortController()
  return {
    clock,
    db,
    state,
    lastUsed,
    key,
    stop,
    use: () => createAuthenticate(core, { lastUsed })(key.key, key.secret),
    stored: () =>
      db.sqlite.query('SELECT last_used_at AS at FROM credentials').get() as { at: unknown },
    told: () =>
      listKeys(db, { limit: 1, cursor: null }, EVERYTHING, lastUsed).data[0]?.last_used_at,
  }
}

test('a thousand uses in three seconds are written once a second', async () => {
  const rig = await createRig()
  const running = rig.lastUsed.run(rig.stop.signal)

  for (let i = 0; i < 1_000; i += 1) {
    rig.use()
    if (i % 100 === 99) await rig.clock.advance(300)
  }
  rig.stop.abort()
  await running

  expect(rig.state.writes).toBeLessThanOrEqual(4)
  expect(rig.stored().at).toBe(TEST_START + 2_100)
})

test('a stop writes what is left', async () => {
  const rig = await createRig()
  const running = rig.lastUsed.run(rig.stop.signal)
  await rig.clock.advance(10)
  rig.use()

  rig.stop.abort()
  await running

  expect(rig.stored().at).toBe(TEST_START + 10)
})

test('a use that could not be written is written by the next run', async () => {
  const rig = await createRig()
  rig.use()
  rig.state.isDiskFull = true
  const failure = await rig.lastUsed.run(rig.stop.signal).catch(String)

  rig.state.isDiskFull = false
  const running = rig.lastUsed.run(rig.stop.signal)
  await rig.clock.advance(0)

  expect(failure).toBe('Error: full')
  expect(rig.stored().at).toBe(TEST_START)
  rig.stop.abort()
  await running
})

test('a key that nobody knows in the database is no fault', async () => {
  const rig = await createRig()
  rig.lastUsed.note('key_gone' as KeyId, KEY_USE_MS)

  rig.stop.abort()
  await rig.lastUsed.run(rig.stop.signal)

  expect(rig.stored().at).toBeNull()
})
