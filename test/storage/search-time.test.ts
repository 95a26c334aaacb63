// A search of messages runs on the relay's only thread, so it has to end soon, whatever is in the database.

import { expect, test } from 'bun:test'

import { indexNext, parseQuery, searchMessages } from '../../src/storage/search.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { openTestStorage } from '../support/test-storage.ts'

const MESSAGES = 4_000
const COMMON =
  'table please number tomorrow kitchen friday morning appointment delivery coffee'.split(' ')
const NO_SUCH_MESSAGE = parseQuery(COMMON.slice(0, 6).join(' '))
const MS = 20

/** Messages of five of ten common words each, in the index. */
async function furnished() {
  const storage = openTestStorage()
  const { db, writer } = storage
  const random = new SeededRandom(1)
  storeLine(db.sqlite)
  storeMessages(
    db.sqlite,
    Array.from({ length: MESSAGES }, (_, place) => {
      const words = Array.from({ length: 5 }, () => random.of(COMMON))
      return { id: `msg_${place}`, status: 'read' as const, text: words.join(' ') }
    }),
  )
  await writer.write((tx) => indexNext(tx, MESSAGES))
  return storage
}

test('a search for six common words looks at the time again and again, also if no message has them', async () => {
  const { db } = await furnished()
  let looks = 0
  const isTimeUp = () => {
    looks += 1
    return false
  }

  const found = searchMessages(db, NO_SUCH_MESSAGE, { limit: 20, lines: null, isTimeUp })

  expect(found).toEqual({ seqs: [], isComplete: true })
  expect(looks).toBeGreaterThan(MESSAGES / 100)
})

test('a search whose time is up stops with what it has, and says that there may be more', async () => {
  const { db, clock } = await furnished()
  clock.slowDown(1)
  const until = clock.monotonic() + MS
  const isTimeUp = () => clock.monotonic() >= until
  const query = parseQuery('table')
  const all = searchMessages(db, query, { limit: MESSAGES, lines: null, isTimeUp: () => false })

  const found = searchMessages(db, query, { limit: MESSAGES, lines: null, isTimeUp })

  expect(found).toEqual({ seqs: all.seqs.slice(0, MS), isComplete: false })
})
