// Whose a chat is: what a stranger may name, and what Messages may suggest, is nobody's number.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { TranscriptMemory } from '../../../../../src/lines/kinds/iphone/screens/transcript-memory.ts'
import {
  detailsAsked,
  FRIEND,
  makeKnownLine,
  makeUiRig,
  notSent,
  OTHER,
  OWN_NUMBER,
  QUIET,
  textsOf,
  toldOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

const THIRD = deviceHandle('+12025550999')
const GROUP = '+1 (202) 555-0999 & +1 (202) 555-0888'
const SHOWN_FRIEND = '+1 (202) 555-0123'
const SHOWN_THIRD = '+1 (202) 555-0999'

describe('a group that is named after', () => {
  const TITLES = [
    ['a number', SHOWN_FRIEND, SHOWN_THIRD],
    ['a number without its country', '(202) 555-0123', SHOWN_THIRD],
    ['an address', 'ann@example.com', SHOWN_THIRD],
    ['the number of its only member who writes', SHOWN_THIRD, SHOWN_THIRD],
    ['a suggested name', 'Maybe: Ann', SHOWN_THIRD],
    ['a number, with a member whose name is suggested', SHOWN_FRIEND, 'Maybe: Bob'],
  ] as const

  test.each(TITLES)(
    '%s stays a group, and its words are nobody’s',
    async (_what, title, sender) => {
      const rig = await makeKnownLine()
      rig.phone.chat(GROUP).title = title
      rig.phone.receive(GROUP, 'STOP', { sender })

      const first = await rig.poll()
      const again = await rig.restart().poll()

      expect(rig.told.messages).toEqual([])
      expect([first, again]).toEqual([{ ...QUIET, groups: 1 }, QUIET])
      expect(rig.reader.memory.handles).toEqual([])
    },
  )

  test('a number is a group also with words that the owner wrote to both, and a named member', async () => {
    const rig = await makeKnownLine()
    rig.phone.write(THIRD, 'hello')
    await rig.poll()
    rig.phone.chat(GROUP).title = SHOWN_THIRD
    rig.phone.write(GROUP, 'hello')
    rig.phone.receive(GROUP, 'pay to account 7', { sender: 'Maybe: Bob' })
    await rig.poll()

    expect(rig.told.messages.map(({ text }) => text)).toEqual(['hello'])
  })

  test('a number is a group also with an owner who writes to both', async () => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'it is me')
    await rig.poll()
    rig.phone.chat(GROUP).title = SHOWN_FRIEND
    for (const key of [FRIEND, GROUP]) rig.phone.write(key, 'hello')
    rig.phone.write(GROUP, 'for the group')
    await rig.poll()

    expect(toldOf(rig)).toEqual([`${FRIEND} it is me`, `${FRIEND} hello`])
  })

  test('a number is a group also if only the owner has written in it', async () => {
    const rig = await makeKnownLine()
    rig.phone.chat(GROUP).title = SHOWN_FRIEND
    rig.phone.write(GROUP, 'hello all')

    const report = await rig.poll()

    expect([report.groups, rig.told.messages.length]).toEqual([1, 0])
  })

  test('a number leaves the person of that number their own conversation', async () => {
    const rig = await makeKnownLine()
    rig.phone.receive(FRIEND, 'hello')
    await rig.poll()
    rig.phone.chat(GROUP).title = SHOWN_FRIEND
    rig.phone.receive(GROUP, 'pay to account 7', { sender: SHOWN_THIRD })
    await rig.poll()
    rig.phone.receive(FRIEND, 'who was that?')
    rig.phone.receive(GROUP, 'hello', { sender: SHOWN_THIRD })
    await rig.poll()
    const asked = detailsAsked(rig)
    const quiet = await rig.poll()

    expect(toldOf(rig)).toEqual([`${FRIEND} hello`, `${FRIEND} who was that?`])
    expect([quiet, detailsAsked(rig)]).toEqual([QUIET, asked])
  })

  test.each([
    [
      'whose bubbles are of others',
      (rig: UiRig) => rig.phone.receive(GROUP, 'hi', { sender: SHOWN_THIRD }),
    ],
    ['in which only the owner wrote', (rig: UiRig) => rig.phone.write(GROUP, 'hi all')],
    [
      'whose only writer has that number',
      (rig: UiRig) => rig.phone.receive(GROUP, 'hi', { sender: SHOWN_FRIEND }),
    ],
  ])('a number takes no message to the person: one %s', async (_what, happens) => {
    const rig = await makeKnownLine()
    rig.phone.chat(GROUP).title = SHOWN_FRIEND
    happens(rig)
    await rig.clock.advance(60_000)
    rig.phone.wrongChats = [GROUP, GROUP, GROUP]

    const sent = await rig.send('for one person')

    expect(sent.outcome).toEqual(notSent('wrong_chat'))
    expect([rig.phone.touches, rig.phone.chat(GROUP).draft]).toEqual([0, ''])
  })
})

