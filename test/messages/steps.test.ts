// One step of a message as storage writes it: only its own columns, and never by an old copy.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import type { Outbound } from '../../src/domain/message.ts'
import { bringBackChanges, wakeLimited } from '../../src/storage/message-queue.ts'
import { currentMessage, updateMessage } from '../../src/storage/messages.ts'
import { NOW, openStage, queueMessage, storedMessage, type MessageStage } from './message-stage.ts'

test('a step changes its own fields, and leaves what others wrote', () => {
  const stage = openStage()
  const message = queueMessage(stage)
  stage.tx.sqlite.run("UPDATE messages SET note = 'of another'")

  const changed = updateMessage(stage.tx, message, { round: 2, refusedBy: [] }, NOW)

  expect(storedMessage(stage, message)).toMatchObject({ ...changed, note: 'of another' })
})

test('a step that was decided on an old copy of its message is refused, and changes nothing', () => {
  const stage = openStage()
  const message = queueMessage(stage)
  const changed = updateMessage(stage.tx, message, { round: 1 }, NOW)

  const again = () => updateMessage(stage.tx, message, { status: 'failed' }, NOW)

  expect(again).toThrow(`${message.id} is as it was read`)
  expect(storedMessage(stage, message)).toMatchObject(changed)
})

const LATER = timestamp(NOW + 60_000)

/** Everything that changes a queued message between the reading of it and the next step. */
const CHANGES: Readonly<Record<string, (stage: MessageStage, known: Outbound) => void>> = {
  'by a step': ({ tx }, known) => void updateMessage(tx, known, { round: 1 }, NOW),
  'by a new setting': ({ tx, line }) => {
    tx.sqlite.run("UPDATE messages SET queued_reason = 'daily_contact_limit'")
    wakeLimited(tx, line.id, LATER)
  },
  'by a clock that is set back': ({ tx }) => bringBackChanges(tx, NOW - 60_000),
  'by a merge of conversations': ({ tx, line }) => {
    tx.sqlite.run(
      `INSERT INTO conversations (seq, id, line_id, phone_number, handle, service, message_count,
         last_seq, created_at, updated_at)
       VALUES (99, 'conv_other', '${line.id}', '', '+12025550199', 'iMessage', 1, 1, 0, 0)`,
    )
    tx.sqlite.run("UPDATE messages SET conversation_seq = 99, handle = '+12025550199'")
  },
}

for (const [how, act] of Object.entries(CHANGES)) {
  test(`a message that was changed ${how} is read again`, () => {
    const stage = openStage()
    const known = queueMessage(stage)
    expect(currentMessage(stage.tx, known)).toBe(known)

    act(stage, known)
    const current = currentMessage(stage.tx, known)

    expect(current).not.toEqual(known)
    expect(current).toEqual(storedMessage(stage, known))
  })
}

test('a message that was deleted is not there any more', () => {
  const stage = openStage()
  const known = queueMessage(stage)

  stage.tx.sqlite.run('DELETE FROM messages')

  expect(currentMessage(stage.tx, known)).toBeNull()
})
