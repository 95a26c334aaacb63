// Finds the service that reaches a recipient, from this relay's own messages.

import type { Handle } from '../domain/handle.ts'
import type { LineId, Timestamp } from '../domain/ids.ts'
import type { LineLimit } from '../domain/routing.ts'
import { IS_HISTORY } from './conversations.ts'
import type { Db } from './database.ts'
import { isOfLines, limitValue } from './statement.ts'

/** The number of newest messages with the recipient that are examined on each line; history doesn't count. */
const NEWEST_MAX = 200

export type Evidence = {
  readonly service: 'iMessage' | 'SMS' | 'unknown'
  readonly evidence: 'delivered_imessage' | 'failed_22' | 'received_sms' | 'none'
  readonly lastSeenAt: Timestamp | null
  readonly lineId: LineId | null
}

type Row = Pick<Evidence, 'evidence'> & { readonly at: Timestamp; readonly lineId: LineId }

// iMessage refused a message that was downgraded to SMS, whatever happened after that.
const EVIDENCE = `CASE
  WHEN direction = 'inbound' AND service = 'SMS' THEN 'received_sms'
  WHEN direction = 'inbound' AND service = 'iMessage' THEN 'delivered_imessage'
  WHEN direction = 'inbound' THEN NULL
  WHEN error_code = 'not_on_imessage' OR extras ->> 'downgradedAt' IS NOT NULL THEN 'failed_22'
  WHEN service = 'iMessage' AND delivered_at IS NOT NULL THEN 'delivered_imessage' END`

const AT = `coalesce(extras ->> 'downgradedAt', CASE status WHEN 'failed' THEN updated_at END,
  delivered_at, sent_at, updated_at)`

const byConversation = `SELECT evidence, at, $lineId AS lineId FROM (
     SELECT ${EVIDENCE} AS evidence, ${AT} AS at
     FROM messages INDEXED BY messages_by_conversation
     WHERE conversation_seq = +$seq AND is_group = 0 AND NOT ${IS_HISTORY} ORDER BY seq DESC LIMIT ${NEWEST_MAX})
   WHERE evidence IS NOT NULL ORDER BY at DESC LIMIT 1`

/** The newest evidence of which service reaches the handle. A sent SMS isn't evidence. */
export function evidenceOf(db: Db, handle: Handle, limit: LineLimit): Evidence {
  const sql = `SELECT seq, line_id AS lineId FROM conversations
    WHERE handle = $handle AND ${isOfLines('line_id')}`
  const lineIds = limitValue(limit)
  const [newest] = db
    .rows<{ seq: number; lineId: LineId }>(sql, { handle, lineIds })
    .flatMap((conversation) => db.row<Row>(byConversation, conversation) ?? [])
    .toSorted((a, b) => b.at - a.at)
  if (newest === undefined) {
    return { service: 'unknown', evidence: 'none', lastSeenAt: null, lineId: null }
  }
  const { evidence, at, lineId } = newest
  const service = evidence === 'delivered_imessage' ? 'iMessage' : 'SMS'
  return { service, evidence, lastSeenAt: at, lineId }
}
