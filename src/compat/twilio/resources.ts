// The resources of Twilio's API, made of the relay's own.

import type { MessageAttachment } from '../../api/attachments.ts'
import type { Message } from '../../api/messages.ts'
import { rfcTime } from '../../system/iso-time.ts'
import { statusOf } from '../chats.ts'
import { failureCode } from './errors.ts'
import { sidOf } from './ids.ts'

export const VERSION = '2010-04-01'

const STATUSES: Readonly<Record<string, string>> = {
  queued: 'queued',
  sending: 'sending',
  uncertain: 'sending',
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  failed: 'failed',
  expired: 'failed',
  received: 'received',
}

export function messageResource(account: string, message: Message) {
  const { direction, error } = message
  const status = twilioStatus(message)
  const sid = messageSid(message)
  const uri = `${accountPath(account)}/Messages/${sid}`
  const failure = status === 'failed' ? error : null
  return {
    account_sid: account,
    api_version: VERSION,
    body: message.text,
    date_created: rfcTime(message.created_at),
    date_sent: message.sent_at && rfcTime(message.sent_at),
    date_updated: rfcTime(message.updated_at),
    direction: direction === 'inbound' ? 'inbound' : 'outbound-api',
    error_code: failure && failureCode(failure.code),
    error_message: failure && failure.message,
    from: message.from,
    messaging_service_sid: null,
    num_media: String(message.attachments?.length ?? 0),
    num_segments: '1',
    price: null,
    price_unit: 'USD',
    sid,
    status,
    subresource_uris: { media: `${uri}/Media.json` },
    to: message.to,
    uri: `${uri}.json`,
  }
}

type Outcome = Pick<Message, 'status' | 'error'> & Partial<Pick<Message, 'queued_reason'>>

export function twilioStatus(message: Outcome): string {
  const { status, queued_reason: reason, error } = message
  if (status === 'queued' && reason === 'scheduled') return 'scheduled'
  if (status === 'failed' && error?.code === 'canceled') return 'canceled'
  return STATUSES[statusOf(message)] ?? 'queued'
}

export function messageSid({ id, attachments = [] }: MessageWithFiles): string {
  return sidOf(attachments.length === 0 ? 'SM' : 'MM', id)
}

export type MessageWithFiles = {
  readonly id: string
  readonly attachments?: readonly { readonly id: string }[] | undefined
}

export function mediaResource(account: string, message: Message, file: MessageAttachment) {
  const date = rfcTime(message.created_at)
  return {
    account_sid: account,
    content_type: file.mime_type,
    date_created: date,
    date_updated: date,
    parent_sid: messageSid(message),
    sid: sidOf('ME', file.id),
    uri: `${mediaPath(account, message, file.id)}.json`,
  }
}

export function mediaPath(account: string, message: MessageWithFiles, fileId: string): string {
  return `${accountPath(account)}/Messages/${messageSid(message)}/Media/${sidOf('ME', fileId)}`
}

export function accountPath(account: string): string {
  return `/${VERSION}/Accounts/${account}`
}
