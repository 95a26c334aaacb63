import { expect, test } from 'bun:test'

import { isKnownAbsent, pauseMs } from '../../../../src/lines/kinds/mac/reputation.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const ANNA = '+12025550123'
const NOW = TEST_START
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const ABSENT = { error: 22, is_sent: 0, is_finished: 1 }

function opened(): OpenedChatDb {
  return new OpenedChatDb({ schema: 'macos26a', options: {} })
}

/** What is known of Anna after a failure `ms` ago, and what `then` wrote. */
function isAnnaAbsent(ms: number, then: (db: OpenedChatDb) => void): boolean {
  using db = opened()
  writeOwn(db.file, { to: ANNA, text: 'hello', at: NOW - ms, ...ABSENT })
  then(db)
  return isKnownAbsent(db.chatDb, ANNA, NOW)
}

test('that somebody is not on iMessage is known for seven days', () => {
  const known = [DAY_MS, 7 * DAY_MS, 7 * DAY_MS + 1].map((ms) => isAnnaAbsent(ms, () => {}))

  expect(known).toEqual([true, true, false])
})

test('only a message by iMessage, from them or sent to them, says that they are back', () => {
  const at = NOW - 1_000
  const text = 'hello'
  const known = {
    theirs: isAnnaAbsent(DAY_MS, ({ file }) => file.receive({ from: ANNA, text, at })),
    theirSms: isAnnaAbsent(DAY_MS, ({ file }) => {
      file.receive({ from: ANNA, text, at, values: { service: 'SMS' } })
    }),
    sent: isAnnaAbsent(DAY_MS, ({ file }) => writeOwn(file, { to: ANNA, text, at })),
    underWay: isAnnaAbsent(DAY_MS, ({ file }) =>
      writeOwn(file, { to: ANNA, text, at, is_sent: 0 }),
    ),
  }

  expect(known).toEqual({ theirs: false, theirSms: true, sent: false, underWay: true })
})

test('the pause ends an hour after the fifth of the latest failures', () => {
  using db = opened()
  const pauses: number[] = []

  for (const minutes of [50, 40, 30, 20, 10, 5]) {
    writeOwn(db.file, { to: ANNA, text: 'hello', at: NOW - minutes * MINUTE_MS, ...ABSENT })
    pauses.push(pauseMs(db.chatDb, NOW) / MINUTE_MS)
  }

  expect(pauses).toEqual([0, 0, 0, 0, 10, 20])
})
