// What the command line of an upgrade says; the upgrade itself is in test/hosting and test/executable.

import { expect, test } from 'bun:test'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { hookline } from '../support/command-line.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

test('an upgrade needs a file to upgrade from, and an executable to upgrade', async () => {
  const without = await hookline('upgrade')
  const fromSources = await hookline('upgrade --from /nowhere/hookline')

  expect([without.exitCode, fromSources.exitCode]).toEqual([2, 2])
  expect(without.stderr).toContain('hookline upgrade --from FILE')
  expect(fromSources.stderr).toContain('An upgrade needs the built executable.')
})

test('a new executable is asked whether it can migrate a back-up: 0 if it can, 78 if not', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('backup.db')
  const { db } = openDatabase(path, { version: '1' })
  closeDatabase(db)
  const good = await hookline(`check-migrations ${path} --json`)
  const broken = openDatabase(path, { version: '1' }).db
  broken.sqlite.run('DROP TABLE webhook_secrets')
  closeDatabase(broken)

  const bad = await hookline(`check-migrations ${path}`)
  const help = await hookline('help')

  expect([good.exitCode, JSON.parse(good.stdout)]).toEqual([
    0,
    { from_schema: MIGRATIONS.length, to_schema: MIGRATIONS.length },
  ])
  expect([bad.exitCode, bad.stderr]).toEqual([
    78,
    'hookline: What it is migrated to is not sound. (no such table: webhook_secrets)\n',
  ])
  // Only another executable calls it.
  expect(help.stdout).toContain('upgrade')
  expect(help.stdout).not.toContain('check-migrations')
})
