// Edits and unsends of messages that were read: when they are published, with which history, and once.

import { expect, test } from 'bun:test'

import { timestamp } from '../../../../src/domain/ids.ts'
import { editsOf, EditWatch, isWhollyRetracted } from '../../../../src/lines/kinds/mac/edits.ts'
import { changesOf, messagesOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, type MacRig, makeMacRig } from '../../../contract/mac-rig.ts'
import { binaryPropertyList, type Writable } from '../../../support/iphone/binary-plist-writer.ts'
import { encodeAttributedBody } from '../../../support/mac/attributed-body-encoder.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const APPLE_EPOCH_S = 978_307_200

/** A text and the time since which the message had it. */
type Version = readonly [text: string, ms: number]

/** `message_summary_info` as Messages writes it: the history of part 0, or of more. */
function summary(
  parts: Readonly<Record<string, readonly Version[]>>,
  more: Readonly<Record<string, Writable>> = {},
) {
  const versions = (all: readonly Version[]) =>
    all.map(([text, ms]) => ({ d: ms / 1_000 - APPLE_EPOCH_S, t: encodeAttributedBody(text) }))
  const ec = Object.fromEntries(Object.entries(parts).map(([part, all]) => [part, versions(all)]))
  return new Uint8Array(
    binaryPropertyList({
      amc: 1,
      ust: true,
      ...(Object.keys(ec).length === 0 ? {} : { ec }),
      ...more,
    }),
  )
}

/** A person edits a message that is there. */
function edit(rig: MacRig, rowId: number, texts: readonly Version[], text: string) {
  const { file } = rig.model
  const date_edited = file.date(rig.clock.now())
  const ranges = { otr: { '0': { lo: 0, le: 5 } }, ep: [0] }
  file.set(rowId, { text, date_edited, message_summary_info: summary({ '0': texts }, ranges) })
}

test('an edit is published with the new text and the earlier ones, oldest first', async () => {
  await using rig = await attendedMac()
  const first = rig.clock.now()
  const { rowId, guid } = rig.model.receive(FRIEND, 'see you at eigth')
  await rig.clock.advance(1_000)

  const second = rig.clock.now()
  edit(
    rig,
    rowId,
    [
      ['see you at eigth', first],
      ['see you at eight', second],
    ],
    'see you at eight',
  )
  await rig.clock.advance(1_000)
  const third = rig.clock.now()
  const all: Version[] = [
    ['see you at eigth', first],
    ['see you at eight', second],
    ['at nine', third],
  ]
  edit(rig, rowId, all, 'at nine')
  await rig.clock.advance(1_000)

  expect(messagesOf(rig.line.events)).toHaveLength(1)
  expect(changesOf(rig.line.events)).toEqual([
    {
      kind: 'edited',
      guid: `${guid}:edited:${second}`,
      targetGuid: guid,
      at: timestamp(second),
      isHistory: false,
      group: undefined,
      text: 'see you at eight',
      edits: [{ text: 'see you at eigth', at: timestamp(first) }],
    },
    {
      kind: 'edited',
      guid: `${guid}:edited:${third}`,
      targetGuid: guid,
      at: timestamp(third),
      isHistory: false,
      group: undefined,
      text: 'at nine',
      edits: [
        { text: 'see you at eigth', at: timestamp(first) },
        { text: 'see you at eight', at: timestamp(second) },
      ],
    },
  ])
})

test('an unsent message keeps nothing, whether or not its list says so', async () => {
  await using rig = await attendedMac()
  const rows = ['one', 'two'].map((text) => rig.model.receive(FRIEND, text))
  await rig.clock.advance(1_000)

  const { file } = rig.model
  const date_edited = file.date(rig.clock.now())
  const listed = summary({}, { otr: { '0': { lo: 0, le: 3 } }, rp: [0] })
  const listedRow = { date_edited, message_summary_info: listed, attributedBody: null }
  file.set(rows[0]?.rowId ?? 0, { ...listedRow, cache_has_attachments: 1 })
  file.set(rows[1]?.rowId ?? 0, { date_edited, attributedBody: null, is_empty: 1 })
  await rig.clock.advance(1_000)

  expect(changesOf(rig.line.events)).toMatchObject([
    { kind: 'unsent', targetGuid: rows[0]?.guid, at: rig.clock.now() - 1_000 },
    { kind: 'unsent', targetGuid: rows[1]?.guid },
  ])
})

test('of a message that was unsent in part the rest is its new text', async () => {
  await using rig = await attendedMac()
  const { rowId } = rig.model.receive(FRIEND, 'one two')
  await rig.clock.advance(1_000)

  const { file } = rig.model
  const otr = { '0': { lo: 0, le: 3 }, '1': { lo: 3, le: 4 } }
  const message_summary_info = summary({}, { otr, rp: [1] })
  file.set(rowId, { text: 'one', date_edited: file.date(rig.clock.now()), message_summary_info })
  await rig.clock.advance(1_000)

  expect(changesOf(rig.line.events)).toMatchObject([{ kind: 'edited', text: 'one', edits: [] }])
})

