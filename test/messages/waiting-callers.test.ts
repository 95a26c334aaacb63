import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import {
  timestamp,
  type ConversationId,
  type LineId,
  type MessageId,
} from '../../src/domain/ids.ts'
import { WaitingCallers } from '../../src/messages/waiting-callers.ts'
import type { Tx } from '../../src/storage/database.ts'
import { newMessage } from '../../src/storage/messages.ts'
import { TEST_START, TestClock } from '../support/test-clock.ts'

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
  const acts: (() => void)[] = []
  const writer = { afterCommit: (act: () => void) => void acts.push(act) }
  const callers = new WaitingCallers({ clock: new TestClock(), writer, waitReason: () => null })
  const tx = {} as Tx // Without an idempotency key nothing is written.
  const waiting = callers.wait(ID, null, 1_000)

  callers.settled(tx, DELIVERED)
  acts.length = 0
  callers.settled(tx, DELIVERED)
  for (const act of acts) act()

  expect((await waiting)?.kind).toBe('sent')
})

test('who was answered leaves no timer behind', async () => {
  const clock = new TestClock()
  const writer = { afterCommit: (act: () => void) => act() }
  const callers = new WaitingCallers({ clock, writer, waitReason: () => null })
  const waiting = callers.wait(ID, null, 1_000)
  const before = clock.sleeping

  callers.settled({} as Tx, DELIVERED) // As above.
  await waiting

  expect([before, clock.sleeping]).toEqual([1, 0])
})
