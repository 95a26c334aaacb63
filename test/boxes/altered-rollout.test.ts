// Rollouts that no head began: of a restored backup, and of a database that was altered.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'

import { timestamp } from '../../src/domain/ids.ts'
import { wholeBackup } from '../../src/storage/backup.ts'
import { readRollout, saveRollout } from '../../src/storage/boxes.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { restoreBackup } from '../../src/storage/restore.ts'
import { takeSnapshot } from '../../src/storage/snapshot.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'
import { Head, MINUTE } from './rollout-rig.ts'

test('a rollout that is in a backup does not begin with its restore', () => {
  using folder = new ScratchFolder()
  const directory = openDataDirectory(folder.path)
  const { db } = openDatabase(directory.database, { version: 'test' })
  db.sqlite.run(`INSERT INTO about VALUES ('rollout', '{"id":"1"}')`)
  takeSnapshot(wholeBackup(directory, folder.file('backup.db')))
  closeDatabase(db)

  const now = timestamp(TEST_START)
  restoreBackup({ directory, file: folder.file('backup.db'), version: 'test', now })

  const restored = openDatabase(directory.database, { version: 'test' }).db
  expect(readRollout(restored)).toBeNull()
  closeDatabase(restored)
})

type Stored = Record<string, unknown> & { readonly files: readonly Record<string, unknown>[] }

const ALTERED: readonly (readonly [what: string, alter: (stored: Stored) => object])[] = [
  ['a file of another folder', (stored) => filed(stored, { platform: '../secret' })],
  ['a size without end', (stored) => filed(stored, { size: 1e300 })],
  ['a text for a hash', (stored) => filed(stored, { sha256: 'x'.repeat(64) })],
  ['a box that is no id', (stored) => ({ ...stored, steps: [{ box: '../x' }] })],
  ['an author who is nobody', (stored) => ({ ...stored, origin: { actor: { kind: 'god' } } })],
  ['nothing else than a name', () => ({ id: '1' })],
]

function filed(stored: Stored, changes: object): object {
  return { ...stored, files: stored.files.map((file) => ({ ...file, ...changes })) }
}

for (const [what, alter] of ALTERED) {
  test(`a stored rollout with ${what} is not gone on with`, async () => {
    using head = await Head.with(1)
    head.box(1).isReachable = false
    await head.start()
    const stored = JSON.parse(readRollout(head.core.db) ?? '') as Stored // The head has just stored it.
    await head.core.writer.write((tx) => saveRollout(tx, alter(stored)))

    await head.restart()
    head.box(1).isReachable = true
    await head.clock.advance(5 * MINUTE)

    expect(head.rollouts.current()).toBeNull()
    expect(head.box(1).orders).toEqual([])
    await head.start()
    expect(head.rollouts.current()).toMatchObject({ status: 'running' })
  })
}

test('the pieces of a rollout come from the executables of its platforms, whatever else its row names', async () => {
  using head = await Head.with(1)
  head.box(1).isReachable = false
  await head.start()
  const stored = JSON.parse(readRollout(head.core.db) ?? '') as Stored // The head has just stored it.
  writeFileSync(head.folder.file('secret.key'), 'the secret')
  await head.core.writer.write((tx) => saveRollout(tx, filed(stored, { name: '../secret.key' })))

  await head.restart()
  const sha256 = String(stored.files[0]?.['sha256'])
  const piece = head.rollouts.chunk({ sha256, offset: 0 })

  expect('data' in piece && Buffer.from(piece.data, 'base64').toString()).toBe('the next version')
})
