// The thread that copies pages from the write-ahead log into the database: an entry point of the build, started by
// checkpoints.ts.

import { Database } from 'bun:sqlite'
import { fdatasyncSync, openSync } from 'node:fs'

export type CheckpointRequest = { readonly open: string } | 'copy' | 'close'
/** Null, or the reason why the request failed. */
export type CheckpointReply = string | null

declare const self: Worker

const PRAGMAS = [
  'trusted_schema = OFF',
  'synchronous = FULL',
  'fullfsync = ON',
  'checkpoint_fullfsync = ON',
]

let sqlite: Database | null = null
/** Never closed: that would release the locks that SQLite has on the file in this process. */
let file: number | null = null

self.addEventListener('message', ({ data }: MessageEvent<CheckpointRequest>) => {
  self.postMessage(replyTo(data))
})

function replyTo(request: CheckpointRequest): CheckpointReply {
  try {
    if (request === 'copy') copy()
    else if (request === 'close') close()
    else open(request.open)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function open(path: string): void {
  sqlite ??= new Database(path, { readwrite: true })
  for (const pragma of PRAGMAS) sqlite.run(`PRAGMA ${pragma}`)
  file ??= openSync(path, 'r')
}

function close(): void {
  sqlite?.close()
  sqlite = null
}

/** SQLite flushes the database only after the last page of the log, so the pages before it are flushed here. */
function copy(): void {
  sqlite?.query('PRAGMA wal_checkpoint(PASSIVE)').get()
  if (file !== null) fdatasyncSync(file)
}
