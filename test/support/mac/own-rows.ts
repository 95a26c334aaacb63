// Rows of our own messages as a test writes them by hand, where Messages does what no behaviour has.

import type { ChatDbFile, MessageValues, Written } from './chat-db-file.ts'

/** A message of ours that was sent, in the direct chat with `to`, unless `values` say otherwise. */
export function writeOwn(
  file: ChatDbFile,
  { to, ...values }: MessageValues & { readonly to: string; readonly at: number },
): Written {
  return file.db.transaction(() => {
    const handle = file.addHandle(to)
    const sent = { is_from_me: 1, is_sent: 1, is_delivered: 0, handle_id: handle }
    const written = file.addMessage({ ...sent, ...values })
    file.joinChat(written.rowId, file.directChat(to))
    return written
  })()
}

/** The ROWID of the message that was written last. */
export function newestRow({ db }: ChatDbFile): number {
  return db.query<{ id: number }, []>('SELECT max(ROWID) AS id FROM message').get()?.id ?? 0
}
