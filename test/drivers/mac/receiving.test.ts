// Which rows of chat.db a Mac line tells, when, and whether as news; beside the traces, the borders
// between one and the other.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../src/domain/driver.ts'
import { attend, messagesOf } from '../../contract/line-rig.ts'
import { makeMacRig } from '../../contract/mac-rig.ts'

const FRIEND = '+15550001111'

/** What was told, in order: each text, marked where it is history. */
function toldOf(events: readonly LineEvent[]): readonly string[] {
  return messagesOf(events).map(({ text, isHistory }) => (isHistory ? `${text} (history)` : text))
}

test('what was on its way when the line was set up is news, what is older is history', async () => {
  const rig = makeMacRig()
  const now = rig.clock.now()
  const attended = await attend(rig, rig.driver)

  rig.model.file.receive({ from: FRIEND, text: 'a minute ago', at: now - 60_000 })
  rig.model.file.receive({ from: FRIEND, text: 'long ago', at: now - 61_000 })
  await rig.clock.advance(1_000)

  expect(toldOf(attended.events)).toEqual(['a minute ago', 'long ago (history)'])
  await attended.end()
  rig.close()
})

test('the same text twice within a second is two messages', async () => {
  const rig = makeMacRig()
  const attended = await attend(rig, rig.driver)

  for (const ms of [0, 500]) {
    rig.model.file.receive({ from: FRIEND, text: 'ok', at: rig.clock.now() + ms })
  }
  await rig.clock.advance(1_000)

  expect(toldOf(attended.events)).toEqual(['ok', 'ok'])
  await attended.end()
  rig.close()
})

test('a row that names no handle is from whom its chat is with', async () => {
  const rig = makeMacRig()
  const attended = await attend(rig, rig.driver)

  const { file } = rig.model
  const row = file.addMessage({ at: rig.clock.now(), text: 'hello' })
  file.joinChat(row.rowId, file.directChat(FRIEND))
  await rig.clock.advance(1_000)

  expect(messagesOf(attended.events)).toMatchObject([{ handle: FRIEND, text: 'hello' }])
  await attended.end()
  rig.close()
})

test('a body may be two seconds late where its row is finished, and ten where it is not', async () => {
  const rig = makeMacRig()
  const attended = await attend(rig, rig.driver)

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
  const told: string[][] = []
  for (const ms of [1_900, 300, 7_500, 500]) {
    await rig.clock.advance(ms)
    told.push(messagesOf(attended.events).map(({ handle }) => handle))
  }

  expect(told).toEqual([[], [finished], [finished], [finished, unfinished]])
  await attended.end()
  rig.close()
})
