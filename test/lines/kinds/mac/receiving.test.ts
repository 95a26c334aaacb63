// Rows of chat.db that a Mac line publishes, when, and as news or history. What it makes of each kind of row
// is in test/story/mac-rows.test.ts.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { checkpointText, readCheckpoint } from '../../../../src/lines/kinds/mac/checkpoint.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { messagesOf, receiptsOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { typedOnTheMac, type Fate } from '../../../support/mac/messages-behaviours.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

function leftOutOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'left_out' ? [event.leftOut.kind] : []))
}

/** Published texts in order, marked if they are history. */
function publishedOf(events: readonly LineEvent[]): readonly string[] {
  return messagesOf(events).map(({ text, isHistory }) => (isHistory ? `${text} (history)` : text))
}

test('what was on its way when the line was set up is news, what is older is history', async () => {
  using rig = makeMacRig()
  const now = rig.clock.now()
  await using line = await runLine(rig, rig.driver)

  rig.model.file.receive({ from: FRIEND, text: 'a minute ago', at: now - 60_000 })
  rig.model.file.receive({ from: FRIEND, text: 'long ago', at: now - 61_000 })
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['a minute ago', 'long ago (history)'])
})

test('the same text twice within a second is two messages', async () => {
  await using rig = await attendedMac()

  for (const ms of [0, 500]) {
    rig.model.file.receive({ from: FRIEND, text: 'ok', at: rig.clock.now() + ms })
  }
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events)).toEqual(['ok', 'ok'])
})

test('a body may be two seconds late if its row is finished, and ten if it is not', async () => {
  await using rig = await attendedMac()

  const { file } = rig.model
  const [finished, unfinished] = ['+15550002222', '+15550003333']
  for (const handle of [finished, unfinished]) {
    const row = file.addMessage({
      at: rig.clock.now(),
      handle_id: file.addHandle(handle),
      is_finished: handle === finished,
    })
    file.joinChat(row.rowId, file.directChat(handle))
  }
  const published: string[][] = []
  for (const ms of [1_900, 300, 7_500, 500]) {
    await rig.clock.advance(ms)
    published.push(messagesOf(rig.line.events).map(({ handle }) => handle))
  }

  expect(published).toEqual([[], [finished], [finished], [finished, unfinished]])
})

/** What a person types on the Mac, by what becomes of it: the messages, then the steps of all. */
const TYPED: readonly (readonly [Fate, readonly string[], readonly string[]])[] = [
  ['happy', ['see https://example.com'], ['delivered', 'read']],
  ['failed22_at_once', [], []],
  ['failed22_after_2s', [], []],
  ['fails_then_clears', ['see https://example.com'], ['delivered', 'read']],
  ['downgraded_to_sms', ['see https://example.com by SMS'], []],
  ['rcs', ['see https://example.com by RCS'], ['delivered', 'read']],
  ['misrouted', ['see https://example.com'], ['delivered', 'read']],
  ['url_split_in_two_rows', ['see', 'https://example.com'], ['delivered', 'read']],
  ['join_3s_late', ['see https://example.com'], ['delivered', 'read']],
]

test.each([...TYPED])(
  'what is typed on the Mac and ends as %s is reported',
  async (fate, texts, steps) => {
    await using rig = await attendedMac()

    const letter = { from: rig.model.number, to: FRIEND, text: 'see https://example.com' }
    void rig.model.play(typedOnTheMac(fate, letter))
    await rig.clock.advance(25_000)

    const messages = messagesOf(rig.line.events)
    const receipts = receiptsOf(rig.line.events).map(({ guid, kind }) => `${guid} ${kind}`)
    const by = ({ service }: { service: string }) =>
      service === 'iMessage' ? '' : ` by ${service}`
    expect(messages.map((message) => message.text + by(message))).toEqual([...texts])
    expect(messages.every(({ isFromMe, isHistory }) => isFromMe && !isHistory)).toBe(true)
    expect(receipts.filter((receipt) => !receipt.endsWith('sent')).toSorted()).toEqual(
      messages.flatMap(({ guid }) => steps.map((step) => `${guid} ${step}`)).toSorted(),
    )
    expect(leftOutOf(rig.line.events)).toEqual([])
  },
)

