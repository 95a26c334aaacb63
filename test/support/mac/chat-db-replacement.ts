import { renameSync, rmSync } from 'node:fs'

import { ChatDbFile } from './chat-db-file.ts'

const JOINS = ['chat_message_join', 'message_attachment_join']

/**
 * Another file takes the place of chat.db, with the newest `keep` messages and their ROWIDs counted from
 * 1; `newest_first` gives the oldest message the highest ROWID. `same_file` writes the same into the
 * file that is there.
 */
export type Replacement = {
  readonly keep: number
  readonly order: 'oldest_first' | 'newest_first'
  readonly into: 'new_file' | 'same_file'
}

/** The database after a restore or a rebuild; the old one is closed where a new file took its place. */
export function replaceChatDb(file: ChatDbFile, replacement: Replacement): ChatDbFile {
  if (replacement.into === 'same_file') {
    renumber(file, replacement)
    return file
  }
  const path = `${file.path}.restored`
  file.db.query('VACUUM INTO $path').run({ path })
  const restored = ChatDbFile.create(path, file.schema)
  renumber(restored, replacement)
  restored.checkpoint()
  restored.close()
  file.close()
  // What a reader still has open stays whole under no name, as with any file that is replaced.
  for (const end of ['-wal', '-shm']) rmSync(`${file.path}${end}`, { force: true })
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  renameSync(path, file.path)
  return ChatDbFile.create(file.path, file.schema)
}

/** Keeps the newest messages only, and counts their ROWIDs from 1. */
function renumber({ db }: ChatDbFile, { keep, order }: Replacement): void {
  const newest = db
    .query<{ id: number }, [{ keep: number }]>(
      'SELECT ROWID AS id FROM message ORDER BY date DESC, ROWID DESC LIMIT $keep',
    )
    .all({ keep })
    .map(({ id }) => id)
  const rowIds = order === 'newest_first' ? newest : newest.toReversed()
  db.transaction(() => {
    // Below zero on the way, so that no new number meets an old one.
    rowIds.forEach((rowId, index) => move(rowId, -index - 1))
    db.run('DELETE FROM message WHERE ROWID > 0')
    for (const table of JOINS) db.run(`DELETE FROM ${table} WHERE message_id > 0`)
    rowIds.forEach((_, index) => move(-index - 1, index + 1))
    db.query("UPDATE sqlite_sequence SET seq = $seq WHERE name = 'message'").run({
      seq: rowIds.length,
    })
  })()

  function move(from: number, to: number): void {
    db.query('UPDATE message SET ROWID = $to WHERE ROWID = $from').run({ from, to })
    for (const table of JOINS) {
      db.query(`UPDATE ${table} SET message_id = $to WHERE message_id = $from`).run({ from, to })
    }
  }
}
