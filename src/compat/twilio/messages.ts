// The calls of Twilio's Messages API.

import type { Message } from '../../api/messages.ts'
import { TEXT_LENGTH_MAX } from '../../domain/message.ts'
import type { CompatAnswer, CompatCall, CompatHandler, CompatRelay, Fields } from '../compat-api.ts'
import { textIn } from '../fields.ts'
import { fault } from './errors.ts'
import { idOfSid } from './ids.ts'
import { pageOf } from './lists.ts'
import { accountPath, mediaResource, messageResource } from './resources.ts'

/** Answers a call whose path names the account of its credentials. */
export function ofAccount(handle: CompatHandler): CompatHandler {
  return async (call) => {
    const { account } = call.params
    if (account === call.relay.key) return handle(call)
    return fault(404, 20404, `The requested resource ${account} was not found.`)
  }
}

export const create: CompatHandler = async ({ fields, relay }) => {
  const to = textIn(fields, ['To']) ?? ''
  const text = textIn(fields, ['Body']) ?? ''
  const wrong = faultIn(fields, { to, text })
  if (wrong !== null) return wrong
  const [state] = await relay.send([
    {
      to,
      text,
      from: senderIn(fields),
      mediaUrls: mediaIn(fields),
      sendAt: textIn(fields, ['SendAt']),
      callbackUrl: textIn(fields, ['StatusCallback']),
    },
  ])
  if (state === undefined) return fault(400, 21604, "A 'To' phone number is required.")
  return { status: 201, body: messageResource(relay.key, state.message) }
}

/** The error for a send that Twilio would reject; null if there is none. */
function faultIn(fields: Fields, { to, text }: Record<'to' | 'text', string>): CompatAnswer | null {
  const { SendAt: at, ScheduleType: type, From: from, MessagingServiceSid: service } = fields
  const isUnsent = text === '' && mediaIn(fields).length === 0
  const isLong = Array.from(text).length > TEXT_LENGTH_MAX
  const isHalf = (type !== undefined || at !== undefined) && (type !== 'fixed' || at === undefined)
  const faults = [
    [to === '', 21604, "A 'To' phone number is required."],
    [isUnsent, 21602, 'Message body is required.'],
    [isLong, 21617, `The message body exceeds the ${TEXT_LENGTH_MAX} character limit.`],
    [!from && !service, 21603, "A 'From' phone number or a MessagingServiceSid is required."],
    [isHalf, 35114, "Scheduling needs ScheduleType 'fixed' and SendAt."],
  ] as const
  const [, code, words] = faults.find(([isSo]) => isSo) ?? []
  return code === undefined || words === undefined ? null : fault(400, code, words)
}

/** The number of a line; undefined for a messaging service, which stands for any line. */
function senderIn(fields: Fields): string | undefined {
  const from = textIn(fields, ['From'])
  return from === undefined || /^MG[0-9a-f]{32}$/i.test(from) ? undefined : from
}

function mediaIn(fields: Fields): readonly string[] {
  const given = [fields['MediaUrl'] ?? []].flat()
  return given.filter((url): url is string => typeof url === 'string' && url !== '')
}

export const fetch: CompatHandler = async ({ params, relay }) => {
  const message = await messageOf(params, relay)
  return { status: 200, body: messageResource(relay.key, message) }
}

/** Cancels a message that wasn't sent yet. Texts can't be redacted: the owner decides how long messages are kept. */
export const update: CompatHandler = async ({ params, fields, relay }) => {
  const { id } = await messageOf(params, relay)
  if (fields['Status'] === 'canceled') {
    const message = await relay.call('cancelMessage', { params: { id } })
    return { status: 200, body: messageResource(relay.key, message) }
  }
  if (fields['Body'] === undefined) {
    return fault(400, 20001, "The only change of a message is the Status 'canceled'.")
  }
  const kept = "messages are kept for as long as the relay's owner has set."
  return fault(405, 20004, `Method not allowed: ${kept}`)
}

async function messageOf(params: CompatCall['params'], relay: CompatRelay): Promise<Message> {
  const id = idOfSid('msg', withoutJson(params['sid']), ['SM', 'MM'])
  return relay.call('getMessage', { params: { id: id ?? 'none' } })
}

export const listMedia: CompatHandler = async ({ params, relay }) => {
  const message = await messageOf(params, relay)
  const files = message.attachments ?? []
  const media = files.map((file) => mediaResource(relay.key, message, file))
  const uri = `${accountPath(relay.key)}/Messages/${params['sid']}/Media.json`
  const { length: count } = media
  const page = pageOf(uri, { page: 0, size: Math.max(1, count), count, next: null })
  return { status: 200, body: { ...page, media_list: media } }
}

/** A file as JSON, or its bytes if the path doesn't end in `.json`. */
export const fetchMedium: CompatHandler = async ({ params, relay }) => {
  const message = await messageOf(params, relay)
  const given = params['media'] ?? ''
  const id = idOfSid('att', withoutJson(given), ['ME'])
  const file = message.attachments?.find((one) => one.id === id)
  if (file === undefined) return fault(404, 20404, `The requested resource ${given} was not found.`)
  if (!given.endsWith('.json')) return relay.download(file.id)
  return { status: 200, body: mediaResource(relay.key, message, file) }
}

function withoutJson(segment = ''): string {
  return segment.replace(/\.json$/, '')
}
