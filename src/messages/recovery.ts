import type { Db } from '../storage/database.ts'
import { queuedOnDeletedLines } from '../storage/message-queue.ts'
import { sendingWithoutGuid } from '../storage/unsettled.ts'
import type { Writer } from '../storage/writer.ts'
import { failMessage, makeUncertain, type SettleTools } from './settle.ts'

type Tools = SettleTools & { readonly db: Db; readonly writer: Writer }

/**
 * Before anything runs: what a dead process left past its point of no return is uncertain, until its
 * driver finds its row. A message that the device holds (it has a guid) goes on waiting for its
 * receipt.
 */
export async function recoverMessages(tools: Tools): Promise<number> {
  const left = sendingWithoutGuid(tools.db)
  if (left.length === 0) return 0
  await tools.writer.write((tx) => {
    for (const message of left) makeUncertain(tools, tx, message, 'outcome_unknown')
  })
  return left.length
}

/** After a line was deleted: what was queued on it has failed, and says so. */
export async function failOrphans(tools: Tools): Promise<void> {
  await tools.writer.write((tx) => {
    for (const message of queuedOnDeletedLines(tx)) failMessage(tools, tx, message, 'line_removed')
  })
}
