// Errors for the caller. `http/errors.ts` alone knows which HTTP status a code has.

export type ErrorCode =
  | 'invalid_request'
  | 'invalid_recipient'
  | 'unauthorized'
  | 'signed_out'
  | 'wrong_password'
  | 'forbidden'
  | 'recipient_not_allowed'
  | 'password_needed'
  | 'setup_link_invalid'
  | 'not_found'
  | 'phone_line_not_found'
  | 'method_not_allowed'
  | 'idempotency_conflict'
  | 'automation_paused'
  | 'recipient_opted_out'
  | 'bridge_exists'
  | 'name_taken'
  | 'phone_line_in_use'
  | 'phone_line_disabled'
  | 'not_uncertain'
  | 'not_queued'
  | 'not_awaiting_approval'
  | 'webhook_inactive'
  | 'events_gone'
  | 'attachment_not_found'
  | 'attachment_not_ready'
  | 'attachment_in_use'
  | 'attachment_gone'
  | 'attachment_needs_text'
  | 'attachment_fetch_failed'
  | 'variant_unavailable'
  | 'range_not_satisfiable'
  | 'not_supported'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'misdirected_request'
  | 'send_failed'
  | 'invalid_sender'
  | 'rate_limit_exceeded'
  | 'no_phone_line'
  | 'broker_unavailable'
  | 'rollout_refused'
  | 'storage_full'
  | 'starting'
  | 'stopping'
  | 'internal_error'

export type Issue = { readonly path: string; readonly message: string }

/** An answer to the caller: the message says what was wrong and what would be right. */
export class RelayError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Seconds after which the same request may do better; becomes `Retry-After`. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      readonly details?: Readonly<Record<string, unknown>> | undefined
      readonly retryAfterSeconds?: number | undefined
    } = {},
  ) {
    super(message)
    this.name = 'RelayError'
    this.code = code
    this.details = more.details
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}

/** A body, query or path that does not fit, with one issue for each place. */
export function invalidRequest(...issues: readonly Issue[]): RelayError {
  const first = issues[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  const message = first === undefined ? 'The request does not fit.' : `${where}${first.message}`
  return new RelayError('invalid_request', message, { details: { issues } })
}

/** States what must hold; a failure is a fault of ours, never of the caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`)
}
