// Random bytes in a row that SQLite returns as if it were intact: the answer fails, the check that follows
// finds the value, and the relay ends with the words for damage.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TestClock } from '../support/test-clock.ts'

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

const DAMAGE: Readonly<Record<string, string>> = {
  'a word that is none': "UPDATE messages SET source = 'a�i' WHERE id = 'msg_b'",
  'JSON that does not parse': "UPDATE messages SET refused_by = '[\"li' WHERE id = 'msg_b'",
}

for (const [what, sql] of Object.entries(DAMAGE)) {
  test(`a damaged value ends the relay with the words for damage: ${what}`, async () => {
    using folder = new ScratchFolder()
    const path = folder.file('hookline.db')
    const { db } = openDatabase(path, { version: 'test' })
    storeLine(db.sqlite)
    storeMessages(db.sqlite, [
      { id: 'msg_a', status: 'sent' },
      { id: 'msg_b', status: 'sent' },
    ])
    closeDatabase(db)
    const given = { flags: {}, environment: {}, defaultDataDir: folder.path, folder: '/' }
    const { config } = loadConfig({ ...given, readText: () => null })
    const app = createApp(config, { clock: new TestClock(), drivers: [], isListening: false })
    const key = await app.createFirstKey()
    await app.start()

    damage(path, sql)
    const headers = { 'X-API-Key': key?.key ?? '', 'X-API-Secret': key?.secret ?? '' }
    const request = new Request('http://localhost/api/v1/messages', { headers })
    const { status } = await app.http.fetch(request, PEER)
    const error = await app.fatal

    expect(status).toBe(500)
    expect(String(error)).toContain(`${path} is damaged. Stop the relay and restore a backup`)
    await app.stop()
  })
}

function damage(path: string, sql: string): void {
  const sqlite = new Database(path)
  sqlite.run('PRAGMA ignore_check_constraints = ON')
  sqlite.run(sql)
  sqlite.close()
}
