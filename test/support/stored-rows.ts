import type { Database } from 'bun:sqlite'

import type { StoredStatus } from '../../src/domain/message.ts'
import { TEST_START } from './test-clock.ts'

export type StoredMessage = {
  readonly id: string
  readonly status: StoredStatus
  readonly conversation?: string
  readonly direction?: 'inbound' | 'outbound'
  readonly text?: string
  readonly guid?: string
  readonly createdAt?: number
  readonly hold?: string
  readonly queuedReason?: string
  readonly dueAt?: number | null
}

/** A line `line_a` with one place of its budget reserved, unless it is there. */
export function storeLine(sqlite: Database): void {
  sqlite.run(
    `INSERT INTO lines (id, driver, device_key, phone_number, daily_contact_limit, is_enabled,
       relay_sms, contacts_reserved, created_at)
     VALUES ('line_a', 'simulated', '1', '+12025550101', 50, 1, 0, 1, ${TEST_START})
     ON CONFLICT DO NOTHING`,
  )
}

/** Messages of `line_a`, in this order, and their conversations with the right counts. */
export function storeMessages(sqlite: Database, messages: readonly StoredMessage[]): void {
  for (const message of messages) {
    const conversation = message.conversation ?? 'conv_a'
    sqlite
      .query(
        `INSERT INTO conversations (id, line_id, phone_number, handle, service, message_count,
           last_seq, created_at, updated_at)
         VALUES ($id, 'line_a', '+12025550101', $id, 'iMessage', 0, 0, $at, $at)
         ON CONFLICT DO NOTHING`,
      )
      .run({ id: conversation, at: TEST_START })
    const { seq } = storeMessage(sqlite, message, conversation)
    sqlite
      .query(
        `UPDATE conversations SET message_count = message_count + 1, last_seq = $seq
         WHERE id = $conversation`,
      )
      .run({ seq, conversation })
  }
}

function storeMessage(
  sqlite: Database,
  message: StoredMessage,
  conversation: string,
): { readonly seq: number } {
  const row = sqlite
    .query<{ seq: number }, [Record<string, string | number | null>]>(
      `INSERT INTO messages (id, line_seq, conversation_seq, phone_number, handle, direction, status,
         service, text, guid, source, queued_reason, due_at, contact_hold, revision, created_at,
         waits_from, updated_at)
       VALUES ($id, (SELECT seq FROM lines WHERE id = 'line_a'),
         (SELECT seq FROM conversations WHERE id = $conversation), '+12025550101', '+12025550147', $direction, $status,
         'iMessage', $text, $guid, 'api', $queuedReason, $dueAt, $hold,
         (SELECT coalesce(max(revision), 0) + 1 FROM messages), $at, $at, $at)
       RETURNING seq`,
    )
    .get({
      id: message.id,
      conversation,
      direction: message.direction ?? 'outbound',
      text: message.text ?? 'hello',
      guid: message.guid ?? message.id,
      status: message.status,
      queuedReason: message.queuedReason ?? null,
      dueAt: message.dueAt ?? null,
      hold: message.hold ?? 'none',
      at: message.createdAt ?? TEST_START,
    })
  if (row === null) throw new Error('Nothing was stored.')
  return row
}
