// The thread that copies the database: an entry point of the build, started by backup.ts.

import { takeSnapshot, type Snapshot, type SnapshotOrder } from './snapshot.ts'

export type BackupRequest = { readonly id: number; readonly order: SnapshotOrder }
export type BackupReply =
  | { readonly id: number; readonly snapshot: Snapshot }
  | { readonly id: number; readonly problem: string }

declare const self: Worker

self.addEventListener('message', (event: MessageEvent<BackupRequest>) => {
  self.postMessage(replyTo(event.data))
})

function replyTo({ id, order }: BackupRequest): BackupReply {
  try {
    return { id, snapshot: takeSnapshot(order) }
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) }
  }
}
