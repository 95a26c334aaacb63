// Attachment files in the store and beside a whole backup: those of `menu.db` are in `menu.db.attachments`. A
// backup has originals only; variants are made again.

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
} from 'node:fs'
import { copyFile, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { flush, renameDurably } from '../system/files.ts'
import { openRaw, type Db } from './database.ts'

const READ_BYTES = 1_024 ** 2

export function attachmentPath(folder: string, sha256: string, variant?: string): string {
  const name = variant === undefined ? sha256 : `${sha256}.${variant}`
  return join(folder, sha256.slice(0, 2), name)
}

export function filesBeside(backup: string): string {
  return `${backup}.attachments`
}

/** Copies the files that a backup's rows need from the store to the folder beside it; returns their size in bytes. */
export async function copyFilesAlong(store: string, backup: string): Promise<number> {
  const needed = neededFiles(backup)
  const folder = filesBeside(backup)
  let bytes = 0
  try {
    for (const sha256 of needed) bytes += await copyOne(sha256, store, folder)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  return bytes
}

/** Skips a file that was deleted since the backup was written: it will be missing after a restore. */
async function copyOne(sha256: string, store: string, folder: string): Promise<number> {
  const from = attachmentPath(store, sha256)
  if (!existsSync(from)) return 0
  const to = attachmentPath(folder, sha256)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  const handle = await open(to, 'r')
  try {
    await handle.sync()
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

export function neededFiles(backup: string): readonly string[] {
  using database = openRaw(backup, 'read')
  return database
    .query<{ sha256: string }, []>(
      "SELECT DISTINCT sha256 FROM attachments WHERE state = 'available' ORDER BY sha256",
    )
    .all()
    .map((row) => row.sha256)
}

/**
 * Copies the files of a restored database back from beside its backup, marks missing ones, and returns their
 * number. Called before the database is in place.
 */
export function bringFilesBack({ sqlite }: Db, store: string, backup: string): number {
  const files = sqlite
    .query<{ sha256: string }, []>(
      `SELECT DISTINCT sha256 FROM attachments
       WHERE (state = 'available' OR state = 'missing') AND sha256 IS NOT NULL`,
    )
    .all()
  const update = sqlite.query(
    `UPDATE attachments SET state = $state
     WHERE sha256 = $sha256 AND (state = 'available' OR state = 'missing')`,
  )
  let missing = 0
  for (const { sha256 } of files) {
    const isHere = isInPlace(sha256, store, backup)
    if (!isHere) missing += 1
    update.run({ sha256, state: isHere ? 'available' : 'missing' })
  }
  return missing
}

const SHA256 = /^[0-9a-f]{64}$/

/**
 * True if the store has the file, after copying it if needed. Refuses a copy whose bytes changed, and a text
 * from a foreign backup that isn't a hash but a path elsewhere.
 */
function isInPlace(sha256: string, store: string, backup: string): boolean {
  if (!SHA256.test(sha256)) return false
  const to = attachmentPath(store, sha256)
  if (existsSync(to)) return true
  const from = attachmentPath(filesBeside(backup), sha256)
  if (!existsSync(from) || hashOfFile(from) !== sha256) return false
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  copyFileSync(from, `${to}.new`, constants.COPYFILE_FICLONE)
  flush(`${to}.new`)
  renameDurably(`${to}.new`, to)
  flush(store)
  return true
}

function hashOfFile(path: string): string {
  const hasher = new Bun.CryptoHasher('sha256')
  const buffer = new Uint8Array(READ_BYTES)
  const descriptor = openSync(path, 'r')
  try {
    for (;;) {
      const length = readSync(descriptor, buffer)
      if (length === 0) return hasher.digest('hex')
      hasher.update(buffer.subarray(0, length))
    }
  } finally {
    closeSync(descriptor)
  }
}
