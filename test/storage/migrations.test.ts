import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { requireRestorable } from '../../src/storage/integrity.ts'
import { MIGRATIONS, UnusableDatabaseError, type Migration } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const ROOT = join(import.meta.dir, '..', '..')

/** A rebuild as drizzle-kit writes it, its pragmas in the middle included. */
const REBUILD: Migration = {
  name: '0001_rebuild.sql',
  sql: `PRAGMA foreign_keys=OFF;--> statement-breakpoint
    CREATE TABLE __kept AS SELECT * FROM webhooks;--> statement-breakpoint
    PRAGMA foreign_keys=ON;--> statement-breakpoint
    DELETE FROM webhooks;--> statement-breakpoint
    INSERT INTO webhooks SELECT * FROM __kept;--> statement-breakpoint
    DROP TABLE __kept`,
}

function rowsOf(sqlite: Database, table: string): number {
  return sqlite.query(`SELECT 1 FROM ${table}`).all().length
}

function storeWebhook(sqlite: Database): void {
  sqlite.run(
    `INSERT INTO webhooks (id, url, events, is_active, created_by, created_at, updated_at)
     VALUES ('wh_a', 'http://localhost', '[]', 1, 'cli', 0, 0)`,
  )
  sqlite.run(
    "INSERT INTO webhook_secrets (webhook_id, sealed, created_at) VALUES ('wh_a', x'00', 0)",
  )
}

test('every table is STRICT, but for those that the search index makes by itself', () => {
  const { db } = openDatabase(':memory:', { version: 'test' })

  const lax = db.sqlite
    .query(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND type NOT IN ('virtual', 'shadow')",
    )
    .all()

  expect(lax).toEqual([{ name: 'sqlite_schema' }])
})

test('a rebuilt table keeps its children', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const first = openDatabase(path, { version: '1' }).db
  storeWebhook(first.sqlite)
  closeDatabase(first)

  const { db, migratedFrom } = openDatabase(path, {
    version: '2',
    migrations: [...MIGRATIONS, REBUILD],
  })

  expect(migratedFrom).toBe(MIGRATIONS.length)
  expect(rowsOf(db.sqlite, 'webhook_secrets')).toBe(1)
  expect(db.sqlite.query('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
})

const BAD: readonly (readonly [what: string, migration: Migration])[] = [
  [
    'fails',
    {
      name: '0001_bad.sql',
      sql: 'CREATE TABLE half (a);--> statement-breakpoint\nNO SQL',
    },
  ],
  [
    'leaves a row pointing to nothing',
    { name: '0001_orphans.sql', sql: 'CREATE TABLE half (a);DELETE FROM webhooks' },
  ],
]

for (const [what, migration] of BAD) {
  test(`a migration that ${what} is undone, and the version stays`, () => {
    using folder = new ScratchFolder()
    const path = folder.file('hookline.db')
    const first = openDatabase(path, { version: '1' }).db
    storeWebhook(first.sqlite)
    closeDatabase(first)

    const open = () => openDatabase(path, { version: '2', migrations: [...MIGRATIONS, migration] })

    expect(open).toThrow(`${migration.name} failed and was undone`)
    const sqlite = new Database(path)
    expect(sqlite.query('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
    expect(sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'half'").get()).toBeNull()
    expect(rowsOf(sqlite, 'webhooks')).toBe(1)
  })
}

test('a database that needs a newer executable is refused, and says what to do', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const { db } = openDatabase(path, { version: '9.0.0' })
  const needed = MIGRATIONS.length + 3
  db.sqlite.run(`UPDATE about SET value = '${needed}' WHERE name = 'usable_from'`)
  closeDatabase(db)

  const open = () => openDatabase(path, { version: '1', backupsPath: '/somewhere/backups' })

  expect(open).toThrow(UnusableDatabaseError)
  expect(open).toThrow(
    `${path} was written by Hookline 9.0.0 and needs schema ${needed}; this executable knows ` +
      `schema ${MIGRATIONS.length}. Start Hookline 9.0.0 or newer, or restore a backup with ` +
      '"hookline restore FILE" (backups: /somewhere/backups).',
  )
})

test('a database of an earlier development version, whose tables are others, is refused in a sentence', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const made = openDatabase(path, { version: '0.1.0' }).db
  made.sqlite.run("DELETE FROM about WHERE name = 'first_migration'")
  closeDatabase(made)
  const rewritten = { name: '0000_initial.sql', sql: `${MIGRATIONS[0]?.sql} -- rewritten` }
  const other = [rewritten, ...MIGRATIONS.slice(1)]

  const open = () => openDatabase(path, { version: '0.1.0' })
  const check = () => requireRestorable(path)
  const newer = folder.file('other.db')
  closeDatabase(openDatabase(newer, { version: '0.1.0', migrations: other }).db)
  const back = () => openDatabase(newer, { version: '0.1.0' })

  const sentence =
    'was made by an earlier development version of Hookline, whose tables are others, or it is damaged.'
  expect(open).toThrow(UnusableDatabaseError)
  expect(open).toThrow(
    `${path} ${sentence} Use the executable that made it, restore a backup with "hookline restore FILE", or move`,
  )
  expect(check).toThrow(`It ${sentence}`)
  expect(back).toThrow(`${newer} ${sentence}`)
  closeDatabase(openDatabase(newer, { version: '0.1.0', migrations: other }).db)
})

test('an older executable starts on a newer database that only gained something', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const adding = { name: '0001_adds.sql', sql: 'CREATE TABLE added (a INTEGER) STRICT' }
  closeDatabase(openDatabase(path, { version: '2', migrations: [...MIGRATIONS, adding] }).db)

  const { db, migratedFrom } = openDatabase(path, { version: '1' })

  expect(migratedFrom).toBeNull()
  expect(db.sqlite.query('PRAGMA user_version').get()).toEqual({
    user_version: MIGRATIONS.length + 1,
  })
})

test('a SQLite file of another program is refused and left as it is', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const foreign = new Database(path, { create: true })
  foreign.run('CREATE TABLE theirs (a)')
  foreign.close()
  const before = readFileSync(path)

  expect(() => openDatabase(path, { version: '1' })).toThrow('not one of Hookline')

  expect(readFileSync(path).equals(before)).toBe(true)
})

