import type { Db } from '../storage/database.ts'
import { countByStatus } from '../storage/message-queue.ts'
import type { Metrics } from '../system/metrics.ts'
import { takesMessages, type LineBoard } from './line-board.ts'

const STATUSES = ['queued', 'sending', 'uncertain'] as const

/** Tells, whenever the metrics are read, what waits and which lines take messages. */
export function observeMessages(
  metrics: Metrics,
  { db, board }: { readonly db: Db; readonly board: Pick<LineBoard, 'lines'> },
): void {
  metrics.onCollect(() => {
    for (const status of STATUSES) {
      const count = countByStatus(db, status)
      metrics.set('hookline_messages', 'Messages that are not settled.', count, { status })
    }
    for (const found of board.lines()) {
      const labels = { line: found.line.id, driver: found.line.driver }
      const value = takesMessages(found) ? 1 : 0
      metrics.set('hookline_line_ready', 'Whether a line takes messages.', value, labels)
    }
  })
}
