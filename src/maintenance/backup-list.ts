import { basename } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import { listBackups } from '../storage/backup.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { isoTime } from '../system/iso-time.ts'

/** The back-ups of the data directory, newest first, as the owner is told of them. */
export function listBackupResources({ backups }: DataDirectory) {
  return listBackups(backups).map((backup) => ({
    name: basename(backup.path),
    path: backup.path,
    kind: backup.kind,
    created_at: isoTime(timestamp(backup.createdAt)),
    size_bytes: backup.sizeBytes,
  }))
}
