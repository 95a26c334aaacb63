import type { AnyEvent } from '../api/webhooks.ts'
import { webhookFormat } from '../compat/apis.ts'
import type { EventId, Timestamp } from '../domain/ids.ts'
import type { Db } from '../storage/database.ts'
import { numberOfLine } from '../storage/lines.ts'
import type { Webhook } from '../storage/webhooks.ts'
import { withLinks, type DownloadUrl } from './payload.ts'

type Event = { readonly id: EventId; readonly body: string; readonly createdAt: Timestamp }

/** The body of an event as this webhook gets it: the same bytes in each attempt. */
export function bodySent(
  db: Db,
  { id, body, createdAt }: Event,
  given: {
    readonly webhook: Pick<Webhook, 'id' | 'attachmentLinks' | 'format'>
    readonly downloadUrl: DownloadUrl
  },
): string {
  const { webhook, downloadUrl } = given
  const own = webhook.attachmentLinks ? withLinks(body, createdAt, downloadUrl) : body
  const format = webhookFormat(webhook.format)
  if (format === null) return own
  const event = JSON.parse(own) as AnyEvent // `payload.ts` wrote it.
  const lineId = event.phone_line_id
  const line = lineId === null ? null : numberOfLine(db, lineId)
  return format.body({ id, webhookId: webhook.id, event, at: createdAt, line })
}
