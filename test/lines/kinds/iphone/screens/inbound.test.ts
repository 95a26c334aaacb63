// What a phone line reports of the screen, and what it must not report.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { timestamp } from '../../../../../src/domain/ids.ts'
import { pollDelayMs } from '../../../../../src/lines/kinds/iphone/screens/inbound.ts'
import {
  FRIEND,
  GUID,
  makeKnownLine,
  OTHER,
  QUIET,
  textsOf,
  type UiRig,
} from '../../../../support/iphone/ui-rig.ts'

test('what was there before the line is no news, and what comes is reported once, with all that is known of it', async () => {
  const rig = await makeKnownLine()
  const before = [...rig.told.messages]

  rig.phone.receive(FRIEND, 'hello')
  const report = await rig.poll()
  const commands = rig.commands.names.length
  await rig.restart().poll()

  expect(before).toEqual([])
  expect(report).toEqual({ ...QUIET, reportedCount: 1 })
  expect(rig.told.messages).toEqual([
    {
      guid: GUID,
      handle: FRIEND,
      text: 'hello',
      // Labels have the minute only.
      at: timestamp(Math.floor(rig.clock.now() / 60_000) * 60_000),
      isFromMe: false,
      service: 'iMessage',
    },
  ])
  // Nor is a chat opened again by the next process.
  expect(rig.commands.names.slice(commands)).not.toContain('tap')
})

test('a burst of thirty in one chat is reported in order, though the screen shows twelve', async () => {
  const rig = await makeKnownLine()
  rig.phone.windowRows = 12
  const texts = Array.from({ length: 30 }, (_, index) => `number ${index}`)

  for (const text of texts) rig.phone.receive(FRIEND, text)
  const report = await rig.poll()

  expect(textsOf(rig)).toEqual(texts.map((text) => `< ${text}`))
  expect(report.gaps).toBe(0)
})

test('a burst that is longer than the screen goes back leaves a gap, which is reported', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'known')
  await rig.poll()
  await rig.clock.advance(120_000)
  rig.phone.windowRows = 12

  for (let i = 0; i < 80; i += 1) rig.phone.receive(FRIEND, `number ${i}`)
  const report = await rig.poll()

  expect(report).toMatchObject({ groups: 0, gaps: 1 })
  expect(textsOf(rig).at(-1)).toBe('< number 79')
})

test('whatever a stranger writes is reported as it is, once', async () => {
  const rig = await makeKnownLine()
  const ofRows = ['Delivered', 'Not Delivered', 'Read 1:31 PM', 'Today 4:35 PM', 'x, Unread']
  const ofLabels = ['Your iMessage, hi, 1:30 PM', 'at the bar, say, 1:30 PM']
  const texts = [
    'ok',
    'ok, Loved by you',
    '1:05 PM',
    '\n',
    '',
    'z'.repeat(5_000),
    ...ofRows,
    ...ofLabels,
  ]

  for (const text of texts) {
    rig.phone.receive(FRIEND, text)
    await rig.poll()
    await rig.poll()
  }

  expect(textsOf(rig)).toEqual(texts.map((text) => `< ${text}`))
})

type Told = Pick<UiRig['told']['messages'][number], 'handle' | 'service' | 'isFromMe'>

const GROUP = '+1 (202) 555-0123 & +1 (202) 555-0177'

test.each<readonly [string, (rig: UiRig) => unknown, readonly Told[], Partial<typeof QUIET>]>([
  [
    'what comes in a chat whose composer says so is a text message',
    ({ phone }) => {
      phone.reach.set(FRIEND, { first: 'SMS', settled: 'SMS', afterMs: 0 })
      phone.receive(FRIEND, 'hi')
    },
    [{ handle: FRIEND, service: 'SMS', isFromMe: false }],
    { reportedCount: 1 },
  ],
  [
    'a new person is reported',
    ({ phone }) => phone.receive('ann@example.com', 'hi'),
    [{ handle: deviceHandle('ann@example.com'), service: 'iMessage', isFromMe: false }],
    { reportedCount: 1 },
  ],
  [
    'what a person types on the phone is reported as ours',
    ({ phone }) => phone.write(FRIEND, 'hi'),
    [{ handle: FRIEND, service: 'iMessage', isFromMe: true }],
    { reportedCount: 1 },
  ],
  [
    'a chat with a name instead of a number is never reported under a wrong handle',
    ({ phone }) => {
      phone.contacts.set(OTHER, 'Ann')
      phone.receive(OTHER, 'hi')
    },
    [],
    {},
  ],
  [
    'a group is counted and left alone',
    ({ phone }) => phone.receive(GROUP, 'hi', { sender: '+1 (202) 555-0177' }),
    [],
    { groups: 1 },
  ],
])('%s', async (_what, happens, told, counted) => {
  const rig = await makeKnownLine()

  happens(rig)
  const report = await rig.poll()
  const later = await rig.poll()

  expect(
    rig.told.messages.map(({ handle, service, isFromMe }) => ({ handle, service, isFromMe })),
  ).toEqual([...told])
  expect(rig.told.messages.every(({ text }) => text === 'hi')).toBe(true)
  expect([report, later]).toEqual([{ ...QUIET, ...counted }, QUIET])
})

test('an attachment is a file without bytes, and the words for it may be those of a person, so they stay', async () => {
  const rig = await makeKnownLine()

  for (const text of ['Photo', 'hello']) rig.phone.receive(FRIEND, text)
  await rig.poll()

  const [photo, text] = rig.told.messages
  expect(photo).toMatchObject({
    text: 'Photo',
    attachments: [{ filename: 'Photo', size: null, file: { state: 'not_kept' } }],
  })
  expect([text?.text, text?.attachments]).toEqual(['hello', undefined])
})

test('after a poll the list is on the screen, whatever was before', async () => {
  const rig = await makeKnownLine()
  rig.phone.receive(FRIEND, 'hello')
  rig.phone.open(FRIEND)
  await rig.poll()
  const fromChat = rig.phone.screen.on
  rig.phone.screen = { on: 'elsewhere' }
  await rig.poll()

  expect([fromChat, rig.phone.screen.on]).toEqual(['list', 'list'])
  expect(textsOf(rig)).toEqual(['< hello'])
})

test('a chat that is looked at for a text of ours is left again', async () => {
  const rig = await makeKnownLine()
  rig.reader.own.leaveDraft(FRIEND)

  await rig.poll()

  expect(rig.commands.names).toContain('url')
  expect(rig.phone.screen.on).toBe('list')
})

for (const keepsListPlace of [true, false]) {
  const place = keepsListPlace ? 'stays where it was' : 'goes back to its top'
  test(`more chats than the list shows are all read, where the list ${place}`, async () => {
    const rig = await makeKnownLine()
    rig.phone.windowCells = 4
    rig.phone.keepsListPlace = keepsListPlace
    const keys = Array.from(
      { length: 11 },
      (_, index) => `+12025552${String(index).padStart(3, '0')}`,
    )

    for (const key of keys) rig.phone.receive(key, `from ${key}`)
    await rig.poll()

    expect(textsOf(rig).toSorted()).toEqual(keys.map((key) => `< from ${key}`))
    expect(rig.phone.listScroll).toBe(0)
  })
}

test('polls come every three seconds, and every fifteen if nothing happens', () => {
  expect([0, 599_999, 600_000].map(pollDelayMs)).toEqual([3_000, 3_000, 15_000])
})
