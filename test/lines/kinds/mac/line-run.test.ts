// What a Mac line does when its Mac wakes up, when an event of it could not be made durable, and when
// all is well for long.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { readCheckpoint } from '../../../../src/lines/kinds/mac/reading.ts'
import { messagesOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig } from '../../../contract/mac-rig.ts'

const FRIEND = '+15550001111'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

test('a Mac that woke up gives Messages five seconds before it sends', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.clock.step(HOUR_MS)
  await rig.clock.advance(100)
  const wokeUpAt = rig.clock.monotonic()
  let passedAt = 0

  await attended.send('hello', async () => {
    passedAt = rig.clock.monotonic()
    return true
  })

  expect(passedAt - wokeUpAt).toBeGreaterThan(4_900)
})

test('a database that was replaced while the Mac was asleep is noticed as soon as it is awake', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.model.receive(FRIEND, 'good night')
  await rig.clock.advance(1_000)

  rig.clock.step(HOUR_MS)
  void rig.model.play([{ t: 0, op: 'replace', keep: 10, order: 'oldest_first', into: 'new_file' }])
  rig.model.receive(FRIEND, 'good morning')
  await rig.clock.advance(200)

  expect(messagesOf(attended.events).at(-1)?.text).toBe('good morning')
})

test('an event that could not be made durable ends the line at once, and says why', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  let ended: unknown = 'not yet'
  void attended.ended().then((error) => (ended = error))

  attended.refuse(({ type }) => type === 'message')
  await rig.receive('hello')
  await rig.clock.advance(200)

  expect(ended).toEqual(new Error('not durable'))
})

test('nothing is told after an event that could not be made durable, also not of a send', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.model.nextSend('hang')
  const sending = attended.send('hello', async () => true).catch(() => null)
  await rig.clock.advance(1_000)

  attended.refuse(({ type }) => type === 'message')
  await rig.receive('hello')
  await rig.clock.advance(1_000)
  const count = attended.events.length
  await sending

  expect(attended.events.length).toBe(count)
})

test('a line that has ended holds its database open no longer', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  rig.model.receive(FRIEND, 'hello')
  await rig.clock.advance(1_000)

  await attended.end()
  rig.model.file.close()

  // Whoever closes a database last takes its write-ahead log away.
  expect(existsSync(`${rig.chatDbPath}-wal`)).toBe(false)
})

/** The line's last good moment, as its checkpoint has it, from its beginning. */
function goodMs(attended: Awaited<ReturnType<typeof runLine>>, startedAt: number): number {
  return (readCheckpoint(attended.checkpoint())?.healthyAt ?? 0) - startedAt
}

test('after a quarter of an hour without trouble the good moment moves on, and a sleep stops it', async () => {
  using rig = makeMacRig()
  const startedAt = rig.clock.now()
  await using attended = await runLine(rig, rig.driver)

  await rig.clock.advance(14 * MINUTE_MS)
  rig.model.receive(FRIEND, 'hello')
  await rig.clock.advance(1_000)
  const early = goodMs(attended, startedAt)
  await rig.clock.advance(2 * MINUTE_MS)
  const moved = goodMs(attended, startedAt)
  rig.clock.step(-HOUR_MS)
  await rig.clock.advance(1_000)
  rig.model.receive(FRIEND, 'hello again')
  await rig.clock.advance(1_000)
  const kept = goodMs(attended, startedAt)
  rig.clock.step(32 * HOUR_MS)
  await rig.clock.advance(200)
  rig.model.file.receive({ from: FRIEND, text: 'kept back', at: rig.clock.now() - 30 * HOUR_MS })
  await rig.clock.advance(1_000)

  expect(early).toBe(0)
  expect(moved).toBeGreaterThan(15 * MINUTE_MS)
  expect(kept).toBeGreaterThanOrEqual(moved)
  expect(messagesOf(attended.events).at(-1)).toMatchObject({ text: 'kept back', isHistory: false })
}, 20_000)

test('while the account has no connection the good moment stays where it was', async () => {
  using rig = makeMacRig()
  rig.model.account.isConnected = false
  const startedAt = rig.clock.now()
  await using attended = await runLine(rig, rig.driver)

  await rig.clock.advance(17 * MINUTE_MS)

  expect(goodMs(attended, startedAt)).toBe(0)
}, 20_000)
