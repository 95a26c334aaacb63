// What a box may do to the head and to its lines if somebody has taken it: fill the memory and the disk.

import { expect, test } from 'bun:test'

import { NEVER } from '../../src/system/clock.ts'
import { HostileBox } from './hostile-box.ts'
import { Stage } from './stage.ts'

const MB = 1_000_000

/** An item of almost a megabyte, most of it in a field that nobody knows. */
function bigItem(seq: number) {
  const event = { type: 'checkpoint', checkpoint: String(seq), padding: 'p'.repeat(900_000) }
  return { type: 'event', event }
}

const checkpointsOf = (events: readonly object[]) =>
  events.flatMap((event) => ('checkpoint' in event ? [Number(event.checkpoint)] : []))

test('items that come too early wait up to a length, and come again in order', async () => {
  using stage = await Stage.running()
  const hostile = new HostileBox(stage.rig)
  await hostile.hello()
  const lines = []
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) lines.push(await hostile.run(key, NEVER))
  const say = (session: string, seq: number) => hostile.item(session, seq, bigItem(seq))

  for (const session of hostile.sessions) {
    for (let seq = 2; seq <= 40; seq += 1) void say(session, seq)
  }
  await stage.clock.advance(0)
  const [first = ''] = hostile.sessions
  expect(stage.rig.fleet.waitingLength(hostile.id)).toBeGreaterThan(20 * MB)
  expect(stage.rig.fleet.waitingLength(hostile.id)).toBeLessThanOrEqual(32 * MB)
  void say(first, 1)
  await stage.clock.advance(0)
  expect(checkpointsOf(lines[0] ?? [])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  const answers = []
  for (let seq = 1; seq <= 40; seq += 1) {
    const answer = say(first, seq)
    await stage.clock.advance(0)
    answers.push(await answer)
  }

  expect(answers).toEqual(Array(40).fill({ isTaken: true }))
  expect(checkpointsOf(lines[0] ?? [])).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)
  expect(sent.outcome?.outcome).toBe('accepted')
})
