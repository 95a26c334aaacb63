// Walks over more conversations than the screen shows: whatever comes in between, everyone who wrote is reported,
// once, and what was there before the line is not opened.

import { describe, expect, test } from 'bun:test'

import { readScreen } from '../../../../../src/lines/kinds/iphone/screens/messages-screen.ts'
import { makeUiRig, NEVER, run, textsOf, type UiRig } from '../../../../support/iphone/ui-rig.ts'

const HISTORY = Array.from({ length: 24 }, (_, index) => `+1202555${4_000 + index}`)
/** One who wrote before the line, far up in the list. */
const KNOWN = HISTORY[3] ?? ''
const CELLS = 9

function people(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `+1202555${6_000 + index}`)
}

/** A line on a phone with conversations from before it, whose first poll is over. */
async function makeLine(change: (rig: UiRig) => void = () => {}): Promise<UiRig> {
  const rig = makeUiRig()
  for (const [index, key] of HISTORY.entries()) {
    rig.phone.receive(key, `old ${index}`, { agoMs: (index + 1) * 3_600_000 })
    rig.phone.chat(key).isUnread = false
  }
  change(rig)
  await rig.poll()
  await rig.clock.advance(120_000)
  return rig
}

async function writeAll(rig: UiRig, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    rig.phone.receive(key, `from ${key}`)
    await rig.clock.advance(10)
  }
}

/** Polls as a line does, a failed one included. */
async function pollFor(rig: Pick<UiRig, 'poll'> & Partial<UiRig>, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i += 1) {
    await rig.poll().catch(() => {})
    await rig.clock?.advance(3_000)
  }
}

function expectTold(rig: UiRig, keys: readonly string[]): void {
  expect(textsOf(rig).toSorted()).toEqual(keys.map((key) => `< from ${key}`).toSorted())
  expect(rig.reader.memory.walks.isUnfinished).toBe(false)
}

test.each([1, 2, CELLS, 16, 40, 120])(
  'of %i conversations all are reported, though an old one rises above them in the middle',
  async (count) => {
    const rig = await makeLine()
    const keys = people(count)
    await writeAll(rig, keys)
    let isSent = false
    rig.commands.meddle = () => {
      if (!isSent && rig.told.messages.length >= count / 2) {
        isSent = true
        rig.phone.write(KNOWN, 'ours')
      }
      return null
    }

    await pollFor(rig, 3)

    const others = rig.told.messages.filter(({ isFromMe }) => !isFromMe)
    expect(others.map(({ text }) => text).toSorted()).toEqual(
      keys.map((key) => `from ${key}`).toSorted(),
    )
  },
  120_000,
)

test('a send in the middle of a burst hides none of it', async () => {
  const rig = await makeLine()
  const keys = people(16)
  await writeAll(rig, keys)

  const polling = rig.poll()
  const sending = rig.send('ours', { to: rig.reader.memory.handles[0] ?? (KNOWN as never) })
  await Promise.all([polling, sending])
  await pollFor(rig, 2)

  expectTold(rig, keys)
  expect(rig.phone.carried('ours')).toBe(1)
})

