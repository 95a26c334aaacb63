// The thread that copies and checks databases: an entry point of the build, started by backup.ts.

import type { BackupContents } from '../api/owner.ts'
import { assertIntact, inspectBackup } from './integrity.ts'
import { SourceDamagedError, takeSnapshot, type Snapshot, type SnapshotOrder } from './snapshot.ts'
import { codeOf, isCorrupt } from './sqlite-errors.ts'

/** A copy to make, or the path of a database or of a backup to check. */
export type BackupRequest = { readonly id: number } & (
  | { readonly order: SnapshotOrder }
  | { readonly database: string }
  | { readonly backup: string; readonly version: string }
)
export type BackupReply =
  /** `done` is null for a check that found nothing. */
  | { readonly id: number; readonly done: Snapshot | BackupContents | null }
  | {
      readonly id: number
      readonly problem: string
      readonly code: string | null
      /** True if the database to copy or check is damaged. */
      readonly isSourceDamaged: boolean
    }

declare const self: Worker

self.addEventListener('message', (event: MessageEvent<BackupRequest>) => {
  self.postMessage(replyTo(event.data))
})

function replyTo(request: BackupRequest): BackupReply {
  const { id } = request
  try {
    if ('order' in request) return { id, done: takeSnapshot(request.order) }
    if ('backup' in request) return { id, done: inspectBackup(request.backup, request.version) }
    assertIntact(request.database)
    return { id, done: null }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    const code = codeOf(error)
    if (!('order' in request)) {
      return { id, problem, code, isSourceDamaged: 'database' in request && isCorrupt(error) }
    }
    const isSourceDamaged = error instanceof SourceDamagedError
    return { id, problem: `The backup failed: ${problem}`, code, isSourceDamaged }
  }
}
