import type { Db } from '../storage/database.ts'
import { sendingWithoutGuid } from '../storage/message-queue.ts'
import type { Writer } from '../storage/writer.ts'
import { makeUncertain, type SettleTools } from './settle.ts'

/**
 * Before anything runs: what a dead process left past its point of no return is uncertain, until its
 * driver finds its row. A message that the device holds (it has a guid) goes on waiting for its
 * receipt.
 */
export async function recoverMessages(
  tools: SettleTools & { readonly db: Db; readonly writer: Writer },
): Promise<number> {
  const left = sendingWithoutGuid(tools.db)
  if (left.length === 0) return 0
  await tools.writer.write((tx) => {
    for (const message of left) makeUncertain(tools, tx, message, 'outcome_unknown')
  })
  return left.length
}
