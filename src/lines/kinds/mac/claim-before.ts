// What is looked up when a line is attended again, before anything new is read: the rows of messages
// that a crash left open, and those whose receipts may have come meanwhile.

import type { Clock } from '../../../system/clock.ts'
import type { DriverLine, LineEvent } from '../../driver.ts'
import type { ChatDb } from './chat-db.ts'
import { claimEvent } from './claim-event.ts'
import { expectationOf, noteAt } from './expectations.ts'
import type { OwnMessages } from './own-messages.ts'
import type { StatusTracker } from './status-tracker.ts'

type Tools = {
  readonly clock: Clock
  readonly own: OwnMessages
  readonly tracker: StatusTracker
}

export type ClaimsBefore = {
  readonly events: readonly LineEvent[]
  /** Rows of ours with an error: read again until it clears, another row comes, or their time is over. */
  readonly ill: readonly number[]
}

const ROWS_MAX = 5_000
/** A message that is older has all its rows already. */
const RECENT_MS = 60_000

export function claimBefore(db: ChatDb, line: DriverLine, tools: Tools): ClaimsBefore {
  followOpen(db, line, tools)
  expectUnsettled(db, line, tools)
  const { own, tracker, clock } = tools
  const earliest = Math.min(...line.unsettled.map((one) => expectationOf(one, db.identity).from))
  const events: LineEvent[] = []
  const ill: number[] = []
  const rows = line.unsettled.length === 0 ? [] : db.rowsSince(earliest, ROWS_MAX)
  for (const row of rows) {
    const claim = own.claim(row)
    if (claim?.claim === 'ill') ill.push(row.rowId)
    const event = claim === null ? null : claimEvent(tracker, claim, row, clock.now())
    if (event !== null) events.push(event)
  }
  return { events, ill }
}

function followOpen(db: ChatDb, line: DriverLine, { own, tracker, clock }: Tools): void {
  const now = clock.now()
  for (const { guid, note } of line.open) {
    const rowId = db.rowIdOf(guid)
    if (rowId === null) continue
    tracker.follow({ rowId, guid }, 'sent', now)
    const isRecent = now - (noteAt(note) ?? 0) < RECENT_MS
    if (isRecent) for (const row of db.rowsAt([rowId])) own.recall(row)
  }
}

/** One that Messages has already is followed by its row; the others are looked for. */
function expectUnsettled(db: ChatDb, line: DriverLine, { own, tracker, clock }: Tools): void {
  for (const unsettled of line.unsettled) {
    const { platformGuid } = unsettled.message
    const expectation = expectationOf(unsettled, db.identity)
    const rowId = platformGuid === null ? null : db.rowIdOf(platformGuid)
    const [row] = rowId === null ? [] : db.rowsAt([rowId])
    if (row === undefined) {
      own.expect(expectation, false)
      continue
    }
    tracker.follow(row, 'held', clock.now())
    own.expectSecond(expectation, row)
  }
}