test('what was edited before it was read is no change, nor is it one after a restart', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const now = rig.clock.now()
  const { file } = rig.model
  const values = {
    date_edited: file.date(now),
    message_summary_info: summary({ '0': [['a', now]] }),
  }
  file.receive({ from: FRIEND, text: 'b', at: now, values })
  await rig.clock.advance(1_000)
  await first.end()

  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
  await rig.clock.advance(10_000)

  expect(messagesOf(first.events)).toMatchObject([{ text: 'b' }])
  expect([...changesOf(first.events), ...changesOf(second.events)]).toEqual([])
})

test('an edit while no relay ran is published once, by the next one', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const { rowId } = rig.model.receive(FRIEND, 'a')
  await rig.clock.advance(1_000)
  await first.end()

  edit(rig, rowId, [['a', rig.clock.now()]], 'b')
  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
  await rig.clock.advance(10_000)
  await second.end()
  await using third = await runLine(rig, rig.restart(), { checkpoint: second.checkpoint() })
  await rig.clock.advance(10_000)

  expect(changesOf(second.events)).toMatchObject([{ kind: 'edited', text: 'b' }])
  expect(changesOf(third.events)).toEqual([])
})

test('an edit that could not be made durable is published again', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const { rowId } = rig.model.receive(FRIEND, 'a')
  await rig.clock.advance(1_000)
  first.refuse(({ type }) => type === 'change')
  edit(rig, rowId, [['a', rig.clock.now()]], 'b')
  await rig.clock.advance(1_000)
  await first.ended()

  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
  await rig.clock.advance(10_000)

  expect(changesOf(second.events)).toMatchObject([{ kind: 'edited', text: 'b' }])
})

test('what was edited before the line was set up is nobody’s change', async () => {
  using rig = makeMacRig()
  const { rowId } = rig.model.receive(FRIEND, 'a')
  edit(rig, rowId, [['a', rig.clock.now()]], 'b')

  await using line = await runLine(rig, rig.driver)
  await rig.clock.advance(10_000)

  expect(changesOf(line.events)).toEqual([])
})

test('an edit of a message in a group names the group, one of our own names our message', async () => {
  await using rig = await attendedMac()
  const { file } = rig.model
  const chat = file.addChat({ identifier: 'chat831', style: 43 })
  const { rowId } = file.receive({ from: FRIEND, text: 'a', at: rig.clock.now(), chat })
  const outcome = await rig.line.send('hello', async () => true)
  await rig.clock.advance(3_000)

  edit(rig, rowId, [['a', rig.clock.now()]], 'b')
  const own = file.db.query<{ id: number }, []>('SELECT max(ROWID) AS id FROM message').get()
  edit(rig, own?.id ?? 0, [['hello', rig.clock.now()]], 'hallo')
  await rig.clock.advance(1_000)

  expect(changesOf(rig.line.events)).toMatchObject([
    { kind: 'edited', text: 'b', group: { identifier: 'chat831' } },
    { kind: 'edited', text: 'hallo', targetGuid: outcome.outcome === 'accepted' && outcome.guid },
  ])
})

test('an edit is looked for up to twenty minutes after it, and after an outage as long from before that', () => {
  using db = new OpenedChatDb()
  const values = { date_edited: db.file.date(TEST_START) }
  db.file.receive({ from: FRIEND, text: 'a', at: TEST_START, values })
  const found = (now: number, healthyAt = now) => {
    return new EditWatch([]).takeChanged(db.chatDb, { now, healthyAt, isRead: () => true }).length
  }

  const inTime = TEST_START + 20 * MINUTE_MS

  expect([found(inTime), found(inTime + 1), found(inTime + 60 * MINUTE_MS, inTime)]).toEqual([
    1, 0, 1,
  ])
})

test('the history of several parts is in order of time, and what is damaged has none', () => {
  const parts = {
    '0': [
      ['a', 3_000],
      ['b', 5_000],
      ['now', 6_000],
    ],
    '2': [
      ['x', 4_000],
      ['y', 7_000],
    ],
  } as const
  const since = (s: number) => 1_700_000_000_000 + s
  const moved = Object.fromEntries(
    Object.entries(parts).map(([part, all]) => [part, all.map(([t, s]) => [t, since(s)] as const)]),
  )

  expect(editsOf(summary(moved))).toEqual([
    { text: 'a', at: timestamp(since(3_000)) },
    { text: 'x', at: timestamp(since(4_000)) },
    { text: 'b', at: timestamp(since(5_000)) },
  ])
  for (const damaged of [new Uint8Array(), Uint8Array.of(1, 2, 3), summary({}).subarray(0, 40)]) {
    expect(editsOf(damaged)).toEqual([])
    expect(isWhollyRetracted(damaged)).toBe(false)
  }
})
