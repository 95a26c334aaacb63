// Which rows of chat.db a Mac line waits for, for how long, and whom that keeps back.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { checkpointText, readCheckpoint } from '../../../../src/lines/kinds/mac/reading.ts'
import { messagesOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig } from '../../../contract/mac-rig.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'

const FRIEND = '+15550001111'

/** Published texts in order, marked where they are history. */
function publishedOf(events: readonly LineEvent[]): readonly string[] {
  return messagesOf(events).map(({ text, isHistory }) => (isHistory ? `${text} (history)` : text))
}

test('a row that waits for its chat keeps back who wrote it, and nobody else', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const { file } = rig.model
  const at = rig.clock.now()
  const waiting = file.addMessage({ at, text: 'first', handle_id: file.addHandle(FRIEND) })
  file.receive({ from: FRIEND, text: 'second', at })
  writeOwn(file, { to: FRIEND, text: 'typed', at })
  file.receive({ from: '+15550002222', text: 'somebody else', at })
  await rig.clock.advance(1_000)
  const early = publishedOf(line.events)
  file.joinChat(waiting.rowId, file.directChat(FRIEND))
  await rig.clock.advance(1_000)

  expect(early).toEqual(['typed', 'somebody else'])
  expect(publishedOf(line.events).slice(2)).toEqual(['first', 'second'])
})

test('a row that turns out to be of no use is not waited for any more, also after a crash', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const { file } = rig.model
  const row = file.addMessage({ at: rig.clock.now(), text: 'hello', handle_id: 0 })
  await rig.clock.advance(1_000)
  const before = readCheckpoint(line.checkpoint())?.incomplete
  file.joinChat(row.rowId, file.addChat({ identifier: 'chat831', style: 43 }))
  await rig.clock.advance(1_000)

  expect([before, readCheckpoint(line.checkpoint())?.incomplete]).toEqual([[row.rowId], []])
  expect(publishedOf(line.events)).toEqual([])
})

test('who wrote a row without a chat is kept back for ten seconds, and nobody for longer', async () => {
  using rig = makeMacRig()
  await using line = await runLine(rig, rig.driver)

  const { file } = rig.model
  const at = rig.clock.now()
  file.addMessage({ at, text: 'without a chat', handle_id: file.addHandle(FRIEND) })
  file.receive({ from: FRIEND, text: 'with one', at })
  const published: (readonly string[])[] = []
  for (const ms of [9_800, 400, 49_500, 500]) {
    await rig.clock.advance(ms)
    published.push(publishedOf(line.events))
  }

  expect(published).toEqual([[], ['with one'], ['with one'], ['with one', 'without a chat']])
})

test('a row that waits for its chat is waited for after a crash too, and told once', async () => {
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
  const now = rig.clock.now()
  const start = { rowId: 0, incomplete: [], sequence: 0, lastRows: [], lastAt: now, healthyAt: now }
  const checkpoint = checkpointText({ ...start, since: now - 3_600_000 })
  await using line = await runLine(rig, rig.driver, { checkpoint })
  const { file } = rig.model
  const at = now - 11 * 60_000

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
