// A list that is read page by page while it changes. The relay is a list in memory here; that updates
// arrive at all is tested with the stream of events.

import { expect, test } from 'bun:test'

import { Feed, type FeedSource, HEAD_MAX } from '../../src/dashboard/feed.ts'
import { TestClock } from '../support/test-clock.ts'
import { listOf, ok, pageClock, FakeUpdates, UNREACHABLE } from './page-rig.ts'

type Item = { readonly id: string; readonly text: string }

test('the first page is read at once, and each next one once, when it is wanted', async () => {
  const rig = rigOf(120)

  await rig.clock.advance(0)
  const first = rig.shown()
  await Promise.all([rig.feed.readMore(), rig.feed.readMore()])
  await rig.feed.readMore()
  await rig.feed.readMore()

  expect(first).toHaveLength(50)
  expect(rig.shown()).toEqual(rig.items.map(({ id }) => id))
  expect(rig.asked).toEqual(['page null 50', 'page item_49 50', 'page item_99 50'])
})

test('no more entries are kept than the bound, and then there is no next page', async () => {
  const rig = rigOf(400, { countMax: 100 })
  await rig.clock.advance(0)

  await rig.feed.readMore()
  await rig.feed.readMore()

  expect(rig.shown()).toHaveLength(100)
})

test('an entry that changed, and no other, is read again by itself, and stays where it is', async () => {
  const rig = rigOf(60)
  await rig.clock.advance(0)

  rig.changes.emit({ what: 'webhook', id: 'item_1' })
  rig.change('item_3', 'changed')
  await rig.clock.advance(1_000)

  expect(rig.asked).toEqual(['page null 50', 'one item_3'])
  expect(rig.shown()).toEqual(rig.items.slice(0, 50).map(({ id }) => id))
  expect(rig.textOf('item_3')).toBe('changed')
})

test('an entry that moves up goes to the head', async () => {
  const rig = rigOf(5, { movesUp: true })
  await rig.clock.advance(0)

  rig.change('item_3', 'changed')
  await rig.clock.advance(1_000)

  expect(rig.shown()).toEqual(['item_3', 'item_0', 'item_1', 'item_2', 'item_4'])
})

test('a new entry brings the head again, and what was loaded beyond it stays', async () => {
  const rig = rigOf(120)
  await rig.clock.advance(0)
  await rig.feed.readMore()

  rig.add('item_new')
  await rig.clock.advance(1_000)

  expect(rig.asked.at(-1)).toBe('page null 50')
  expect(rig.shown()).toHaveLength(101)
  expect(rig.shown()[0]).toBe('item_new')
})

test('where more is new than is read at once, the list starts over, without a gap', async () => {
  const rig = rigOf(60)
  await rig.clock.advance(0)

  for (let count = 0; count < 300; count += 1) rig.add(`item_new_${count}`)
  await rig.clock.advance(1_000)

  expect(rig.shown()).toEqual(rig.items.slice(0, 200).map(({ id }) => id))
})

test('while every entry is new, the list is read once a second, and no further than it is shown', async () => {
  const rig = rigOf(60, { headMax: 30 })
  await rig.clock.advance(0)

  for (let round = 0; round < 30; round += 1) {
    for (let count = 0; count < 60; count += 1) rig.add(`item_${round}_${count}`)
    await rig.clock.advance(100)
  }
  const during = rig.asked.slice(1)
  await rig.clock.advance(1_000)

  expect(during).toEqual(Array.from({ length: 3 }, () => 'page null 50'))
  expect(rig.shown()).toEqual(rig.items.slice(0, 50).map(({ id }) => id))
})

test('a list that grows at its head keeps a few hundred entries, and reads the others again by scrolling', async () => {
  const rig = rigOf(120)
  await rig.clock.advance(0)
  const lengths: number[] = []

  for (let round = 0; round < 40; round += 1) {
    for (let count = 0; count < 20; count += 1) rig.add(`item_${round}_${count}`)
    await rig.clock.advance(1_000)
    lengths.push(rig.shown().length)
  }
  while (rig.feed.now.value.state === 'ready' && rig.feed.now.value.nextCursor !== null) {
    await rig.feed.readMore()
  }

  expect(Math.max(...lengths)).toBeLessThanOrEqual(300)
  expect(rig.shown()).toEqual(rig.items.map(({ id }) => id))
})

test('a change far down is read with all that is above it, and the rest stays the same object', async () => {
  const rig = rigOf(120)
  await rig.clock.advance(0)
  await rig.feed.readMore()
  const before = rig.entries()

  for (const place of [3, 20, 61, 62]) rig.change(`item_${place}`, 'changed')
  await rig.clock.advance(1_000)
  const drawn = rig.entries().filter((entry) => !before.includes(entry))

  expect(rig.asked.at(-1)).toBe('page null 64')
  expect(drawn.map(({ id }) => id)).toEqual(['item_3', 'item_20', 'item_61', 'item_62'])
})

test('after a reset everything counts as old, also where the head is the same', async () => {
  const rig = rigOf(120)
  await rig.clock.advance(0)
  await rig.feed.readMore()

  rig.items.splice(80, 1, { id: 'item_80', text: 'changed unheard' })
  rig.changes.emit('reset')
  await rig.clock.advance(1_000)

  expect(rig.textOf('item_80')).toBe('changed unheard')
})