describe('sixteen conversations are reported, once each,', () => {
  const keys = people(16)

  test.each(['before', 'after'] as const)(
    'if any one of the taps fails, %s it was done',
    async (when) => {
      for (let failing = 0; failing < 20; failing += 1) {
        const rig = await makeLine()
        await writeAll(rig, keys)
        let taps = -1
        rig.commands.meddle = (name) => {
          if (name === 'tap') taps += 1
          return name === 'tap' && taps === failing ? { how: 'error', when } : null
        }

        await pollFor(rig, 4)

        expectTold(rig, keys)
      }
    },
    120_000,
  )

  test('if the process is killed at any step', async () => {
    for (let step = 0; step < 160; step += 7) {
      const rig = await makeLine()
      await writeAll(rig, keys)
      const first = rig.commands.names.length
      rig.commands.meddle = (_name, at) => {
        if (at - first === step) rig.kill()
        return null
      }

      // A killed process never comes to its end.
      void rig.poll().catch(() => {})
      await rig.clock.advance(200_000)
      const next = rig.restart()
      await pollFor({ ...next, clock: rig.clock }, 3)

      expect(textsOf(rig).toSorted()).toEqual(keys.map((key) => `< from ${key}`).toSorted())
      expect(next.reader.memory.walks.isUnfinished).toBe(false)
    }
  }, 120_000)

  test.each<readonly [string, (rig: UiRig) => void]>([
    [
      'if a chat is answered on another device meanwhile',
      ({ phone }) => phone.write(KNOWN, 'old 3'),
    ],
    [
      'if a conversation is pinned meanwhile',
      ({ phone }) => {
        phone.pinned = [KNOWN, HISTORY[5] ?? '']
      },
    ],
    [
      'if the owner has moved the list',
      ({ phone }) => {
        phone.listScroll = 12
      },
    ],
    [
      'if the list goes back to its top whenever a chat is left',
      ({ phone }) => {
        phone.keepsListPlace = false
      },
    ],
  ])('%s', async (_what, happens) => {
    const rig = await makeLine()
    await writeAll(rig, keys)
    let isDone = false
    rig.commands.meddle = () => {
      if (!isDone && rig.told.messages.length === 4) {
        isDone = true
        happens(rig)
      }
      return null
    }

    await pollFor(rig, 4)

    const others = rig.told.messages.filter(({ isFromMe }) => !isFromMe)
    expect(others.map(({ text }) => text).toSorted()).toEqual(keys.map((key) => `from ${key}`))
    expect(rig.phone.screen.on).toBe('list')
  })
})

test('cells of the list that are no conversations are not opened, and hide none', async () => {
  const rig = await makeLine(({ phone }) => {
    phone.listHeaders = ['Unknown Senders', 'Filters, 3 new']
  })
  const before = rig.commands.names.length
  await writeAll(rig, people(16))

  await pollFor(rig, 3)

  expectTold(rig, people(16))
  const taps = rig.commands.names.slice(before).filter((name) => name === 'tap')
  // Each is opened and left, and so are its details.
  expect(taps).toHaveLength(4 * 16)
})

test('nine pinned conversations that fill the screen hide nobody', async () => {
  const rig = await makeLine(({ phone }) => {
    phone.pinned = HISTORY.slice(10, 10 + CELLS)
  })

  for (const key of people(3)) {
    rig.phone.receive(key, `from ${key}`)
    await pollFor(rig, 1)
  }

  expectTold(rig, people(3))
})

test('a conversation that cannot be opened holds up nobody, and the walk counts as unfinished', async () => {
  const rig = await makeLine()
  const [stuck = '', ...others] = people(12).toReversed()
  await writeAll(rig, people(12))
  const open = rig.phone.open.bind(rig.phone)
  rig.phone.open = (key) => {
    if (key !== stuck) open(key)
  }

  await pollFor(rig, 4)
  const before = { texts: textsOf(rig).length, isOpen: rig.reader.memory.walks.isUnfinished }
  rig.phone.open = open
  await rig.clock.advance(60_000)
  await pollFor(rig, 2)

  expect(before).toEqual({ texts: others.length, isOpen: true })
  expectTold(rig, people(12))
})

test('what was there before the line is neither reported nor opened, however far the list is walked', async () => {
  const rig = await makeLine()
  const before = rig.commands.names.length

  // All that the screen showed at first has news: only the rest can be known.
  for (const key of HISTORY.slice(0, CELLS)) rig.phone.receive(key, `from ${key}`)
  await pollFor(rig, 2)

  expectTold(rig, HISTORY.slice(0, CELLS))
  const taps = rig.commands.names.slice(before).filter((name) => name === 'tap')
  // Each is opened and left, and so are its details.
  expect(taps).toHaveLength(4 * CELLS)
})

