// Whose a row is, where Messages has several names for one person: other spellings of a number, a chat that is named by
// another address of the same contact, a row in two chats.

import { describe, expect, test } from 'bun:test'

import { deviceHandle } from '../../../../src/domain/handle.ts'
import type { SendOutcome } from '../../../../src/lines/driver.ts'
import { isKnownAbsent } from '../../../../src/lines/kinds/mac/pacing.ts'
import { messagesOf, receiptsOf, sendTo } from '../../../contract/line-rig.ts'
import { attendedMac } from '../../../contract/mac-rig.ts'
import type { ChatDbFile, MessageValues } from '../../../support/mac/chat-db-file.ts'
import { OpenedChatDb } from '../../../support/mac/opened-chat-db.ts'
import { newestRow, writeOwn } from '../../../support/mac/own-rows.ts'
import { TEST_START } from '../../../support/test-clock.ts'

const SCHEMAS = ['macos15', 'macos26a', 'macos26b'] as const
const FRIEND = deviceHandle('+15550001111')
const NATIONAL = '5550001111'
const MAIL = 'ann@example.com'
const OTHER = '+15550006666'
const HOME = { defaultCallingCode: '1' }
const DAY_MS = 86_400_000

/** A row of ours with that handle, in those chats; a chat that begins with `chat` is a group. */
function writeIn(
  file: ChatDbFile,
  handle: string | null,
  chats: readonly string[],
  values: MessageValues & { readonly at: number },
): void {
  file.db.transaction(() => {
    const sent = { is_from_me: 1, is_sent: 1, is_delivered: 0, is_finished: 1 }
    const handleRowId = handle === null ? 0 : file.addHandle(handle)
    const { rowId } = file.addMessage({ ...sent, handle_id: handleRowId, ...values })
    for (const identifier of chats) {
      const isGroup = identifier.startsWith('chat')
      const chat = isGroup ? file.addChat({ identifier, style: 43 }) : file.directChat(identifier)
      file.joinChat(rowId, chat)
    }
  })()
}

const SENT = { outcome: 'accepted' } as const
const MISROUTED = { outcome: 'not_sent', reason: 'misrouted' } as const
/** Where the row of a message to FRIEND lies, and how the send ends. */
const PLACES: readonly (readonly [
  handle: string | null,
  chats: readonly string[],
  end: Partial<SendOutcome>,
])[] = [
  [FRIEND, [MAIL, FRIEND], SENT],
  [FRIEND, [MAIL], SENT],
  [FRIEND, [NATIONAL], SENT],
  [NATIONAL, [NATIONAL], SENT],
  [`${FRIEND}(smsft)`, [MAIL], SENT],
  [MAIL, [MAIL, FRIEND], SENT],
  [MAIL, [NATIONAL], SENT],
  [null, [MAIL, FRIEND], SENT],
  [null, ['1 (555) 000-1111'], SENT],
  [null, [MAIL], { outcome: 'unknown', reason: 'no_row' }],
  [OTHER, [OTHER], MISROUTED],
  [OTHER, [MAIL, OTHER], MISROUTED],
  [FRIEND, ['chat831'], MISROUTED],
  [null, ['chat831', FRIEND], MISROUTED],
]

