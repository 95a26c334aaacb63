import type { Alert } from '../api/alerts.ts'
import { approvalFields, replyFields } from '../api/messages.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { webhookFormat } from '../compat/apis.ts'
import type { WebhookFormat } from '../compat/compat-api.ts'
import type { GroupChange } from '../domain/conversation.ts'
import type { Handle } from '../domain/handle.ts'
import type { AttachmentId, LineId, Timestamp } from '../domain/ids.ts'
import type { MessageChange } from '../domain/message-extras.ts'
import type { Message } from '../domain/message.ts'
import type { EventName } from '../domain/webhook.ts'
import { fileFields, type Attachment } from '../storage/attachments.ts'
import type { Db } from '../storage/database.ts'
import type { SentEvent } from '../storage/events.ts'
import { numberOfLine } from '../storage/lines.ts'
import type { MessageParts, PlacedGroup } from '../storage/message-parts.ts'
import { optOutFields, type OptOut } from '../storage/opt-outs.ts'
import type { Webhook } from '../storage/webhooks.ts'
import { isoTime, isoTimeOrNull } from '../system/iso-time.ts'

type Payload = Pick<
  Message,
  | 'id'
  | 'guid'
  | 'text'
  | 'handle'
  | 'service'
  | 'lineId'
  | 'direction'
  | 'extras'
  | 'sentAt'
  | 'deliveredAt'
  | 'readAt'
  | 'error'
>

export type EventChange =
  | { readonly reaction: ReactionRow }
  | { readonly attachment: Attachment }
  | { readonly guid: string }

type ReactionRow = Extract<MessageChange, { readonly kind: 'reaction' }>

/** A reaction to a message that the relay doesn't have; `group` is null in a conversation of two. */
export type UnplacedReaction = {
  readonly lineId: LineId
  readonly group: PlacedGroup | null
  readonly reaction: ReactionRow
}

export type ChangedGroup = {
  readonly lineId: LineId
  readonly group: PlacedGroup
  readonly change: GroupChange
  readonly actor: Handle | null
  readonly target: Handle | null
  readonly replaced?: Handle | undefined
  readonly at: Timestamp
}

export type AlertEvent = Extract<EventName, `alert.${string}`>

export type OptOutEvent = Extract<EventName, `contact.${string}`>

const STEPS: readonly EventName[] = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'group_message.received',
  'group_message.sent',
]

/** True if the payload can still be built later. False for failures, which may be disproved, and changes of text. */
export function isRebuildable(name: EventName): boolean {
  return STEPS.includes(name)
}

type Flags = Readonly<Record<'isFromMe' | 'isSent' | 'isDelivered' | 'isRead', boolean>>

/** An event's body as JSON text: exactly these bytes are signed and sent. Undefined fields are omitted. */
export function payloadOf(
  name: EventName,
  message: Payload,
  { attachments, replyTo, group }: MessageParts = {},
  change?: EventChange,
): string {
  const { isFromMe, isSent, isDelivered, isRead } = flagsOf(name, message)
  return JSON.stringify({
    event: name,
    phone_line_id: message.lineId,
    message: {
      id: message.id,
      guid: message.guid,
      text: message.text,
      handle: message.handle,
      chatIdentifier: group?.identifier ?? message.handle,
      isFromMe,
      service: message.service,
      isSent,
      isDelivered,
      isRead,
      error: name.endsWith('message.failed') ? message.error : undefined,
      attachments: attachments?.map(fileFields),
      replyTo: replyTo && replyFields(replyTo),
      edits: name === 'message.edited' ? editFields(message) : undefined,
      unsent_at: name === 'message.unsent' ? unsentAt(message) : undefined,
    },
    ...changeFields(change),
    approval: name.startsWith('approval.') ? approvalOf(message) : undefined,
    conversation: group && groupFields(group),
  })
}

function approvalOf({ extras }: Payload) {
  const { approval } = extras ?? {}
  return approval && approvalFields(approval, isoTimeOrNull(approval.resolvedAt))
}

/** The URL of a file that needs no key, for an event created at `since`. */
export type DownloadUrl = (id: AttachmentId, since: Timestamp) => string

type Linked = { readonly id: AttachmentId; readonly state: string }
type WithFiles = {
  readonly message?: { readonly attachments?: readonly Linked[] } | null
  readonly attachment?: Linked
}