/** Of a line that has been well for a month, up to now. */
function goodCheckpoint({ clock }: MacRig): string {
  const now = clock.now()
  const start = { rowId: 0, incomplete: [], sequence: 0, lastRows: [], lastAt: now, healthyAt: now }
  return checkpointText({ ...start, since: now - 30 * DAY_MS })
}

test('a message that iCloud writes once more, under another guid, is published once', async () => {
  using rig = makeMacRig()
  const at = rig.clock.now() - 82 * MINUTE_MS
  await using line = await runLine(rig, rig.driver, { checkpoint: goodCheckpoint(rig) })

  // The youngest that was ever reported.
  for (let count = 0; count < 2; count += 1) {
    rig.model.file.receive({ from: FRIEND, text: 'hello', at })
    await rig.clock.advance(10_000)
  }

  expect(publishedOf(line.events)).toEqual(['hello'])
})

test('of many old messages at once none is news, and what comes after them is', async () => {
  using rig = makeMacRig()
  const at = rig.clock.now() - 120 * MINUTE_MS
  await using line = await runLine(rig, rig.driver, { checkpoint: goodCheckpoint(rig) })
  const texts = Array.from({ length: 60 }, (_, index) => `long ago ${index}`)

  const { file } = rig.model
  file.db.transaction(() => texts.forEach((text) => file.receive({ from: FRIEND, text, at })))()
  await rig.clock.advance(1_000)
  rig.model.receive(FRIEND, 'and now')
  await rig.clock.advance(1_000)

  const history = texts.map((text) => `${text} (history)`)
  expect(publishedOf(line.events)).toEqual([...history, 'and now'])
})

test('what is typed on the Mac and not sent yet keeps back nothing of whom it is to', async () => {
  await using rig = await attendedMac()

  const { file } = rig.model
  const at = rig.clock.now()
  writeOwn(file, { to: FRIEND, text: 'typed', at, is_sent: 0 })
  file.receive({ from: FRIEND, text: 'hello', at })
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events)).toEqual(['hello'])
})

test('no receipts are reported of what was typed long ago', async () => {
  await using rig = await attendedMac()

  const at = rig.clock.now() - 48 * 3_600_000
  writeOwn(rig.model.file, { to: FRIEND, text: 'long ago', at, is_delivered: 1 })
  await rig.clock.advance(1_000)

  expect(publishedOf(rig.line.events)).toEqual(['long ago (history)'])
  expect(receiptsOf(rig.line.events)).toEqual([])
})

test('a text that cannot be read is reported without it, and counted', async () => {
  await using rig = await attendedMac()

  const body = new Uint8Array([1, 2, 3])
  rig.model.receive(FRIEND, '', { attributedBody: body })
  await rig.clock.advance(3_000)
  const findings = await rig.driver.checkup(NEVER)

  expect(publishedOf(rig.line.events)).toEqual([''])
  expect(findings.map(({ code }) => code)).toEqual(['undecodable_bodies'])
})

test('what we wrote from another address of ours is our own, even if that came later', async () => {
  using rig = makeMacRig()
  rig.model.receive(FRIEND, 'hello')
  await using line = await runLine(rig, rig.driver)
  const address = 'me@example.com'
  const { file } = rig.model

  const typed = { to: FRIEND, text: 'typed', at: rig.clock.now(), destination_caller_id: address }
  writeOwn(file, typed)
  await rig.clock.advance(601_000)
  file.receive({ from: address, text: 'to myself', at: rig.clock.now() })
  file.receive({ from: FRIEND, text: 'well', at: rig.clock.now() })
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['typed', 'well'])
})

// Which rows are waited for, for how long, and whom that keeps back.

test('a row that waits for its chat keeps back who wrote it, and nobody else', async () => {
  await using rig = await attendedMac()

  const { file } = rig.model
  const at = rig.clock.now()
  const waiting = file.addMessage({ at, text: 'first', handle_id: file.addHandle(FRIEND) })
  file.receive({ from: FRIEND, text: 'second', at })
  writeOwn(file, { to: FRIEND, text: 'typed', at })
  file.receive({ from: '+15550002222', text: 'somebody else', at })
  await rig.clock.advance(1_000)
  const early = publishedOf(rig.line.events)
  file.joinChat(waiting.rowId, file.directChat(FRIEND))
  await rig.clock.advance(1_000)

  expect(early).toEqual(['typed', 'somebody else'])
  expect(publishedOf(rig.line.events).slice(2)).toEqual(['first', 'second'])
})

