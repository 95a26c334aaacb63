// Which addresses a Mac line takes for its own, by the rows that Messages wrote: whose words are skipped, and counted,
// and which number the line has.

import { describe, expect, test } from 'bun:test'

import { NEVER } from '../../../../src/system/clock.ts'
import { changesOf, messagesOf, runLine } from '../../../contract/line-rig.ts'
import { makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import type { ChatValues } from '../../../support/mac/chat-db-file.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'

const FRIEND = '+15550001111'
const OTHER = '+15550002222'
const ADDRESS = 'me@example.com'
const DAY_MS = 86_400_000
const SCHEMAS = ['macos15', 'macos26a', 'macos26b'] as const
const TAPBACK = { associated_message_type: 2_001, associated_message_guid: 'p:0/some-message' }

type Past = (rig: MacRig) => void
type Values = Readonly<Record<string, string | null>>

/** Own rows to a person. */
function sent(to: string, values: Values, { count = 1, ageMs = 0 } = {}): Past {
  return ({ model, clock }) => {
    for (let i = 0; i < count; i += 1) {
      writeOwn(model.file, {
        to,
        text: `sent ${i}`,
        at: clock.now() - ageMs - i * 1_000,
        ...values,
      })
    }
  }
}

function received(from: string, values: Values, count = 1): Past {
  return ({ model, clock }) => {
    for (let i = 0; i < count; i += 1) {
      model.file.receive({ from, text: `old ${i}`, at: clock.now() - DAY_MS, values })
    }
  }
}

function chat(values: ChatValues): Past {
  return ({ model }) => void model.file.addChat(values)
}

function sentInGroup(members: readonly string[], values: Values): Past {
  return ({ model: { file }, clock }) => {
    const group = file.addChat({ identifier: 'chat7', style: 43, members })
    const own = { is_from_me: 1, is_sent: 1, is_delivered: 0, handle_id: 0 }
    for (let i = 0; i < 3; i += 1) {
      const { rowId } = file.addMessage({ text: 'x', at: clock.now(), ...own, ...values })
      file.joinChat(rowId, group)
    }
  }
}

const of = (destination_caller_id: string | null, account: string | null = null) => ({
  destination_caller_id,
  account,
})

/** The writer, what happened before, and whether the text is reported. */
const CASES: readonly (readonly [string, writer: string, 'told' | 'own', ...Past[]])[] = [
  [
    'a friend whom the chat calls its last address',
    FRIEND,
    'told',
    chat({ identifier: FRIEND, lastAddressedHandle: FRIEND }),
    sent(FRIEND, of(null)),
  ],
  [
    "a friend whose number is another chat's last address",
    FRIEND,
    'told',
    chat({ identifier: OTHER, lastAddressedHandle: FRIEND }),
    sent(OTHER, of(null), { count: 5 }),
  ],
  ['a friend whom sent rows name', FRIEND, 'told', sent(FRIEND, of(FRIEND), { count: 5 })],
  ['a friend whom sent rows spell otherwise', FRIEND, 'told', sent('5550001111', of(FRIEND))],
  ['a friend whom the account names', FRIEND, 'told', sent(FRIEND, of('', `P:${FRIEND}`))],
  ['a friend whom received rows name', FRIEND, 'told', received(FRIEND, of(FRIEND), 5)],
  ['a member whom sent rows of a group name', FRIEND, 'told', sentInGroup([FRIEND], of(FRIEND))],
  ['an address on which one message came', ADDRESS, 'told', received(FRIEND, of(ADDRESS), 1)],
  [
    'who has the number that was given up months ago',
    OTHER,
    'told',
    sent(FRIEND, of(OTHER), { count: 5, ageMs: 90 * DAY_MS }),
    sent(FRIEND, of('+15550009999'), { count: 5 }),
  ],
  [
    'an address that was used once, weeks ago',
    OTHER,
    'told',
    sent(FRIEND, of(OTHER), { ageMs: 20 * DAY_MS }),
  ],
  [
    'an address that was used twice',
    OTHER,
    'own',
    sent(FRIEND, of(OTHER), { count: 2, ageMs: 20 * DAY_MS }),
  ],
  ['an address that was just used', ADDRESS, 'own', sent(FRIEND, of('Me@Example.COM'))],
  ['an address in capitals', 'ME@Example.com', 'own', sent(FRIEND, of(ADDRESS))],
  ['the account that sends', ADDRESS, 'own', sent(FRIEND, of('+15550009999', `E:${ADDRESS}`))],
  [
    'an address that only receives',
    ADDRESS,
    'own',
    sent(FRIEND, of('+15550009999'), { count: 3 }),
    received(FRIEND, of(ADDRESS), 2),
  ],
  ['the number of the line in another spelling', '5550009999', 'own'],
  ['a number of ours in another spelling', '(555) 000-2222', 'own', sent(FRIEND, of(OTHER))],
]

function newsOf(line: Awaited<ReturnType<typeof runLine>>) {
  const words = messagesOf(line.events).flatMap(({ isHistory, text }) => (isHistory ? [] : [text]))
  const changes = changesOf(line.events).map(({ kind }) => kind)
  const leftOut = line.events.flatMap((event) =>
    event.type === 'left_out' ? [event.leftOut.kind] : [],
  )
  return [...words, ...changes, ...leftOut]
}

for (const schema of SCHEMAS) {
  describe(schema, () => {
    test.each([...CASES])('%s', async (_, writer, expected, ...past) => {
      using rig = makeMacRig({ schema })
      for (const write of past) write(rig)
      await using line = await runLine(rig, rig.driver)

      const { file } = rig.model
      const group = file.addChat({ identifier: 'chat831', style: 43, members: [OTHER] })
      const at = rig.clock.now()
      file.receive({ from: writer, text: 'stop', at })
      file.receive({ from: writer, text: '', at, values: TAPBACK })
      file.receive({ from: writer, text: 'in the group', at, chat: group })
      file.receive({ from: writer, text: '', at, chat: group, values: TAPBACK })
      await rig.clock.advance(3_000)

      const told = ['stop', 'in the group', 'reaction', 'reaction']
      expect(newsOf(line)).toEqual(expected === 'told' ? told : Array(4).fill('own'))
    })

    test('a line never takes the number of the person it writes to', async () => {
      using rig = makeMacRig({ schema, driver: { phoneNumber: null } })
      const { file } = rig.model
      file.addChat({ identifier: FRIEND, lastAddressedHandle: FRIEND })
      for (const to of [FRIEND, '5550001111']) sent(to, of(FRIEND), { count: 3 })(rig)
      received(FRIEND, of(FRIEND), 3)(rig)
      sent(OTHER, of(null), { count: 3 })(rig)
      const unknown = await rig.driver.discover(NEVER)

      sent(OTHER, of('', 'P:+15550009999'))(rig)
      await rig.clock.advance(60_000)
      const known = await rig.driver.discover(NEVER)

      expect([unknown, known].map(([found]) => found?.number)).toEqual([null, '+15550009999'])
    })

    test('a Mac that sent nothing for months still knows its number, and the newer of two', async () => {
      using rig = makeMacRig({ schema, driver: { phoneNumber: null } })
      sent(FRIEND, of(OTHER), { count: 5, ageMs: 200 * DAY_MS })(rig)
      sent(FRIEND, of('+15550009999'), { count: 3, ageMs: 100 * DAY_MS })(rig)
      received(FRIEND, of(ADDRESS), 5)(rig)

      const [found] = await rig.driver.discover(NEVER)

      expect(found?.number).toBe('+15550009999')
    })
  })
}

test('who renames a group from another address of ours is the owner', async () => {
  using rig = makeMacRig()
  sent(FRIEND, of(ADDRESS))(rig)
  await using line = await runLine(rig, rig.driver)

  const { file } = rig.model
  const group = file.addChat({ identifier: 'chat831', style: 43, members: [FRIEND] })
  const renamed = { item_type: 2, group_title: 'Lunch' }
  file.receive({
    from: 'Me@example.com',
    text: '',
    at: rig.clock.now(),
    chat: group,
    values: renamed,
  })
  await rig.clock.advance(10_000)

  expect(changesOf(line.events)).toMatchObject([{ change: 'renamed', actor: null }])
})

test('what comes to one address by the thousand, or is filled in by iCloud, hides no other', async () => {
  using rig = makeMacRig()
  const { model, clock } = rig
  received(FRIEND, of(ADDRESS), 2)(rig)
  model.file.db.transaction(() => {
    for (let i = 0; i < 500; i += 1) {
      const ageMs = i % 2 === 0 ? 1_000 : 700 * DAY_MS
      const values = of('+15550009999')
      model.file.receive({ from: FRIEND, text: `old ${i}`, at: clock.now() - ageMs, values })
    }
  })()
  await using line = await runLine(rig, rig.driver)

  model.file.receive({ from: ADDRESS, text: 'note', at: clock.now() })
  await clock.advance(1_000)

  expect(newsOf(line)).toEqual(['own'])
})

test('notes to oneself that iCloud writes by the thousand hide no address', async () => {
  using rig = makeMacRig()
  const { model, clock } = rig
  received(FRIEND, of(ADDRESS), 2)(rig)
  model.file.db.transaction(() => {
    for (let i = 0; i < 500; i += 1) {
      const at = clock.now() - DAY_MS
      model.file.receive({ from: ADDRESS, text: `note ${i}`, at, values: of(ADDRESS) })
    }
  })()
  await using line = await runLine(rig, rig.driver)

  model.file.receive({ from: ADDRESS, text: 'note', at: clock.now() })
  await clock.advance(1_000)

  expect(newsOf(line)).toEqual(['own'])
})
