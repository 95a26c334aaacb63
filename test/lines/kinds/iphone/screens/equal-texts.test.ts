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