test('a row that turns out to be of no use is not waited for any more, also after a crash', async () => {
  await using rig = await attendedMac()

  const { file } = rig.model
  const row = file.addMessage({ at: rig.clock.now(), text: 'hello', handle_id: 0 })
  await rig.clock.advance(1_000)
  const before = readCheckpoint(rig.line.checkpoint())?.incomplete
  file.joinChat(row.rowId, file.addChat({ identifier: 'chat831', style: 43 }))
  await rig.clock.advance(1_000)

  expect([before, readCheckpoint(rig.line.checkpoint())?.incomplete]).toEqual([[row.rowId], []])
  expect(publishedOf(rig.line.events)).toEqual([])
})

test('who wrote a row without a chat is kept back for ten seconds, and nobody for longer', async () => {
  await using rig = await attendedMac()

  const { file } = rig.model
  const at = rig.clock.now()
  file.addMessage({ at, text: 'without a chat', handle_id: file.addHandle(FRIEND) })
  file.receive({ from: FRIEND, text: 'with one', at })
  const published: (readonly string[])[] = []
  for (const ms of [9_800, 400, 49_500, 500]) {
    await rig.clock.advance(ms)
    published.push(publishedOf(rig.line.events))
  }

  expect(published).toEqual([[], ['with one'], ['with one'], ['with one', 'without a chat']])
})

test('a row that waits for its chat is waited for after a crash too, and reported once', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const { file } = rig.model
  const handle = file.addHandle(FRIEND)
  const rows = ['direct', 'of a group', 'of nobody knows'].map((text) =>
    file.addMessage({ at: rig.clock.now(), text, handle_id: handle }),
  )
  await rig.clock.advance(30_000)
  await first.end()

  file.joinChat(rows[1]?.rowId ?? 0, file.addChat({ identifier: 'chat831', style: 43 }))
  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
  await rig.clock.advance(30_000)
  file.joinChat(rows[0]?.rowId ?? 0, file.addChat({ identifier: 'somebody-else' }))
  await rig.clock.advance(35_000)
  const checkpoint = readCheckpoint(second.checkpoint())
  await second.end()

  expect(messagesOf(first.events)).toEqual([])
  expect(messagesOf(second.events)).toMatchObject([
    { text: 'of a group', withheld: null, group: { identifier: 'chat831' } },
    { text: 'direct', withheld: null, group: undefined },
    { text: 'of nobody knows', withheld: 'unplaced' },
  ])
  expect(checkpoint?.incomplete).toEqual([])
})

test('an old row that is looked at again and again is no back-fill', async () => {
  using rig = makeMacRig()
  const checkpoint = goodCheckpoint(rig)
  await using line = await runLine(rig, rig.driver, { checkpoint })
  const { file } = rig.model
  const at = rig.clock.now() - 11 * MINUTE_MS

  file.addMessage({ at, text: 'old', handle_id: file.addHandle(FRIEND) })
  await rig.clock.advance(5_000)
  file.receive({ from: '+15550002222', text: 'as old', at })
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['as old'])
})

test('what is scheduled on the Mac is listed when it goes out, also after a crash, and keeps back nothing', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  const { file } = rig.model
  const at = rig.clock.now()
  const scheduled = { is_sent: 0, is_finished: 0, schedule_type: 2 }
  const { rowId } = writeOwn(file, { to: FRIEND, text: 'happy birthday', at, ...scheduled })
  file.receive({ from: FRIEND, text: 'hello', at })
  await rig.clock.advance(60_000)
  await first.end()

  await using second = await runLine(rig, rig.restart(), { checkpoint: first.checkpoint() })
  await rig.clock.advance(120_000)
  const before = publishedOf(second.events)
  file.set(rowId, { is_sent: 1, is_finished: 1, at: rig.clock.now() })
  await rig.clock.advance(1_000)

  expect(publishedOf(first.events)).toEqual(['hello'])
  expect(before).toEqual([])
  expect(messagesOf(second.events)).toMatchObject([{ text: 'happy birthday', isFromMe: true }])
})