for (const schema of SCHEMAS) {
  describe(schema, () => {
    test.each([...PLACES])(
      'a row with handle %p in %p: the send ends so',
      async (handle, chats, end) => {
        await using rig = await attendedMac({ schema })
        const { file } = rig.model
        file.directChat(MAIL)
        rig.model.nextSend('no_row')

        const outcome = await sendTo(rig, rig.line, FRIEND, async () => {
          writeIn(file, handle, chats, { text: `to ${FRIEND}`, at: rig.clock.now() })
          return true
        })
        file.set(newestRow(file), { is_delivered: 1 })
        await rig.clock.advance(6_000)

        expect(outcome).toMatchObject(end)
        const receipts = receiptsOf(rig.line.events).map(({ kind }) => kind)
        if (end.outcome === 'accepted') expect(receipts).toEqual(['delivered'])
      },
    )

    test('what the owner types is listed under the handle that it went to', async () => {
      await using rig = await attendedMac({ schema })

      const places = [
        [FRIEND, [MAIL]],
        [FRIEND, [MAIL, FRIEND]],
        [null, [MAIL]],
        [rig.model.number, [FRIEND]],
      ] as const
      const { file } = rig.model
      for (const [place, [handle, chats]] of places.entries()) {
        writeIn(file, handle, chats, { text: `text ${place}`, at: rig.clock.now() })
      }
      await rig.clock.advance(2_000)

      const handles = messagesOf(rig.line.events).map(({ handle }) => String(handle))
      expect(handles).toEqual([FRIEND, FRIEND, MAIL, FRIEND])
    })

    test('a person is known under every spelling', () => {
      using rig = new OpenedChatDb(schema)
      rig.chatDb.useHome(HOME)
      const spellings = [NATIONAL, 'Ann@Example.com', '1 (555) 000-6666', '22395(smsft)']
      const people = [FRIEND, MAIL, OTHER, '22395', '+15550007777']
      const before = people.map((person) => rig.chatDb.knowsHandle(person))

      for (const from of spellings) rig.file.receive({ from, text: 'hello', at: TEST_START })

      expect(before).toEqual([false, false, false, false, false])
      expect(people.map((person) => rig.chatDb.knowsHandle(person))).toEqual([
        true,
        true,
        true,
        true,
        false,
      ])
    })

    test('who is not on iMessage is known by rows to the very handle, and disproved by any spelling', () => {
      using rig = new OpenedChatDb(schema)
      rig.chatDb.useHome(HOME)
      const { file, chatDb } = rig
      const isAbsent = () => [FRIEND, MAIL].map((to) => isKnownAbsent(chatDb, to, TEST_START))
      const failed = { text: 'x', error: 22, is_sent: 0 }
      const absent = [isAbsent()]

      writeIn(file, NATIONAL, [NATIONAL], { ...failed, at: TEST_START - 9 * 3_600_000 })
      absent.push(isAbsent())
      writeIn(file, FRIEND, [MAIL], { ...failed, at: TEST_START - 8 * 3_600_000 })
      absent.push(isAbsent())
      writeIn(file, MAIL, [MAIL], { ...failed, at: TEST_START - 7 * 3_600_000 })
      absent.push(isAbsent())
      file.receive({ from: NATIONAL, text: 'hello', at: TEST_START - 6 * 3_600_000 })
      absent.push(isAbsent())

      expect(absent).toEqual([
        [false, false],
        [false, false],
        [true, false],
        [true, true],
        [false, true],
      ])
    })

    test('a row of one spelling waits behind an earlier row of another', async () => {
      await using rig = await attendedMac({ schema })

      const { file } = rig.model
      const at = rig.clock.now()
      const waiting = file.addMessage({ at, text: 'first', handle_id: file.addHandle(FRIEND) })
      file.receive({ from: NATIONAL, text: 'second', at })
      await rig.clock.advance(1_000)
      const early = messagesOf(rig.line.events).length
      file.joinChat(waiting.rowId, file.directChat(FRIEND))
      await rig.clock.advance(1_000)

      const texts = messagesOf(rig.line.events).map(({ text }) => text)
      expect([early, texts]).toEqual([0, ['first', 'second']])
    })
  })
}

test('a chat that has another person in it is not written to', async () => {
  await using rig = await attendedMac()
  const { file } = rig.model
  writeOwn(file, { to: OTHER, text: 'x', at: rig.clock.now() - DAY_MS })
  file.addChat({ identifier: FRIEND, members: [OTHER] })

  await sendTo(rig, rig.line, FRIEND)

  expect(rig.model.calls.map(({ route }) => route)).not.toContain('chat')
})

test('a row of ours that is written again under another ROWID keeps its receipts', async () => {
  await using rig = await attendedMac()
  const { file } = rig.model
  rig.model.receive(OTHER, 'hello')
  rig.model.nextSend('no_row')
  await sendTo(rig, rig.line, FRIEND, async () => {
    writeIn(file, FRIEND, [FRIEND], { text: `to ${FRIEND}`, at: rig.clock.now() })
    return true
  })
  const before = newestRow(file)

  file.db.transaction(() => {
    const [row] = file.db.query('SELECT * FROM message WHERE ROWID = ?').all(before)
    const { guid, date } = row as { guid: string; date: bigint } // As Messages wrote it.
    file.db.run('DELETE FROM chat_message_join WHERE message_id = ?', [before])
    file.db.run('DELETE FROM message WHERE ROWID = ?', [before])
    writeOwn(file, { to: FRIEND, text: 'again', at: TEST_START, guid, date, is_delivered: 1 })
  })()
  await rig.clock.advance(6_000)

  expect(newestRow(file)).toBeGreaterThan(before)
  expect(receiptsOf(rig.line.events).map(({ kind }) => kind)).toEqual(['delivered'])
  expect(messagesOf(rig.line.events).map(({ text }) => text)).toEqual(['hello'])
})