/** The body of an event as this webhook gets it: the same bytes in each attempt. */
export function bodySent(
  db: Db,
  { id, body, createdAt }: SentEvent,
  given: {
    readonly webhook: Pick<Webhook, 'id' | 'attachmentLinks'>
    readonly format: WebhookFormat | null
    readonly downloadUrl: DownloadUrl
    /** The key of the webhook's account; empty if it has none. */
    readonly account: string
    readonly relay: string
  },
): string {
  const { webhook, format, downloadUrl, account, relay } = given
  const own = webhook.attachmentLinks ? withLinks(body, createdAt, downloadUrl) : body
  if (format === null) return own
  const event = JSON.parse(own) as AnyEvent // A function of this file wrote it.
  const { phone_line_id: lineId } = event
  const line = lineId === null ? null : numberOfLine(db, lineId)
  const time = isoTime(createdAt)
  const sent = { id, webhookId: webhook.id, event, at: createdAt, time, line }
  return format.body({ ...sent, account, relay })
}

/** False if the webhook's format can't express the event with this body. */
export function isExpressible(formatName: string | null, body: string | null): boolean {
  const format = formatName === null ? null : webhookFormat(formatName)
  if (body === null || format?.says === undefined) return true
  return format.says(JSON.parse(body) as AnyEvent) // A function of this file wrote it.
}

/** The body for a webhook with `attachment_links`: adds a URL to every available file. */
function withLinks(body: string, since: Timestamp, downloadUrl: DownloadUrl): string {
  if (!body.includes('"mime_type"')) return body
  const event = JSON.parse(body) as WithFiles // `payloadOf` wrote it.
  const linked = (file: Linked) =>
    file.state === 'available' ? { ...file, download_url: downloadUrl(file.id, since) } : file
  const { message, attachment } = event
  const files = message?.attachments?.map(linked)
  return JSON.stringify({
    ...event,
    ...(files && { message: { ...message, attachments: files } }),
    ...(attachment && { attachment: linked(attachment) }),
  })
}

export function unplacedReaction({ lineId, reaction, group }: UnplacedReaction): string {
  return JSON.stringify({
    event: 'message.reaction' satisfies EventName,
    phone_line_id: lineId,
    message: null,
    target_guid: reaction.targetGuid,
    ...changeFields({ reaction }),
    conversation: group === null ? undefined : groupFields(group),
  })
}

export function groupUpdate({ lineId, ...changed }: ChangedGroup): string {
  const { group, change, actor, target, replaced, at } = changed
  return JSON.stringify({
    event: 'group.updated' satisfies EventName,
    phone_line_id: lineId,
    conversation: groupFields(group),
    change,
    actor,
    target,
    replaced,
    name: group.name,
    occurred_at: isoTime(at),
  })
}

/** For `contact.opted_in`, `optOut` describes what ended the opt-out. */
export function optOutChange(event: OptOutEvent, optOut: OptOut, lineId: LineId | null): string {
  const opt_out = optOutFields(optOut, isoTime(optOut.createdAt))
  return JSON.stringify({ event, phone_line_id: lineId, opt_out })
}

export function alertChange(event: AlertEvent, alert: Alert): string {
  return JSON.stringify({ event, phone_line_id: alert.phone_line_id, alert })
}

function editFields({ extras }: Payload) {
  return (extras?.edits ?? []).map(({ text, at }) => ({ text, at: isoTime(at) }))
}

function unsentAt({ extras }: Payload): string | undefined {
  return extras?.unsentAt === undefined ? undefined : isoTime(extras.unsentAt)
}

function changeFields(change: EventChange | undefined) {
  if (change === undefined) return {}
  if ('attachment' in change) return { attachment: fileFields(change.attachment) }
  if (!('reaction' in change)) return {}
  const { action, type, emoji, handle, isFromMe, part, at } = change.reaction
  return { reaction: { action, type, emoji, handle, isFromMe, part, occurred_at: isoTime(at) } }
}

function groupFields({ conversationId, chatGuid, name, participants }: PlacedGroup) {
  const participant_count = participants.length
  return { id: conversationId, chat_guid: chatGuid, name, participant_count }
}

/** A step has fixed flags, whatever happened since. Other events have their message's current flags. */
function flagsOf(name: EventName, message: Payload): Flags {
  return (
    FLAGS[name.replace('group_', '')] ?? {
      isFromMe: message.direction === 'outbound',
      isSent: message.sentAt !== null,
      isDelivered: message.deliveredAt !== null || message.direction === 'inbound',
      isRead: message.readAt !== null,
    }
  )
}

const FLAGS: Readonly<Record<string, Flags>> = {
  'message.received': { isFromMe: false, isSent: true, isDelivered: true, isRead: false },
  'message.sent': { isFromMe: true, isSent: true, isDelivered: false, isRead: false },
  'message.delivered': { isFromMe: true, isSent: true, isDelivered: true, isRead: false },
  'message.read': { isFromMe: true, isSent: true, isDelivered: true, isRead: true },
}