test('a line without news looks at the first page only, and once a minute at the others', async () => {
  const rig = await makeLine()
  await rig.poll()
  const before = rig.commands.names.length

  await pollFor(rig, 5)
  const quiet = rig.commands.names.slice(before)
  await rig.clock.advance(60_000)
  await rig.poll()

  expect(quiet).toEqual(['source', 'source', 'source', 'source', 'source'])
  expect(rig.commands.names.slice(before + quiet.length)).toContain('swipe')
})

test('the memory of an earlier version is walked on from, and what it has left unread is reported', async () => {
  const rig = await makeLine()
  const { fresh: _, about: __, ...stored } = JSON.parse(rig.told.memory ?? '{}')
  const earlier = { ...stored, marks: stored.marks.slice(0, CELLS) }
  const [lost = '', ...recent] = people(14)
  await writeAll(rig, [lost, ...recent])
  // The earlier version has read all but the one that is no longer on the first page.
  for (const key of recent) rig.phone.chat(key).isUnread = false
  const screen = readScreen(await run(rig.clock, rig.reader.agent.tree(NEVER)))
  const cells = screen.screen === 'list' ? screen.cells : []
  const marks = [...earlier.marks, ...cells.map(({ mark, name }) => [mark, name])]
  rig.told.memory = JSON.stringify({ ...earlier, marks })
  const before = rig.commands.names.length

  const next = rig.restart()
  await pollFor({ ...next, clock: rig.clock }, 3)

  expect(textsOf(rig)).toEqual([`< from ${lost}`])
  expect(rig.commands.names.slice(before).filter((name) => name === 'tap')).toHaveLength(4)
})

describe('while the first walk goes on,', () => {
  const [KNOWN_PERSON = '', NEW_PERSON = ''] = people(2)

  test.each<readonly [string, (rig: UiRig) => void]>([
    [
      'what the owner types to a person is reported',
      ({ phone }) => phone.write(KNOWN_PERSON, 'news'),
    ],
    [
      'what the owner types to a new person is reported',
      ({ phone }) => phone.write(NEW_PERSON, 'news'),
    ],
    [
      'what is read on another device is reported',
      ({ phone }) => {
        phone.receive(NEW_PERSON, 'news')
        phone.chat(NEW_PERSON).isUnread = false
      },
    ],
  ])(
    'on a phone that was empty, %s',
    async (_what, happens) => {
      for (let step = 1; step < 36; step += 1) {
        const rig = makeUiRig()
        await rig.poll()
        await rig.clock.advance(120_000)
        rig.phone.receive(KNOWN_PERSON, 'hello')
        const from = rig.commands.names.length
        rig.commands.meddle = (_name, at) => {
          if (at - from === step) happens(rig)
          return null
        }

        await pollFor(rig, 3)

        const texts = rig.told.messages.map(({ text }) => text).toSorted()
        expect([step, ...texts]).toEqual([step, 'hello', 'news'])
      }
    },
    60_000,
  )

  test('what comes in is reported, though all else is from before the line', async () => {
    for (let step = 1; step < 8; step += 1) {
      const rig = makeUiRig()
      rig.phone.receive(KNOWN_PERSON, 'old', { agoMs: 3_600_000 })
      rig.commands.meddle = (_name, at) => {
        if (at === 2 + step) rig.phone.receive(NEW_PERSON, 'news')
        return null
      }

      await pollFor(rig, 3)

      expect([step, ...textsOf(rig)]).toEqual([step, '< news'])
    }
  })
})

test('a walk has an end, and is taken up again', async () => {
  const rig = await makeLine()
  rig.phone.keepsListPlace = false
  const keys = people(120)
  await writeAll(rig, keys)

  await rig.poll()
  const first = { told: textsOf(rig).length, isUnfinished: rig.reader.memory.walks.isUnfinished }
  await pollFor(rig, 12)

  expect(first.told).toBeGreaterThan(20)
  expect(first.told).toBeLessThan(keys.length)
  expect(first.isUnfinished).toBe(true)
  expectTold(rig, keys)
}, 120_000)