test('many changes are one reading, and a rush of them is read at a calm pace', async () => {
  const rig = rigOf(50)
  await rig.clock.advance(0)

  for (let round = 0; round < 20; round += 1) {
    for (let item = 0; item < 10; item += 1) rig.change(`item_${item}`, `round ${round}`)
    await rig.clock.advance(50)
  }
  await rig.clock.advance(1_000)

  expect(rig.textOf('item_9')).toBe('round 19')
  expect(rig.asked.length).toBeLessThan(8)
})

test('what could not be read is tried again until it can', async () => {
  const rig = rigOf(5, { isDown: true })
  await rig.clock.advance(0)
  const down = rig.feed.now.value
  rig.setDown(false)
  await rig.clock.advance(5_000)

  expect(down).toEqual({ state: 'failed', failure: UNREACHABLE })
  expect(rig.shown()).toHaveLength(5)
})

test('a change or a new entry that could not be read is not forgotten, and what is shown stays', async () => {
  const rig = rigOf(5)
  await rig.clock.advance(0)
  rig.setDown(true)
  rig.change('item_1', 'changed')
  await rig.clock.advance(1_000)
  const down = rig.shown()
  rig.setDown(false)
  await rig.clock.advance(10_000)
  const back = rig.textOf('item_1')
  rig.setDown(true)
  rig.add('item_new')
  await rig.clock.advance(1_000)
  rig.setDown(false)
  await rig.clock.advance(10_000)

  expect(down).toHaveLength(5)
  expect(back).toBe('changed')
  expect(rig.shown()[0]).toBe('item_new')
})

test('a page asked for before the list started over is not added to it; the one that fits is', async () => {
  const rig = rigOf(200)
  await rig.clock.advance(0)
  const answer = rig.holdPage()
  const more = rig.feed.readMore()
  for (let count = 0; count < 300; count += 1) rig.add(`item_new_${count}`)
  await rig.clock.advance(1_000)

  answer()
  await more

  expect(rig.shown()).toEqual(rig.items.slice(0, 250).map(({ id }) => id))
})

test('what an action made is shown without waiting for the change', async () => {
  const rig = rigOf(2)
  await rig.clock.advance(0)

  rig.items.unshift({ id: 'item_new', text: 'sent' })
  rig.feed.add({ id: 'item_new', text: 'queued' })
  const atOnce = [rig.shown(), rig.textOf('item_new')]
  await rig.clock.advance(1_000)

  expect(atOnce).toEqual([['item_new', 'item_0', 'item_1'], 'queued'])
  expect(rig.textOf('item_new')).toBe('sent')
})

test('the first answer to an action, repeated later, does not take back what is known since', async () => {
  const rig = rigOf(2)
  await rig.clock.advance(0)
  rig.change('item_1', 'failed')
  await rig.clock.advance(1_000)

  rig.feed.add({ id: 'item_1', text: 'queued' })
  const atOnce = rig.textOf('item_1')
  await rig.clock.advance(1_000)

  expect([atOnce, rig.textOf('item_1')]).toEqual(['failed', 'failed'])
})

test('a feed that is stopped listens and reads no more', async () => {
  const rig = rigOf(5)
  await rig.clock.advance(0)

  rig.feed.stop()
  rig.changes.emit('reset')
  await rig.clock.advance(10_000)

  expect(rig.changes.listenerCount).toBe(0)
  expect(rig.asked).toEqual(['page null 50'])
})

type Otherwise = {
  readonly countMax?: number
  readonly movesUp?: boolean
  readonly isDown?: boolean
  readonly headMax?: number
}

function rigOf(count: number, more: Otherwise = {}) {
  const items: Item[] = Array.from({ length: count }, (_, n) => ({ id: `item_${n}`, text: '' }))
  const asked: string[] = []
  let isDown = more.isDown ?? false
  let held = Promise.resolve()
  const source: FeedSource<Item> = {
    async page(cursor, limit) {
      asked.push(`page ${cursor} ${limit}`)
      if (cursor !== null) await held
      if (isDown) return { ok: false, failure: UNREACHABLE }
      const from = items.findIndex(({ id }) => id === cursor) + 1
      const data = items.slice(from, from + limit)
      return ok(listOf(structuredClone(data), from + limit < items.length ? data.at(-1)?.id : null))
    },
    async entry(id) {
      asked.push(`one ${id}`)
      const item = items.find((each) => each.id === id)
      if (isDown || item === undefined) return { ok: false, failure: UNREACHABLE }
      return ok(structuredClone(item))
    },
    idIn: ({ what, id }) => (what === 'message' ? id : null),
    movesUp: () => more.movesUp ?? false,
    countMax: more.countMax ?? 1_000,
    headMax: () => more.headMax ?? HEAD_MAX,
  }
  const clock = new TestClock()
  const changes = new FakeUpdates()
  const feed = new Feed(source, { live: changes, clock: pageClock(clock) })
  const entries = () => (feed.now.value.state === 'ready' ? feed.now.value.entries : [])
  return {
    feed,
    clock,
    changes,
    items,
    asked,
    entries,
    shown: () => entries().map(({ id }) => id),
    textOf: (id: string) => entries().find((each) => each.id === id)?.text,
    /** Lets the next pages wait; returns what ends that. */
    holdPage(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    setDown: (value: boolean) => (isDown = value),
    change(id: string, text: string) {
      items.splice(
        items.findIndex((each) => each.id === id),
        1,
        { id, text },
      )
      changes.emit({ what: 'message', id })
    },
    add(id: string) {
      items.unshift({ id, text: 'new' })
      changes.emit({ what: 'message', id })
    },
  }
}
