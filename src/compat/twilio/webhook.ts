// Twilio's webhooks: a form of parameters for each event, signed with the account's token.

import { messageOf, type ReportedMessage } from '../chats.ts'
import type { SentEvent, WebhookFormat } from '../compat-api.ts'
import { failureCode } from './errors.ts'
import { mediaPath, messageSid, twilioStatus, VERSION } from './resources.ts'
import { repliesIn } from './twiml.ts'

export const TWILIO_WEBHOOK: WebhookFormat = {
  about: 'For programs that take the webhooks of Twilio, and may answer them.',
  events: [
    'message.received',
    'message.sent',
    'message.delivered',
    'message.read',
    'message.failed',
  ],
  contentType: 'application/x-www-form-urlencoded',
  hasAccount: true,
  body(sent) {
    const message = messageOf(sent)
    if (message === null) return ''
    const isOutbound = message.direction === 'outbound'
    const own = isOutbound ? statusParameters(sent, message) : receivedParameters(sent, message)
    return new URLSearchParams(own).toString()
  },
  headers({ id, url, body, token }) {
    return {
      'x-twilio-signature': signatureOf(url, body, token),
      'i-twilio-idempotency-token': id,
    }
  },
  repliesIn,
}

function statusParameters({ account, line }: SentEvent, message: ReportedMessage) {
  const { code = '' } = message.error ?? {}
  const status = twilioStatus(message)
  return {
    ...commonParameters(account, message),
    From: line ?? '',
    To: message.handle,
    MessageStatus: status,
    SmsStatus: status,
    ...(status === 'failed' && { ErrorCode: String(failureCode(code)) }),
  }
}

function receivedParameters({ account, line, relay }: SentEvent, message: ReportedMessage) {
  const { attachments = [], handle, text } = message
  const media = attachments.flatMap((file, place) => [
    [`MediaUrl${place}`, relay + mediaPath(account, message, file.id)],
    [`MediaContentType${place}`, file.mime_type],
  ])
  return {
    ...commonParameters(account, message),
    From: handle,
    To: line ?? '',
    Body: text,
    NumMedia: String(attachments.length),
    NumSegments: '1',
    // @chat-adapter/twilio takes a received file for a callback if there is a status but no text.
    ...(text !== '' && { SmsStatus: 'received' }),
    ...Object.fromEntries(media),
  }
}

function commonParameters(account: string, message: ReportedMessage) {
  const sid = messageSid(message)
  return {
    MessageSid: sid,
    SmsSid: sid,
    SmsMessageSid: sid,
    AccountSid: account,
    ApiVersion: VERSION,
  }
}

/** HMAC-SHA1 over the URL and the parameters sorted by name, in base64. */
function signatureOf(url: string, body: string, token: string): string {
  const parameters = [...new URLSearchParams(body)].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = new URL(url).href + parameters.flat().join('')
  return new Bun.CryptoHasher('sha1', token).update(text).digest('base64')
}
