// How long the tracker waits before it calls a message failed or stuck, what it reports once, and how many
// it follows.

import { expect, test } from 'bun:test'

import { reasonOf, StatusTracker } from '../../../../src/lines/kinds/mac/status-tracker.ts'
import type { Written } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const NOW = TEST_START
const NO_NETWORK = { error: 6, is_finished: 1 }
const FOLLOWED_MAX = 20_000

/** A tracker on a database of the test's, at times that the test says. */
class TrackerRig extends OpenedChatDb {
  readonly tracker = new StatusTracker()

  write(values: Readonly<Record<string, number>> = {}): Written {
    return writeOwn(this.file, { to: FRIEND, text: 'hello', at: NOW, is_sent: 0, ...values })
  }

  /** Receipts `ms` after the beginning. */
  sweep(ms: number): readonly string[] {
    return this.tracker.sweep(this.chatDb, NOW + ms).map(({ kind }) => kind)
  }

  /** Receipts until each row was looked at. */
  round(): readonly string[] {
    return Array.from({ length: FOLLOWED_MAX / 200 }, () => this.sweep(1)).flat()
  }
}

test('a message is stuck from the third to the sixth minute: later it is started again for nothing', () => {
  const tracker = new StatusTracker()
  tracker.follow({ rowId: 1, guid: 'held' }, 'held', NOW)
  tracker.follow({ rowId: 2, guid: 'sent' }, 'sent', NOW - 10_000)

  const stuck = [180_000, 180_001, 359_999, 360_000].map((ms) => tracker.isStuck(NOW + ms))

  expect(stuck).toEqual([false, true, true, false])
})

test('a message with a file is stuck after twenty minutes only: a restart would begin it again', () => {
  using rig = new TrackerRig()
  const { rowId } = rig.write()
  rig.file.addAttachment(rowId, { guid: 'P', is_outgoing: 1 })
  const [row] = rig.chatDb.rowsAt([rowId])
  if (row !== undefined) rig.tracker.follow(row, 'held', NOW)

  const stuck = [180_001, 1_200_000, 1_200_001].map((ms) => rig.tracker.isStuck(NOW + ms))

  expect(stuck).toEqual([false, false, true])
})

test('a row that has the ROWID of a message and another guid says nothing of it', () => {
  using rig = new TrackerRig()
  const { rowId } = rig.write({ is_sent: 1, is_delivered: 1 })
  rig.tracker.follow({ rowId, guid: 'another' }, 'sent', NOW)

  expect(rig.sweep(0)).toEqual([])
})

test('an error has ten seconds to clear, and a second one ten seconds of its own', () => {
  using rig = new TrackerRig()
  const row = rig.write(NO_NETWORK)
  rig.tracker.follow(row, 'held', NOW)

  const published = [rig.sweep(0)]
  rig.file.set(row.rowId, { error: 0, is_finished: 0 })
  published.push(rig.sweep(5_000))
  rig.file.set(row.rowId, NO_NETWORK)
  for (const ms of [6_000, 12_000, 15_999, 16_000, 17_000]) published.push(rig.sweep(ms))

  expect(published).toEqual([[], [], [], [], [], ['failed'], []])
})

test('a message that Messages is done with and has not sent fails after a minute, unless it waits by intention', () => {
  using rig = new TrackerRig()
  const failed = rig.write({ is_finished: 1 })
  const delayed = rig.write({ is_finished: 1, is_delayed: 1 })
  for (const row of [failed, delayed]) rig.tracker.follow(row, 'held', NOW)

  const published = [0, 59_999, 60_000, 120_000].map((ms) => rig.sweep(ms))

  expect(published).toEqual([[], [], ['failed'], []])
})

test('what was reported of a message is not reported again if it is found once more', () => {
  using rig = new TrackerRig()
  const row = rig.write({ is_sent: 1, is_delivered: 1 })
  rig.tracker.follow(row, 'sent', NOW)

  const first = rig.sweep(0)
  rig.tracker.follow(row, 'sent', NOW)

  expect([first, rig.sweep(1)]).toEqual([['delivered'], []])
})

test('each of many messages is looked at again and again', () => {
  using rig = new TrackerRig()
  const oldest = rig.write({ is_sent: 1 })
  rig.tracker.follow(oldest, 'sent', NOW)
  followMore(rig.tracker, 500)

  for (let i = 0; i < 10; i += 1) rig.sweep(i)
  rig.file.set(oldest.rowId, { is_delivered: 1 })
  const published = [10, 11, 12].flatMap((ms) => rig.sweep(ms))

  expect(published).toEqual(['delivered'])
})

test('twenty thousand are followed: what was read makes room, then the oldest goes', () => {
  using rig = new TrackerRig()
  const [oldest, newest] = [rig.write({ is_sent: 1 }), rig.write({ is_sent: 1 })]
  rig.tracker.follow(oldest, 'sent', NOW)
  followMore(rig.tracker, FOLLOWED_MAX - 2)
  rig.tracker.follow(newest, 'sent', NOW)
  const read = { is_delivered: 1, date_read: rig.file.date(NOW) }

  rig.file.set(newest.rowId, read)
  const publishedOfNewest = rig.sweep(0)
  rig.tracker.follow({ rowId: 40_000, guid: 'one more' }, 'sent', NOW)
  rig.file.set(oldest.rowId, { is_delivered: 1 })
  const publishedOfOldest = rig.round()
  rig.tracker.follow({ rowId: 40_001, guid: 'one too many' }, 'sent', NOW)
  rig.file.set(oldest.rowId, read)

  expect(publishedOfNewest).toEqual(['delivered', 'read'])
  expect([publishedOfOldest, rig.round()]).toEqual([['delivered'], []])
})

test('a message that moved to another ROWID is followed there only', () => {
  using rig = new TrackerRig()
  const row = rig.write()
  rig.tracker.follow(row, 'held', NOW)

  rig.file.db.run('UPDATE message SET ROWID = ROWID + 7')
  rig.tracker.relocate(rig.chatDb)
  rig.file.set(row.rowId + 7, { is_sent: 1 })

  expect(rig.sweep(0)).toEqual(['sent'])
  expect(rig.tracker.isStuck(NOW + 200_000)).toBe(false)
})

/** By the first and last number of each reason. */
const REASONS: Readonly<Record<string, readonly number[]>> = {
  send_failed: [1, 2, 4, 5, 37, 39, 41, 1_000],
  send_timed_out: [3],
  network_unavailable: [6, 11],
  imessage_server_error: [12, 20],
  not_on_imessage: [21, 22, 23],
  recipient_rejected: [24],
  attachment_failed: [25, 34, 36],
  encryption_failed: [26, 29],
  imessage_account_problem: [30, 33, 40],
  system_update_needed: [38],
}

test('each number of an error has its reason, to the borders of each range', () => {
  const all = Object.entries(REASONS).flatMap(([reason, numbers]) =>
    numbers.map((number) => [number, reason] as const),
  )

  expect(all.map(([number]) => [number, reasonOf(number)])).toEqual(all.map((pair) => [...pair]))
})

/** Follows `count` more, of which the database has none. */
function followMore(tracker: StatusTracker, count: number): void {
  for (let i = 0; i < count; i += 1) {
    tracker.follow({ rowId: 10_000 + i, guid: `other ${i}` }, 'sent', NOW)
  }
}
