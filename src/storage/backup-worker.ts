// The thread that copies and checks databases: an entry point of the build, started by backup.ts.

import { takeSnapshot, type Snapshot, type SnapshotOrder } from './snapshot.ts'
import { requireSound } from './soundness.ts'

/** What to copy, or the path of the database to check. */
export type BackupRequest = { readonly id: number } & (
  | { readonly order: SnapshotOrder }
  | { readonly soundnessOf: string }
)
export type BackupReply =
  /** Null where it was a check, which found nothing. */
  | { readonly id: number; readonly snapshot: Snapshot | null }
  | { readonly id: number; readonly problem: string }

declare const self: Worker

self.addEventListener('message', (event: MessageEvent<BackupRequest>) => {
  self.postMessage(replyTo(event.data))
})

function replyTo(request: BackupRequest): BackupReply {
  const { id } = request
  try {
    if ('order' in request) return { id, snapshot: takeSnapshot(request.order) }
    requireSound(request.soundnessOf)
    return { id, snapshot: null }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { id, problem: 'order' in request ? `The back-up failed: ${problem}` : problem }
  }
}
