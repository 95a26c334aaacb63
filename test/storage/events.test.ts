import { expect, test } from 'bun:test'

import type { EventId } from '../../src/domain/ids.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { insertEvent, readEvent } from '../../src/storage/events.ts'
import { Writer } from '../../src/storage/writer.ts'
import { TEST_START } from '../support/test-clock.ts'

test('an event that is known already has no new seq, and stays as it was', async () => {
  const { db } = openDatabase(':memory:', { version: 'test' })
  const writer = new Writer(db, () => {})
  const event = (id: string, body: string) => ({
    id: id as EventId,
    name: 'message.sent' as const,
    messageId: null,
    conversationId: null,
    body,
    createdAt: timestamp(TEST_START),
  })

  const seqs = await writer.write((tx) => [
    insertEvent(tx, event('evt_a', 'first')),
    insertEvent(tx, event('evt_b', 'other')),
    insertEvent(tx, event('evt_a', 'second')),
  ])

  expect(seqs).toEqual([1, 2, null])
  expect(readEvent(db, 1)).toEqual({ id: 'evt_a' as EventId, body: 'first' })
})
