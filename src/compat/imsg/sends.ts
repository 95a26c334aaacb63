// Sends. Each has one idempotency key, so a request whose answer was lost is repeated and still sent once. A message
// that may have been sent is never reported as not sent.

import { RefusedError, UnreachedError } from '../../api/client.ts'
import type { Message, SendRequest } from '../../api/messages.ts'
import { NEVER, type Clock } from '../../system/clock.ts'
import { statusOf } from '../chats.ts'
import { messageNumber } from '../numbers.ts'
import { placeIn, type Place } from './chats.ts'
import { deliveryError, invalidParams, RpcError, type Disposition } from './errors.ts'
import { requiredText, textParam, type Params } from './params.ts'
import { chatWithId, sendState } from './reads.ts'
import type { ImsgRelay } from './relay.ts'

export type Sending = {
  readonly relay: ImsgRelay
  readonly clock: Clock
  /** Reads a file of this machine. */
  readonly readFile: (path: string) => Promise<{ name: string; bytes: ReadableStream<Uint8Array> }>
}

/** OpenClaw waits for 180 seconds, and the last try takes 90 at most. */
const PATIENCE_MS = 80_000
const RETRY_MS = 1_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SERVICES: Readonly<Record<string, SendRequest['service']>> = {
  imessage: 'iMessage',
  sms: 'SMS',
  auto: undefined,
}

export async function send(sending: Sending, params: Params): Promise<object> {
  return sendAs('send', sending, params, crypto.randomUUID())
}

export async function sendTracked(sending: Sending, params: Params): Promise<object> {
  const attempt = requiredText(params, 'attempt_id').toLowerCase()
  if (!UUID.test(attempt)) throw invalidParams('attempt_id must be a UUID')
  if (textParam(params, 'file', 'path') !== undefined) {
    throw invalidParams('send.tracked supports exactly one text message')
  }
  const result = await sendAs('send.tracked', sending, params, attempt)
  return { ...result, attempt_id: attempt }
}

export async function sendAttachment(sending: Sending, params: Params): Promise<object> {
  requiredText(params, 'file', 'path')
  return sendAs('send.attachment', sending, params, crypto.randomUUID())
}

async function sendAs(operation: string, sending: Sending, params: Params, idempotencyKey: string) {
  const text = textParam(params, 'text')
  const path = textParam(params, 'file', 'path')
  if (text === undefined && path === undefined) throw invalidParams('text or file is required')
  const service = (textParam(params, 'service') ?? 'auto').toLowerCase()
  if (!Object.hasOwn(SERVICES, service))
    throw invalidParams('service must be imessage, sms or auto')
  const { relay, clock } = sending
  const ready = await repeated(operation, clock, async () => ({
    place: await placeIn(relay, params),
    attachments: path === undefined ? undefined : [await upload(sending, path)],
  }))
  const { place, attachments } = ready
  const body = { text, attachments, reply_to: replyIn(params), service: SERVICES[service] }
  const headers = { 'idempotency-key': idempotencyKey }
  const message = await repeated(operation, clock, () => ask(relay, place, body, headers), true)
  return resultOf(operation, relay, message)
}

type Content = Pick<SendRequest, 'text' | 'attachments' | 'reply_to' | 'service'>

function ask(
  relay: ImsgRelay,
  place: Place,
  { service, ...content }: { readonly [Name in keyof Content]: Content[Name] | undefined },
  headers: Readonly<Record<string, string>>,
): Promise<Message> {
  if ('to' in place) {
    const body = { ...content, to: place.to, service }
    return relay.ask('sendMessage', { body, headers })
  }
  const { id } = place.conversation
  return relay.ask('sendInConversation', { params: { id }, body: content, headers })
}

/** The message to reply to. A line that can't send replies sends the text as a plain message. */
function replyIn(params: Params): SendRequest['reply_to'] {
  const guid = textParam(params, 'reply_to', 'replyTo', 'reply_to_guid', 'message_guid')
  return guid?.startsWith('msg_') ? { message_id: guid, if_supported: true } : undefined
}

async function upload({ relay, readFile }: Sending, path: string) {
  const { name, bytes } = await readFile(path).catch((error: unknown) => {
    throw invalidParams(`${path} can't be read: ${reasonOf(error)}`)
  })
  const { id } = await relay.upload(name, bytes)
  return { id }
}

/** The code of a failed read, such as EACCES, because the error's message contains local paths. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return error instanceof Error ? error.message : String(error)
}

/** Repeats a request until it is answered. `isSend`: the relay carries it out only once. */
async function repeated<T>(
  operation: string,
  clock: Clock,
  request: () => Promise<T>,
  isSend = false,
): Promise<T> {
  const until = clock.monotonic() + PATIENCE_MS
  let mayHaveArrived = false
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (error instanceof RpcError || !(error instanceof Error)) throw error
      const isRefused = error instanceof RefusedError
      mayHaveArrived ||= isSend && mayBeAccepted(error)
      if ((isRefused && error.status < 500) || clock.monotonic() > until) {
        throw failure(operation, error, mayHaveArrived)
      }
    }
    await clock.sleep(RETRY_MS, NEVER)
  }
}

/** True unless the error says that the relay didn't accept the message. */
function mayBeAccepted(error: Error): boolean {
  if (error instanceof RefusedError) return error.status === 500 || isPartlySent(error)
  return !(error instanceof UnreachedError)
}

type SendDetails = { readonly reason?: unknown; readonly message_id?: string }

/** The details of a failed send, also of a repeat whose first answer was lost; null for any other error. */
function failedSend(error: Error): SendDetails | null {
  if (!(error instanceof RefusedError) || error.code !== 'send_failed') return null
  return error.details ?? {} // The API documents this type.
}

function isPartlySent(error: Error): boolean {
  return failedSend(error)?.reason === 'partly_sent'
}

function failure(operation: string, error: Error, mayHaveArrived: boolean): RpcError {
  const failed = failedSend(error)
  const isKnown = failed !== null && !isPartlySent(error)
  const disposition = mayHaveArrived && !isKnown ? 'may_have_completed' : 'not_started'
  return deliveryError(operation, disposition, {
    detail: error.message,
    ...(error instanceof RefusedError && { relay_code: error.code }),
    ...(failed?.message_id !== undefined && { message_id: failed.message_id }),
  })
}

async function resultOf(operation: string, relay: ImsgRelay, message: Message): Promise<object> {
  const { id, error, service } = message
  const status = statusOf(message)
  const unknown: Readonly<Record<string, Disposition>> = {
    failed: 'not_started',
    expired: 'not_started',
    uncertain: 'may_have_completed',
    sending: 'still_in_flight',
  }
  const disposition = unknown[status]
  if (disposition !== undefined) {
    const detail = error?.message ?? `The message is ${status}: ask message.send_status.`
    throw deliveryError(operation, disposition, { detail, message_id: id })
  }
  const chat = await chatWithId(relay, message.conversation_id).catch(() => null)
  return {
    ok: true,
    transport: 'hookline',
    id: messageNumber(message),
    guid: id,
    message_id: id,
    ...(chat !== null && { chat_guid: chat.guid, chat_id: chat.number }),
    service,
    send_state: sendState(message),
    ...(message.queued_reason !== null && { queued_reason: message.queued_reason }),
  }
}
