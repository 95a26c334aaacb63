// History in a conversation: nobody has to read it, it is the last message only by its date, and what is
// counted again says the same as what was noted.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { recordMessage } from '../../src/messages/device-message.ts'
import { LAST_LEFT, markRead, openConversation } from '../../src/storage/conversations.ts'
import { evidenceOf } from '../../src/storage/recipients.ts'
import { deleteOldMessages } from '../../src/storage/retention.ts'
import { seededRandom } from '../support/test-relay.ts'
import { NOW, openStage, PERSON } from './message-stage.ts'

const MINUTE_MS = 60_000

type Came = {
  readonly isHistory?: boolean
  readonly isFromMe?: boolean
  readonly withheld?: 'spam' | null
  readonly ageMs?: number
  readonly service?: string
}

function openTalk() {
  const { core, clock, tx, line } = openStage()
  const party = { lineId: line.id, phoneNumber: line.number, handle: PERSON, now: NOW }
  const conversationId = openConversation(tx, core.ids, party)
  let count = 0
  const come = ({ ageMs = 0, ...came }: Came) => {
    count += 1
    clock.step(MINUTE_MS)
    const at = timestamp(clock.now() - ageMs)
    const plain = { handle: deviceHandle(PERSON), text: `${count}`, isHistory: false }
    const device = {
      guid: `g${count}`,
      isFromMe: false,
      service: 'iMessage',
      ...plain,
      ...came,
      at,
    }
    const placed = { device, conversationId, waits: false }
    return recordMessage(core, tx, line, placed)
  }
  const state = () =>
    tx.sqlite
      .query(
        `SELECT m.text AS last, unread_count AS unread, is_unanswered AS unanswered,
           c.service, message_count AS count FROM conversations c
         LEFT JOIN messages m ON m.seq = c.last_seq`,
      )
      .get()
  const recount = () => tx.sqlite.run(`UPDATE conversations SET ${LAST_LEFT}`)
  return { tx, line, conversationId, come, state, recount }
}

const OLD = { isHistory: true, ageMs: 9 * MINUTE_MS, service: 'SMS' }
const STORIES: readonly (readonly [string, readonly Came[], object])[] = [
  ['older history', [{}, OLD, OLD], { last: '1', unread: 1, unanswered: 1, service: 'iMessage' }],
  [
    'older history of ours',
    [{}, { ...OLD, isFromMe: true }],
    { last: '1', unread: 1, unanswered: 1, service: 'iMessage' },
  ],
  [
    'history that is later by its date',
    [{ ageMs: 20 * MINUTE_MS }, OLD],
    { last: '2', unread: 1, unanswered: 1, service: 'SMS' },
  ],
  [
    'a later answer of ours',
    [{ ageMs: 20 * MINUTE_MS }, { ...OLD, isFromMe: true }],
    { last: '2', unread: 0, unanswered: 0, service: 'SMS' },
  ],
  ['only history', [OLD, { ...OLD, ageMs: 1 }], { last: '2', unread: 0, unanswered: 0 }],
  ['junk', [{ withheld: 'spam' }], { last: '1', unread: 0, unanswered: 0 }],
  ['news after history', [OLD, {}], { last: '2', unread: 1, unanswered: 1, service: 'iMessage' }],
]

test.each([...STORIES])('%s counts as what it is', (_, all, expected) => {
  const { come, state, recount } = openTalk()

  for (const one of all) come(one)

  expect(state()).toMatchObject({ ...expected, count: all.length })
  recount()
  expect(state()).toMatchObject({ ...expected, count: all.length })
})

test('what is counted again, read, or deleted agrees with what was noted, whatever came', () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = seededRandom(seed)
    const { tx, come, state, recount, conversationId } = openTalk()
    const isSo = (share: number) => random.chance() < share
    const came = Array.from({ length: 12 }, () => {
      const ageMs = Math.floor(random.chance() * 30) * MINUTE_MS
      // What is ours and old is left out: whether it answers depends on what came before it.
      const isHistory = isSo(0.5)
      const made = { isHistory, isFromMe: !isHistory && isSo(0.3), ageMs: isSo(0.7) ? ageMs : 0 }
      return { ...made, message: come(made) }
    })
    const noted = state()
    recount()
    expect(state()).toEqual(noted)

    const place = Math.floor(random.chance() * 12)
    markRead(tx, conversationId, came[place]?.message.seq ?? 0)
    const lastOwn = came.findLastIndex(({ isFromMe }) => isFromMe)
    const unread = came.filter(
      ({ isHistory, isFromMe }, index) =>
        !isHistory && !isFromMe && index > Math.max(place, lastOwn),
    )
    expect(state()).toMatchObject({ unread: unread.length })

    deleteOldMessages(tx, timestamp(Number.MAX_SAFE_INTEGER), 6)
    const left = unread.filter(({ message }) => came.findIndex((c) => c.message === message) >= 6)
    expect(state()).toMatchObject({ unread: left.length, count: 6 })
  }
})

test('history says nothing of the service that reaches a person now', () => {
  const { tx, come } = openTalk()
  come({ service: 'iMessage' })
  for (let number = 0; number < 210; number += 1) come(OLD)

  expect(evidenceOf(tx, PERSON, null)).toMatchObject({ service: 'iMessage' })
})