test('a backup that fails stops the migration', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  closeDatabase(openDatabase(path, { version: '1' }).db)
  const options = {
    version: '2',
    migrations: [...MIGRATIONS, { name: '0001_adds.sql', sql: 'CREATE TABLE added (a)' }],
    backUp: () => {
      throw new Error('no room')
    },
  }

  expect(() => openDatabase(path, options)).toThrow('no room')

  expect(new Database(path).query('PRAGMA user_version').get()).toEqual({
    user_version: MIGRATIONS.length,
  })
})

test('the migrations are in step with the schema', async () => {
  using folder = new ScratchFolder()
  cpSync(join(ROOT, 'migrations'), folder.file('migrations'), { recursive: true })
  const arguments_ = ['generate', '--dialect', 'sqlite', '--out', 'migrations']
  const schema = ['--schema', join(ROOT, 'src', 'storage', '*schema.ts')]
  const kit = join(ROOT, 'node_modules', 'drizzle-kit', 'bin.cjs')

  const run = Bun.spawn([process.execPath, '--bun', kit, ...arguments_, ...schema], {
    cwd: folder.path,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = (await new Response(run.stdout).text()) + (await new Response(run.stderr).text())

  expect(said).toContain('No schema changes')
  expect(existsSync(folder.file('migrations/0001_snapshot.json'))).toBe(false)
}, 180_000)

test('a database whose damage erased its version is refused with the way back, and stays as it is', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const made = openDatabase(path, { version: '0.1.0' }).db
  made.sqlite.run('PRAGMA user_version = 0')
  closeDatabase(made)
  const before = readFileSync(path)

  const open = () => openDatabase(path, { version: '0.1.0' })

  expect(open).toThrow(UnusableDatabaseError)
  expect(open).toThrow('or it is damaged. Use the executable that made it, restore a backup with')
  expect(readFileSync(path)).toEqual(before)
})