test('the details of a chat are asked once, and the answer outlives the process', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'one')
  await rig.poll()
  rig.phone.receive(FRIEND, 'two')
  await rig.poll()
  await rig.send('three')
  rig.phone.receive(FRIEND, 'four')
  await rig.restart().poll()

  expect(textsOf(rig)).toEqual(['< one', '< two', '< four'])
  expect(detailsAsked(rig)).toBe(1)
})

test('a chat whose details show nobody is its number’s if every bubble says so, and nobody’s else', async () => {
  const rig = await makeKnownLine()
  rig.phone.details = 'nobody'
  rig.phone.receive(FRIEND, 'hello')
  rig.phone.receive(OTHER, 'hello', { sender: 'Message' })
  const report = await rig.poll()
  const hasHidden = rig.reader.memory.list.hasHidden('unproven')
  rig.phone.details = 'people'
  rig.phone.receive(OTHER, 'are you there?')
  await rig.poll()

  expect([report, hasHidden]).toEqual([{ ...QUIET, reportedCount: 1 }, true])
  expect(toldOf(rig)).toEqual([`${FRIEND} hello`, `${OTHER} hello`, `${OTHER} are you there?`])
})

test('a chat whose title leads nowhere is read by its bubbles', async () => {
  const rig = await makeKnownLine()
  rig.phone.details = 'absent'
  rig.phone.receive(FRIEND, 'hello')

  await rig.poll()

  expect(toldOf(rig)).toEqual([`${FRIEND} hello`])
})

test('a process that dies over the details of a chat leaves nothing that the next one cannot leave', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'hello')
  rig.phone.open(FRIEND)
  rig.phone.touchTitle()

  await rig.restart().poll()

  expect([toldOf(rig), rig.phone.screen.on]).toEqual([[`${FRIEND} hello`], 'list'])
})

test('a title counts once it was the same twice', async () => {
  const rig = await makeKnownLine()
  rig.phone.firstTitle = { text: '+1 (202) 555-0177', forMs: 400 }
  rig.phone.receive(FRIEND, 'hello')

  await rig.poll()

  expect(toldOf(rig)).toEqual([`${FRIEND} hello`])
})

describe('a number on the screen', () => {
  const BRITON = deviceHandle('+442025550123')
  const GERMAN = '+491711234567'
  const CASES: readonly (readonly [
    what: string,
    own: string,
    known: readonly string[],
    shown: string,
    person: string,
  ])[] = [
    ['is of the line’s own country first', OWN_NUMBER, [BRITON], '2025550123', FRIEND],
    ['is that of the one person known whom it fits', GERMAN, [FRIEND], '2025550123', FRIEND],
    ['is nobody’s if it fits two', GERMAN, [FRIEND, BRITON], '2025550123', '2025550123'],
    ['is itself if it is a short code', OWN_NUMBER, [FRIEND], '55501', '55501'],
  ]

  test.each(CASES)('%s', (...[, own, known, shown, person]) => {
    const memory = TranscriptMemory.fromText(null, 0, own)
    for (const handle of known) memory.keep(deviceHandle(handle), [])

    expect(memory.personShown(deviceHandle(shown))).toBe(deviceHandle(person))
  })

  test.each([
    ['+12025550123', FRIEND, true],
    ['2025550123', FRIEND, true],
    ['12025550123', FRIEND, true],
    ['2025550123', BRITON, false],
    ['0123', FRIEND, false],
    ['5550123', FRIEND, false],
    ['ann@example.com', FRIEND, false],
  ])('%s fits %s: %p', (shown, handle, fits) => {
    const memory = TranscriptMemory.fromText(null, 0, OWN_NUMBER)

    expect(memory.personShown(deviceHandle(shown), [handle]) === handle).toBe(fits)
  })

  test('that an earlier version kept without its country is the same person’s', () => {
    const old = JSON.stringify({ since: 1, marks: [], owed: [], chats: [['2025550123', []]] })

    expect(TranscriptMemory.fromText(old, 0, OWN_NUMBER).handles).toEqual([FRIEND])
  })
})

test.each(['+1 (202) 555-0100', '(202) 555-0100'])(
  'what the line writes to itself, as %s, is nobody’s message, and is counted',
  async (title) => {
    const rig = makeUiRig()
    await rig.poll()
    rig.phone.chat(OWN_NUMBER).title = title
    rig.phone.receive(OWN_NUMBER, 'buy milk')

    await rig.poll()
    await rig.restart().poll()

    expect(rig.told.messages).toEqual([])
    expect(rig.told.leftOut.map(({ kind }) => kind)).toEqual(['own'])
  },
)

test('a handle that the phone does not name is asked for again only if the chat shows something else', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(THIRD, 'hi')
  await rig.poll()
  rig.phone.erase(THIRD)
  await rig.clock.advance(120_000)
  rig.phone.receive(THIRD, 'anew')
  await rig.poll()

  expect(toldOf(rig)).toEqual([`${THIRD} hi`, `${THIRD} anew`])
  expect(detailsAsked(rig)).toBe(2)
})
