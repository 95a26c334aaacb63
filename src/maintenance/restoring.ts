// A restore from the dashboard. The backup is uploaded and checked while the relay works; then the process that
// started the relay stops it, exchanges the data, and starts it again.

import { existsSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { RestoreOutcome, RestoreState, UploadedBackup } from '../api/owner.ts'
import type { Origin } from '../domain/audit.ts'
import { RelayError, invalidRequest } from '../domain/errors.ts'
import { HOUR_MS } from '../domain/time.ts'
import { BadBackupError, receiveBackup } from '../storage/archive.ts'
import { attachmentPath, filesBeside, neededFiles } from '../storage/attachment-files.ts'
import type { BackupWorker } from '../storage/backup.ts'
import type { Core } from '../storage/core.ts'
import type { RestoreWish } from '../storage/restore.ts'
import { isDiskFull, storageFull } from '../storage/sqlite-errors.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { VERSION } from '../system/version.ts'
import type { DiskWatch } from './storage-watch.ts'
import type { Job } from './timetable.ts'

export function createRestoring(
  { clock, random }: Core,
  given: {
    readonly directory: DataDirectory
    readonly worker: Pick<BackupWorker, 'inspect'>
    readonly disk: Pick<DiskWatch, 'requireRoomFor'>
    /** Stops this relay, exchanges its data and starts it again. */
    readonly restore: (wish: RestoreWish) => void
    /** The outcome of the exchange before this start; null if there was none. */
    readonly restored: RestoreOutcome | null
  },
) {
  const { directory, worker, disk, restore, restored } = given
  let uploaded: { seen: UploadedBackup; file: string; until: number } | null = null
  const discard = async () => {
    const left = uploaded
    uploaded = null
    if (left !== null) await rm(join(left.file, '..'), { recursive: true, force: true })
  }
  const current = () => {
    if (uploaded === null || uploaded.until <= clock.monotonic()) return null
    return existsSync(uploaded.file) ? uploaded : null
  }
  return {
    state: (): RestoreState => ({ uploaded: current()?.seen ?? null, outcome: restored }),
    discard,
    /** Stores and checks a backup, and replaces the one before. A refused backup leaves nothing behind. */
    async receive(stream: AsyncIterable<Uint8Array>, name: string): Promise<UploadedBackup> {
      const id = Buffer.from(random.bytes(12)).toString('hex')
      const folder = join(directory.incoming, id)
      try {
        const requireRoom = (bytes: number) => disk.requireRoomFor(bytes)
        const { file, sizeBytes } = await receiveBackup(stream, folder, requireRoom)
        // The check works on a copy of the database.
        requireRoom(sizeBytes)
        const contents = await worker.inspect(file, VERSION)
        const missing = missingFiles(file, directory.attachments)
        await discard()
        const seen = { id, name, size_bytes: sizeBytes, ...contents, missing_files: missing }
        uploaded = { seen, file, until: clock.monotonic() + HOUR_MS }
        return seen
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw refusalOf(error)
      }
    },
    start(id: string, origin: Origin): void {
      const wanted = current()
      if (wanted?.seen.id !== id) {
        throw new RelayError('not_found', 'This upload has expired. Upload the backup again.')
      }
      restore({ file: wanted.file, name: wanted.seen.name, origin })
    },
    job: uploadJob(async () => void (current() === null && (await discard()))),
  }
}

/** Deletes an upload that nobody restored within an hour. */
function uploadJob(run: Job['run']): Job {
  return {
    name: 'restore-upload',
    finding: 'restore_upload_failed',
    pattern: '23 * * * *',
    fix: 'Delete the folder "incoming" in the data directory.',
    firstAfterMs: null,
    run,
  }
}

function missingFiles(file: string, store: string): number {
  const isHere = (sha256: string) =>
    [filesBeside(file), store].some((folder) => existsSync(attachmentPath(folder, sha256)))
  return neededFiles(file).filter((sha256) => !isHere(sha256)).length
}

/** The error for the caller: any problem with the backup itself is an invalid request. */
function refusalOf(error: unknown): unknown {
  if (error instanceof RelayError) return error
  if (isDiskFull(error)) return storageFull(error)
  const isOfWorker = error instanceof Error && error.constructor === Error
  if (!(error instanceof BadBackupError) && !isOfWorker) return error
  const message = `This file can't be restored. ${error.message}`
  return invalidRequest({ path: '', message })
}
