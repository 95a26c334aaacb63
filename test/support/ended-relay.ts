// Relays that are ended at any moment: what a killed process leaves is copied, and another relay starts
// on the copy. The first one never stops; its sends just never end.

import { copyFileSync, existsSync, rmSync } from 'node:fs'

import type { CreatedKey } from '../../src/api/keys.ts'
import type { LineDriver } from '../../src/lines/driver.ts'
import { closeDatabase, openDatabase } from '../../src/storage/database.ts'
import type { Post } from '../../src/webhooks/post.ts'
import type { ScratchFolder } from './scratch-folder.ts'
import type { SendScript } from './scripted-driver.ts'
import type { TestClock } from './test-clock.ts'
import { startRelay } from './test-relay.ts'

/** Passes the point of no return and never says what became of it. */
export const vanishes: SendScript = async (message, pointOfNoReturn) => {
  await pointOfNoReturn(`note of ${message.text}`)
  return new Promise(() => {})
}

/** Copies a database with its log, in place of what is there. */
export function copyDatabase(folder: ScratchFolder, from: string, to: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(folder.file(to + end), { force: true })
  copyFileSync(folder.file(from), folder.file(to))
  const log = folder.file(`${from}-wal`)
  if (existsSync(log)) copyFileSync(log, folder.file(`${to}-wal`))
}

type Start = {
  readonly clock: TestClock
  readonly driver: LineDriver
  /** The key of the life before. */
  readonly key?: CreatedKey | null
  readonly post?: Post
}

export async function startOn(path: string, { driver, key = null, ...start }: Start) {
  const database = openDatabase(path, { version: 'test' })
  const onClose = () => closeDatabase(database.db)
  return startRelay({ ...start, database, drivers: [driver], key, onClose })
}
