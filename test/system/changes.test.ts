import { expect, test } from 'bun:test'

import { ChangeFeed, type Change } from '../../src/system/change-feed.ts'
import { Signal } from '../../src/system/signal.ts'
import { TestClock } from '../support/test-clock.ts'
import { seededRandom } from '../support/test-relay.ts'

const MESSAGE: Change = { what: 'message', id: 'msg_1', conversationId: 'conv_1' }
const LINE: Change = { what: 'line', id: 'line_1' }

function watched() {
  const clock = new TestClock()
  const changes = new ChangeFeed({ clock, random: seededRandom(1) })
  const unwatch = changes.watch(new Signal())
  return { clock, changes, unwatch, start: changes.position }
}

function numbered(count: number, from = 0): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({
    what: 'message',
    id: `msg_${from + index}`,
  }))
}

test('a published change is there a tenth of a second later, in order, each with its position', async () => {
  const { clock, changes, start } = watched()
  const [epoch] = start.split('-')

  changes.publish([MESSAGE])
  changes.publish([LINE])
  await clock.advance(99)
  const before = changes.since(start)
  await clock.advance(1)

  expect(before).toEqual([])
  expect(changes.since(start)).toEqual([
    { change: MESSAGE, position: `${epoch}-1` },
    { change: LINE, position: `${epoch}-2` },
  ])
  expect(changes.since(`${epoch}-1`)).toEqual([{ change: LINE, position: `${epoch}-2` }])
  expect(changes.since(`${epoch}-2`)).toEqual([])
})

test('many changes of one thing are one, and one more after that is another', async () => {
  const { clock, changes, start } = watched()

  for (let i = 0; i < 50; i += 1) changes.publish([MESSAGE])
  await clock.advance(100)
  changes.publish([MESSAGE])
  await clock.advance(100)

  expect(changes.since(start)?.map(({ change }) => change)).toEqual([MESSAGE, MESSAGE])
})

test('a watcher is woken by news, and nothing is taken down before there is one', async () => {
  const clock = new TestClock()
  const changes = new ChangeFeed({ clock, random: seededRandom(1) })
  const wake = new Signal()

  changes.publish([LINE])
  const wasWatched = changes.isWatched
  changes.watch(wake)
  await clock.advance(100)
  const first = changes.position
  const woken = [wake.isNotified]
  changes.publish([MESSAGE])
  woken.push(wake.isNotified)
  await clock.advance(100)
  woken.push(wake.isNotified)

  expect([wasWatched, changes.isWatched]).toEqual([false, true])
  expect(first).toMatch(/^[0-9a-f]{12}-0$/)
  expect(woken).toEqual([false, false, true])
  expect(changes.since(first)?.map(({ change }) => change)).toEqual([MESSAGE])
})

test('a watcher that comes back within a minute of the last one goes on where it was', async () => {
  const { clock, changes, unwatch, start } = watched()
  const unwatchOther = changes.watch(new Signal())

  unwatch()
  unwatch()
  await clock.advance(120_000)
  const watchersBefore = changes.watcherCount
  unwatchOther()
  await clock.advance(59_000)
  changes.publish([MESSAGE])
  await clock.advance(100)
  changes.watch(new Signal())
  await clock.advance(3_600_000)

  expect([watchersBefore, changes.watcherCount, changes.isWatched]).toEqual([1, 1, true])
  expect(changes.since(start)?.map(({ change }) => change)).toEqual([MESSAGE])
})

test('one that comes back later must read afresh: nobody took down what it missed', async () => {
  const { clock, changes, unwatch, start } = watched()

  unwatch()
  await clock.advance(60_000)
  const wasWatched = changes.isWatched
  changes.publish([MESSAGE])
  await clock.advance(100)
  changes.watch(new Signal())

  expect(wasWatched).toBe(false)
  expect(changes.since(start)).toBeNull()
})

test('ten thousand changes are published again, one more is too many, and they are the right ones ever after', async () => {
  const { clock, changes, start } = watched()
  const [epoch] = start.split('-')
  const publish = async (thousands: number, from: number) => {
    for (let i = from; i < from + thousands * 1_000; i += 1_000) {
      changes.publish(numbered(1_000, i))
      await clock.advance(100)
    }
  }

  await publish(10, 0)
  const all = changes.since(start)
  await publish(25, 10_000)
  const last = changes.since(`${epoch}-25000`)

  expect([all?.length, last?.length]).toEqual([10_000, 10_000])
  expect([all?.at(-1), last?.[0]]).toEqual([
    { change: { what: 'message', id: 'msg_9999' }, position: `${epoch}-10000` },
    { change: { what: 'message', id: 'msg_25000' }, position: `${epoch}-25001` },
  ])
  expect(changes.since(`${epoch}-24999`)).toBeNull()
})

test('a rush is one word, read afresh, once a second while it lasts; then changes come one by one again', async () => {
  const { clock, changes, start } = watched()

  changes.publish(numbered(1_001))
  await clock.advance(100)
  const afterRush = changes.position
  changes.publish(numbered(1_001))
  await clock.advance(999)
  const meanwhile = changes.since(afterRush)
  await clock.advance(1)
  const atTheEnd = [start, afterRush].map((position) => changes.since(position))
  changes.publish([LINE])
  await clock.advance(1_000)
  const position = changes.position
  changes.publish([MESSAGE])
  await clock.advance(100)

  expect(afterRush).not.toBe(start)
  expect(meanwhile).toEqual([])
  expect(atTheEnd).toEqual([null, null])
  expect(changes.since(position)?.map(({ change }) => change)).toEqual([MESSAGE])
})

test('a position that is not of this start, or none at all, must read afresh', async () => {
  const { clock, changes, start } = watched()
  const [epoch] = start.split('-')
  changes.publish([MESSAGE])
  await clock.advance(100)

  const odd = ['', '-', '-0', `${epoch}`, `${epoch}-`, `${epoch}-2`, `${epoch}--1`, `${epoch}-1e0`]

  expect(odd.map((position) => changes.since(position))).toEqual(odd.map(() => null))
  expect(changes.since('000000000000-0')).toBeNull()
})
