import { decodeCursor } from '../api/paging.ts'
import { invalidRequest, RelayError } from '../domain/errors.ts'
import { parseId, type LineId } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { everyLineId } from '../storage/lines.ts'
import { findWebhook, type StoredWebhook } from '../storage/webhooks.ts'

/** The webhook with an id as a caller wrote it; throws `not_found`. */
export function webhookById(db: Db, text: string): StoredWebhook {
  const id = parseId('wh', text)
  const webhook = id === null ? null : findWebhook(db, id)
  if (webhook === null) throw new RelayError('not_found', 'There is no webhook with this id.')
  return webhook
}

/** The line with an id as a caller wrote it, deleted ones included; throws `phone_line_not_found`. */
export function lineIdIn(db: Db, text: string): LineId {
  const known = everyLineId(db).find((id) => id === text)
  if (known !== undefined) return known
  throw new RelayError('phone_line_not_found', 'There is no phone line with this phone_line_id.')
}

/** Throws `webhook_inactive` unless something may go out to it now. */
export function requireActive(webhook: StoredWebhook): void {
  if (webhook.isActive) return
  throw new RelayError('webhook_inactive', 'The webhook is not active: set is_active first.')
}

/** Where a list goes on, or null for its beginning; throws `invalid_request`. */
export function positionOf(cursor: string | null): number | null {
  if (cursor === null) return null
  const [seq] = decodeCursor(cursor, 1) ?? []
  if (seq === undefined) {
    throw invalidRequest({ path: 'cursor', message: 'must be the next_cursor of an earlier page' })
  }
  return seq
}
