// Rows of chat.db that a Mac line publishes, when, and as news or history. What it makes of each kind of row
// is in test/story/mac-rows.test.ts.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { checkpointText } from '../../../../src/lines/kinds/mac/reading.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { messagesOf, receiptsOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { typedOnTheMac, type Fate } from '../../../support/mac/messages-behaviours.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

function leftOutOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'left_out' ? [event.leftOut.kind] : []))
}

/** Published texts in order, marked where they are history. */
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
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  for (const ms of [0, 500]) {
    rig.model.file.receive({ from: FRIEND, text: 'ok', at: rig.clock.now() + ms })
  }
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['ok', 'ok'])
})

test('a body may be two seconds late where its row is finished, and ten where it is not', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

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
    published.push(messagesOf(line.events).map(({ handle }) => handle))
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
  'what is typed on the Mac and ends as %s is told',
  async (fate, texts, steps) => {
    using rig = makeMacRig()
    await using line = await runLine(rig, rig.driver)

    const letter = { from: rig.model.number, to: FRIEND, text: 'see https://example.com' }
    void rig.model.play(typedOnTheMac(fate, letter))
    await rig.clock.advance(25_000)

    const messages = messagesOf(line.events)
    const receipts = receiptsOf(line.events).map(({ guid, kind }) => `${guid} ${kind}`)
    const by = ({ service }: { service: string }) =>
      service === 'iMessage' ? '' : ` by ${service}`
    expect(messages.map((message) => message.text + by(message))).toEqual([...texts])
    expect(messages.every(({ isFromMe, isHistory }) => isFromMe && !isHistory)).toBe(true)
    expect(receipts.filter((receipt) => !receipt.endsWith('sent')).toSorted()).toEqual(
      messages.flatMap(({ guid }) => steps.map((step) => `${guid} ${step}`)).toSorted(),
    )
    expect(leftOutOf(line.events)).toEqual([])
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
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const { file } = rig.model
  const at = rig.clock.now()
  writeOwn(file, { to: FRIEND, text: 'typed', at, is_sent: 0 })
  file.receive({ from: FRIEND, text: 'hello', at })
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['hello'])
})

test('no receipts are told of what was typed long ago', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const at = rig.clock.now() - 48 * 3_600_000
  writeOwn(rig.model.file, { to: FRIEND, text: 'long ago', at, is_delivered: 1 })
  await rig.clock.advance(1_000)

  expect(publishedOf(line.events)).toEqual(['long ago (history)'])
  expect(receiptsOf(line.events)).toEqual([])
})

test('a text that cannot be read is told without it, and counted', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const body = new Uint8Array([1, 2, 3])
  rig.model.receive(FRIEND, '', { attributedBody: body })
  await rig.clock.advance(3_000)
  const findings = await rig.driver.checkup(NEVER)

  expect(publishedOf(line.events)).toEqual([''])
  expect(findings.map(({ code }) => code)).toEqual(['undecodable_bodies'])
})

test('what we wrote from another address of ours is our own, also where that came later', async () => {
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
