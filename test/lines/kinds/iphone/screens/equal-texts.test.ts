// A text that is the same as the one before it, in the same minute, changes nothing on the list of conversations. If it
// comes while its chat is open, only the chat itself shows it.

import { describe, expect, test } from 'bun:test'

import {
  FRIEND,
  makeKnownLine,
  OTHER,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

const ROUNDS = 3
/** The look for an alert, and the touch that leaves the chat. */
const UNSEEN = 2

type Happening = (rig: UiRig) => unknown

/** Lets it happen at a command that comes while the chat is open; true if the screen was read with it on it. */
async function happensAt(rig: UiRig, step: number, happens: Happening): Promise<boolean | null> {
  let [steps, isThere, isSeen] = [0, false, false]
  rig.commands.meddle = (name) => {
    const { screen } = rig.phone
    if (screen.on !== 'chat' || screen.chat.key !== FRIEND) return null
    steps += 1
    if (steps === step) {
      happens(rig)
      isThere = true
    }
    isSeen ||= isThere && name === 'source'
    return null
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    await rig.poll()
    await rig.clock.advance(3_000)
  }
  rig.commands.meddle = () => null
  return isThere ? isSeen : null
}

const HAPPENINGS: readonly (readonly [string, string, Happening])[] = [
  ['the same text again is told', '< ok', ({ phone }) => phone.receive(FRIEND, 'ok')],
  ['the same text typed by the owner is told', '> ok', ({ phone }) => phone.write(FRIEND, 'ok')],
]

describe.each(HAPPENINGS)('while a chat is open, %s', (_what, told, happens) => {
  test.each([
    ['the chat is known', (rig: UiRig) => rig.phone.receive(FRIEND, 'before')],
    ['it is the first look at the chat', () => {}],
  ])('at any moment at which the screen is still read: %s', async (_when, begin) => {
    let [unseen, step] = [0, 0]
    for (let isOver = false; !isOver;) {
      step += 1
      const rig = await makeKnownLine()
      begin(rig)
      await rig.poll()
      rig.phone.receive(FRIEND, 'ok')
      const first = textsOf(rig)

      const isSeen = await happensAt(rig, step, happens)
      isOver = isSeen === null
      if (isOver) continue
      if (isSeen === false) unseen += 1
      const early = isSeen === true ? [told] : []

      expect([step, ...textsOf(rig)]).toEqual([step, ...first, '< ok', ...early])
      rig.phone.receive(FRIEND, 'next')
      await rig.poll()
      expect([step, ...textsOf(rig)]).toEqual([step, ...first, '< ok', told, '< next'])
    }
    expect([step > 5, unseen]).toEqual([true, UNSEEN])
  })
})

const MINUTE_MS = 60_000
/** After this, a minute is over even if the phone's clock is behind. */
const SURELY_OVER_MS = 2 * MINUTE_MS

/** A line that has reported an "ok" which came ten seconds ago, in the first half of a minute. */
async function lineWithOk(): Promise<UiRig> {
  const rig = await makeKnownLine()
  const intoMinuteMs = rig.clock.now() % MINUTE_MS
  await rig.clock.advance(MINUTE_MS - intoMinuteMs)
  rig.phone.receive(FRIEND, 'ok')
  await rig.poll()
  await rig.clock.advance(10_000)
  return rig
}

/** How often a link opened a chat, and the screen was touched. */
function gesturesOf({ commands }: UiRig, since = 0): Record<'links' | 'touches', number> {
  const names = commands.requests.slice(since).map(({ name }) => name)
  const count = (...wanted: readonly string[]) =>
    names.filter((name) => wanted.includes(name)).length
  return { links: count('url'), touches: count('click', 'tap') }
}

describe('what leaves the row in the list as it is is reported once the minute is over:', () => {
  const readElsewhere = ({ phone }: UiRig, ...texts: readonly string[]) => {
    for (const text of texts) phone.receive(FRIEND, text)
    phone.chat(FRIEND).isUnread = false
  }
  const LONG = 'a text of which the list shows no more than the beginning'
  const UNCHANGED: readonly (readonly [string, Happening, readonly string[]])[] = [
    ['the same text, read elsewhere', (rig) => readElsewhere(rig, 'ok'), ['< ok']],
    ['it twice', (rig) => readElsewhere(rig, 'ok', 'ok'), ['< ok', '< ok']],
    ['another text before it', (rig) => readElsewhere(rig, LONG, 'ok'), [`< ${LONG}`, '< ok']],
    ['the owner’s own, typed elsewhere', ({ phone }) => phone.write(FRIEND, 'ok'), ['> ok']],
  ]

  test.each(UNCHANGED)('%s', async (_what, happens, told) => {
    const rig = await lineWithOk()
    const before = textsOf(rig)
    happens(rig)
    await rig.poll()
    const early = textsOf(rig)
    await rig.clock.advance(SURELY_OVER_MS)
    await rig.poll()

    expect([early, textsOf(rig)]).toEqual([before, [...before, ...told]])
  })

  test('by the next process, too', async () => {
    const rig = await lineWithOk()
    const before = textsOf(rig)
    readElsewhere(rig, 'ok')
    await rig.clock.advance(SURELY_OVER_MS)
    await rig.restart().poll()

    expect(textsOf(rig)).toEqual([...before, '< ok'])
  })

  test('by a phone whose clock is half a minute behind', async () => {
    const rig = await makeKnownLine()
    rig.phone.aheadMs = -30_000
    const intoMinuteMs = rig.clock.now() % MINUTE_MS
    await rig.clock.advance(MINUTE_MS - intoMinuteMs)
    rig.phone.receive(FRIEND, 'ok')
    await rig.poll()
    const before = textsOf(rig)
    readElsewhere(rig, 'ok')
    await rig.clock.advance(SURELY_OVER_MS)
    await rig.poll()

    expect(textsOf(rig)).toEqual([...before, '< ok'])
  })

  test('a chat that can’t be opened then is counted, once', async () => {
    const rig = await lineWithOk()
    rig.phone.wrongChats = [OTHER, OTHER, OTHER]
    await rig.clock.advance(SURELY_OVER_MS)
    const report = await rig.poll()
    rig.phone.wrongChats = [OTHER, OTHER, OTHER]
    const later = await rig.poll()

    expect([report.gaps, later.gaps]).toEqual([1, 0])
  })
})

test('the same text at the same time of the next day is reported, read elsewhere too', async () => {
  const DAY_MS = 24 * 60 * MINUTE_MS
  const rig = await lineWithOk()
  const before = textsOf(rig)
  for (let hours = 0; hours < 24; hours += 6) {
    await rig.poll()
    await rig.clock.advance(DAY_MS / 4)
  }
  rig.phone.receive(FRIEND, 'ok')
  rig.phone.chat(FRIEND).isUnread = false
  await rig.poll()

  expect(textsOf(rig)).toEqual([...before, '< ok'])
})

test('the same text of a later minute is reported if it comes while the chat is being left', async () => {
  const rig = await lineWithOk()
  const before = textsOf(rig)
  await rig.clock.advance(SURELY_OVER_MS)
  let isLeaving = false
  rig.commands.meddle = (name) => {
    if (rig.phone.screen.on === 'chat' && name === 'tap' && !isLeaving) {
      isLeaving = true
      rig.phone.receive(FRIEND, 'ok')
    }
    return null
  }
  await rig.poll()
  await rig.poll()

  expect([isLeaving, textsOf(rig)]).toEqual([true, [...before, '< ok']])
})

test('a chat is read once more after its last message, and not after each', async () => {
  const rig = await lineWithOk()
  for (let count = 0; count < 5; count += 1) {
    await rig.clock.advance(40_000)
    rig.phone.receive(FRIEND, `words ${count}`)
    await rig.poll()
  }
  const during = gesturesOf(rig)
  const { length } = rig.commands.requests
  for (let count = 0; count < 200; count += 1) {
    await rig.clock.advance(15_000)
    await rig.poll()
  }

  expect(during.links).toBe(0)
  expect(gesturesOf(rig, length)).toEqual({ links: 1, touches: 1 })
})

test('a chat that is read after its minute anyway is not opened again', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'ok')
  await rig.clock.advance(SURELY_OVER_MS)
  await rig.poll()
  await rig.clock.advance(SURELY_OVER_MS)
  await rig.poll()

  expect([textsOf(rig), gesturesOf(rig).links]).toEqual([['< ok'], 0])
})

test('a person who never stops holds up nobody, and is read on in the next round', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'ok')
  rig.phone.receive(OTHER, 'hello')
  let count = 1
  rig.commands.meddle = (name) => {
    const { screen } = rig.phone
    const isOpen = screen.on === 'chat' && screen.chat.key === FRIEND
    if (name === 'find' && isOpen && count < 30) {
      rig.phone.receive(FRIEND, 'ok')
      count += 1
    }
    return null
  }

  await rig.poll()
  const texts = textsOf(rig)
  for (let round = 0; round < 12; round += 1) await rig.poll()

  expect(texts).toContain('< hello')
  expect(textsOf(rig).filter((text) => text === '< ok')).toHaveLength(count)
})
