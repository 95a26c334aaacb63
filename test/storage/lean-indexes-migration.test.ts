// The index over unfinished messages gets other words: what waits in a database of before is found.

import { expect, test } from 'bun:test'

import type { ConversationId } from '../../src/domain/ids.ts'
import { closeDatabase, openDatabase, type Db } from '../../src/storage/database.ts'
import { unfinishedIn } from '../../src/storage/message-turns.ts'
import { MIGRATIONS } from '../../src/storage/migrations.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'

const BEFORE = MIGRATIONS.findIndex(({ name }) => name.includes('lean_indexes'))
const OLDER = MIGRATIONS.slice(0, BEFORE)

const unfinished = (db: Db, id: string) => {
  const { first, uncertain } = unfinishedIn(db, id as ConversationId)
  return [...uncertain, ...(first === null ? [] : [first])].map((message): string => message.id)
}

test('what waits in a database from before is found after it was migrated', () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.db')
  const older = openDatabase(path, { version: '1', migrations: OLDER }).db
  storeLine(older.sqlite)
  storeMessages(older.sqlite, [
    { id: 'msg_a', status: 'read' },
    { id: 'msg_b', status: 'uncertain' },
    { id: 'msg_c', status: 'sending' },
    { id: 'msg_d', status: 'queued' },
    { id: 'msg_e', status: 'queued', conversation: 'conv_b' },
    { id: 'msg_f', status: 'failed', conversation: 'conv_b' },
  ])
  closeDatabase(older)

  const { db, migratedFrom } = openDatabase(path, { version: '2' })

  expect(migratedFrom).toBe(BEFORE)
  expect(unfinished(db, 'conv_a')).toEqual(['msg_b', 'msg_c'])
  expect(unfinished(db, 'conv_b')).toEqual(['msg_e'])
  closeDatabase(db)
})
