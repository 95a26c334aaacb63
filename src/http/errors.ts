// The one table from what a caller did or met to HTTP.

import { RelayError, type ErrorCode } from '../domain/errors.ts'
import type { Log } from '../system/log.ts'
import type { Signal } from '../system/signal.ts'
import { respond } from './respond.ts'

type Meaning = {
  readonly status: number
  readonly when: string
  /** Only a browser at the dashboard meets it. */
  readonly isOfDashboard?: true
}

export const ERRORS: Readonly<Record<ErrorCode, Meaning>> = {
  invalid_request: { status: 400, when: 'The body, the query or a header does not fit.' },
  invalid_recipient: { status: 400, when: '`to` is nobody to whom the line can send.' },
  unauthorized: {
    status: 401,
    when: 'The credentials are missing, wrong or revoked: `X-API-Key` and `X-API-Secret`, or the token of a bridge.',
  },
  signed_out: {
    status: 401,
    when: 'Nobody is signed in to the dashboard in this browser.',
    isOfDashboard: true,
  },
  wrong_password: {
    status: 401,
    when: 'This is not the password of the dashboard.',
    isOfDashboard: true,
  },
  forbidden: {
    status: 403,
    when: 'The request does not come from a page of this relay.',
    isOfDashboard: true,
  },
  password_needed: {
    status: 403,
    when: 'The password must have been given within the last hour.',
    isOfDashboard: true,
  },
  setup_link_invalid: {
    status: 403,
    when: 'The setup link is used, replaced or too old.',
    isOfDashboard: true,
  },
  not_found: { status: 404, when: 'There is nothing with this path or id.' },
  phone_line_not_found: { status: 404, when: '`phone_line_id` names no line.' },
  method_not_allowed: { status: 405, when: 'The path is known, with another method.' },
  idempotency_conflict: { status: 409, when: 'The `Idempotency-Key` was used with other values.' },
  automation_paused: {
    status: 409,
    when: 'A person answers this conversation, and the setting `enforce_automation_pause` is on.',
  },
  bridge_exists: { status: 409, when: 'The number has a bridge already.' },
  phone_line_in_use: { status: 409, when: 'The line cannot be deleted.' },
  phone_line_disabled: { status: 409, when: '`phone_line_id` names a line that is switched off.' },
  not_uncertain: { status: 409, when: 'The message is not `uncertain`.' },
  webhook_inactive: { status: 409, when: 'The webhook is not active.' },
  payload_too_large: { status: 413, when: 'The body has more than 256 KiB.' },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json`.' },
  misdirected_request: { status: 421, when: 'The `Host` is not one of this relay.' },
  send_failed: { status: 422, when: 'The line refused the message for good.' },
  invalid_sender: {
    status: 422,
    when: 'The sender is a name, where only a number or an e-mail address can be answered.',
  },
  rate_limit_exceeded: { status: 429, when: 'The daily contact limit is reached.' },
  internal_error: { status: 500, when: 'A fault of the relay; its log has the request id.' },
  no_phone_line: { status: 503, when: 'The relay has no enabled line.' },
  storage_full: { status: 503, when: 'The disk of the relay is full.' },
  starting: { status: 503, when: 'The relay is starting, or the line of a bridge is.' },
  stopping: { status: 503, when: 'The relay is stopping.' },
}

export function errorResponse(
  error: RelayError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { code, message, details, retryAfterSeconds } = error
  const body = { error: { code, message, ...(details === undefined ? {} : { details }) } }
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return respond(JSON.stringify(body), {
    status: ERRORS[code].status,
    requestId,
    headers: { ...retry, ...headers },
  })
}

export type FailureTools = {
  readonly log: Log
  /** Rung at what nobody foresaw: the database may be to blame. */
  readonly doubtSignal: Signal
}

/** The client closed the connection in the middle of its request. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError'
}

/** As proxies count it; nobody is there to read it. */
const HUNG_UP_STATUS = 499

/** The answer to whatever was thrown. What is not for the caller is logged, and nothing of it leaves. */
export function answerToFailure(
  thrown: unknown,
  requestId: string,
  { log, doubtSignal }: FailureTools,
): Response {
  const error = unwrapped(thrown)
  if (error instanceof HungUpError) return respond(null, { status: HUNG_UP_STATUS, requestId })
  if (error instanceof RelayError) {
    if (error.code === 'internal_error')
      log.error('request failed', { request_id: requestId, error: thrown })
    return errorResponse(error, requestId)
  }
  log.error('request failed', { request_id: requestId, error: thrown })
  doubtSignal.notify()
  return errorResponse(internalError(), requestId)
}

export function internalError(): RelayError {
  const message = 'Something went wrong in the relay. Its log tells more, under this X-Request-Id.'
  return new RelayError('internal_error', message)
}

/** Elysia wraps what a body parser throws. */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RelayError) return error
  const { cause } = error
  return cause instanceof RelayError || cause instanceof HungUpError ? cause : error
}
