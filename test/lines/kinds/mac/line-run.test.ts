// What a Mac line does when its Mac wakes up, when an event of it could not be made durable, and when
// all is well for long.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { readCheckpoint } from '../../../../src/lines/kinds/mac/checkpoint.ts'
import { messagesOf, runLine, settledOf } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig } from '../../../contract/mac-rig.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

test('a Mac that woke up gives Messages five seconds before it sends', async () => {
  await using rig = await attendedMac()
  rig.clock.step(HOUR_MS)
  await rig.clock.advance(100)
  const wokeUpAt = rig.clock.monotonic()
  let passedAt = 0

  await rig.line.send('hello', async () => {
    passedAt = rig.clock.monotonic()
    return true
  })

  expect(passedAt - wokeUpAt).toBeGreaterThan(4_900)
})

test('a database that was replaced while the Mac was asleep is noticed as soon as it is awake', async () => {
  await using rig = await attendedMac()
  rig.model.receive(FRIEND, 'good night')
  await rig.clock.advance(1_000)

  rig.clock.step(HOUR_MS)
  rig.model.replace({ keep: 10, order: 'oldest_first', into: 'new_file' })
  rig.model.receive(FRIEND, 'good morning')
  await rig.clock.advance(200)

  expect(messagesOf(rig.line.events).at(-1)?.text).toBe('good morning')
})

test('nothing is reported after an event that could not be made durable, also not of a send', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('hang')
  const sending = rig.line.send('hello', async () => true).catch(() => null)
  await rig.clock.advance(1_000)

  rig.line.refuse(({ type }) => type === 'message')
  await rig.receive('hello')
  await rig.clock.advance(1_000)
  const count = rig.line.events.length
  await sending

  expect(rig.line.events.length).toBe(count)
})

test('a send that is under way when the line ends is proven by its row all the same', async () => {
  await using rig = await attendedMac()
  const leaving = new AbortController()

  const outcome = await rig.line.send(
    'hello',
    async () => {
      leaving.abort()
      rig.line.abort()
      return true
    },
    leaving.signal,
  )

  expect(outcome).toMatchObject({ outcome: 'accepted' })
})

test('the row of a send that comes hours late, after the Mac has slept, is no message that was typed', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('no_row')
  const outcome = await rig.line.send('hello', async () => true)
  rig.clock.step(8 * HOUR_MS)
  await rig.clock.advance(1_000)

  const { file } = rig.model
  const own = { is_from_me: 1, is_sent: 1, text: 'hello', at: rig.clock.now() }
  const { rowId } = file.addMessage({ ...own, handle_id: file.addHandle(rig.recipient) })
  file.joinChat(rowId, file.directChat(rig.recipient))
  await rig.clock.advance(10_000)

  expect(outcome.outcome).toBe('unknown')
  expect(messagesOf(rig.line.events)).toEqual([])
  expect(settledOf(rig.line.events)).toMatchObject([{ outcome: { outcome: 'accepted' } }])
})

test('a line that has ended holds its database open no longer', async () => {
  await using rig = await attendedMac()
  rig.model.receive(FRIEND, 'hello')
  await rig.clock.advance(1_000)

  await rig.line.end()
  rig.model.file.close()

  // The last connection to close a database removes its write-ahead log.
  expect(existsSync(`${rig.chatDbPath}-wal`)).toBe(false)
})

/** The line's last good moment, as its checkpoint has it, from its beginning. */
function goodMs(line: Awaited<ReturnType<typeof runLine>>, startedAt: number): number {
  return (readCheckpoint(line.checkpoint())?.healthyAt ?? 0) - startedAt
}

test('after a quarter of an hour without trouble the good moment moves on, and a sleep stops it', async () => {
  using rig = makeMacRig()
  const startedAt = rig.clock.now()
  await using line = await runLine(rig, rig.driver)

  await rig.clock.advance(14 * MINUTE_MS)
  rig.model.receive(FRIEND, 'hello')
  await rig.clock.advance(1_000)
  const early = goodMs(line, startedAt)
  await rig.clock.advance(2 * MINUTE_MS)
  const moved = goodMs(line, startedAt)
  rig.clock.step(-HOUR_MS)
  await rig.clock.advance(1_000)
  rig.model.receive(FRIEND, 'hello again')
  await rig.clock.advance(1_000)
  const kept = goodMs(line, startedAt)
  rig.clock.step(32 * HOUR_MS)
  await rig.clock.advance(200)
  rig.model.file.receive({ from: FRIEND, text: 'kept back', at: rig.clock.now() - 30 * HOUR_MS })
  await rig.clock.advance(1_000)

  expect(early).toBe(0)
  expect(moved).toBeGreaterThan(15 * MINUTE_MS)
  expect(kept).toBeGreaterThanOrEqual(moved)
  expect(messagesOf(line.events).at(-1)).toMatchObject({ text: 'kept back', isHistory: false })
}, 180_000)

test('while the account has no connection the good moment stays where it was', async () => {
  using rig = makeMacRig()
  rig.model.account.isConnected = false
  const startedAt = rig.clock.now()
  await using line = await runLine(rig, rig.driver)

  await rig.clock.advance(17 * MINUTE_MS)

  expect(goodMs(line, startedAt)).toBe(0)
}, 180_000)
