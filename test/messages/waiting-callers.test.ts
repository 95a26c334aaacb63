import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
} from '../../src/domain/ids.ts'
import { WaitingCallers } from '../../src/messages/waiting-callers.ts'
import { newMessage } from '../../src/storage/messages.ts'
import { TEST_START } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

const NOW = timestamp(TEST_START)
const ID = 'msg_a' as MessageId

const DELIVERED = {
  ...newMessage(
    {
      id: ID,
      lineId: 'line_a' as LineId,
      conversationId: 'conv_a' as ConversationId,
      phoneNumber: '+12025550101',
      handle: deviceHandle('+12025550147'),
      text: 'hello',
      guid: 'GUID',
      source: 'api',
      createdAt: NOW,
    },
    { status: 'delivered', sentAt: NOW, deliveredAt: NOW },
  ),
  seq: 1,
  updatedAt: NOW,
}

test('an answer whose transaction was undone is given by the next one', async () => {
  const { core } = openTestStorage()
  const callers = new WaitingCallers(core, { waitReason: () => null })
  const waiting = callers.wait(ID, null, 1_000)

  const undone = core.writer.write((tx) => {
    callers.settled(tx, { ...DELIVERED, text: 'undone' })
    throw new Error('Undone.')
  })
  const stored = core.writer.write((tx) => callers.settled(tx, DELIVERED))

  await expect(undone).rejects.toThrow('Undone.')
  await stored
  const answer = await waiting
  expect(answer?.kind).toBe('sent')
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ text: 'hello' })
})

test('who was answered leaves no timer behind', async () => {
  const { core, clock } = openTestStorage()
  const callers = new WaitingCallers(core, { waitReason: () => null })
  const waiting = callers.wait(ID, null, 1_000)
  const before = clock.sleeping

  await core.writer.write((tx) => callers.settled(tx, DELIVERED))
  await waiting

  expect([before, clock.sleeping]).toEqual([1, 0])
})
