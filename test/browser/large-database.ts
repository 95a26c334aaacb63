// A database of a relay that has been busy for years, made without the relay: a tenth of a second for
// ten thousand messages.

import { Database } from 'bun:sqlite'
import { join } from 'node:path'

import { RelayProcess } from '../support/relay-process.ts'

const START = Date.UTC(2026, 0, 1)

/**
 * Makes the tables by the relay itself, then fills them: each conversation has as many messages as the
 * others, and the later its number, the later its last message.
 */
export async function fillDatabase(
  dataDir: string,
  size: { readonly conversations: number; readonly messages: number },
): Promise<void> {
  const args = ['--simulated-lines', '2']
  await using relay = await RelayProcess.start({ dataDir, arguments: args })
  await relay.end()
  using database = new Database(join(dataDir, 'hookline.db'), { readwrite: true, strict: true })
  database.run('PRAGMA synchronous = OFF')
  database.run('PRAGMA cache_size = -400000')
  const indexes = database
    .query<{ name: string; sql: string }, []>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('messages', 'conversations')`,
    )
    .all()
  database.transaction(() => {
    for (const { name } of indexes) database.run(`DROP INDEX ${name}`)
    database.query(CONVERSATIONS).run({ ...size, start: START })
    database.query(MESSAGES).run({ ...size, start: START })
    for (const { sql } of indexes) database.run(sql)
  })()
}

const CONVERSATIONS = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $conversations - 1)
  INSERT INTO conversations (seq, id, line_id, phone_number, handle, service, message_count, last_seq,
    created_at, updated_at)
  SELECT i + 1, printf('conv_%026d', i), (SELECT min(id) FROM lines), '+12025550101',
    printf('+1303%07d', i), 'iMessage', $messages / $conversations,
    $messages - $conversations + i + 1, $start, $start + ($messages - $conversations + i) * 1000
  FROM n`

const MESSAGES = `
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $messages - 1)
  INSERT INTO messages (seq, id, line_seq, conversation_seq, phone_number, handle, direction, status,
    service, text, guid, source, revision, created_at, waits_from, updated_at)
  SELECT i + 1, printf('msg_%026d', i), (SELECT seq FROM lines ORDER BY id LIMIT 1),
    i % $conversations + 1, '+12025550101',
    printf('+1303%07d', i % $conversations), iif(i % 2, 'inbound', 'outbound'),
    iif(i % 2, 'received', 'read'), 'iMessage', 'This is message number ' || i || ' of many.',
    printf('00000000-0000-4000-8000-%012d', i), iif(i % 2, 'device', 'api'), i + 1,
    $start + i * 1000, $start + i * 1000, $start + i * 1000
  FROM n`
