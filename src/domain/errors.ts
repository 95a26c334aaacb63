// Errors for the caller. Only `http/errors.ts` knows the HTTP status of a code.

export type ErrorCode =
  | 'invalid_request'
  | 'invalid_recipient'
  | 'unauthorized'
  | 'signed_out'
  | 'wrong_password'
  | 'second_factor_needed'
  | 'wrong_code'
  | 'forbidden'
  | 'recipient_not_allowed'
  | 'password_needed'
  | 'setup_link_invalid'
  | 'not_found'
  | 'phone_line_not_found'
  | 'method_not_allowed'
  | 'idempotency_conflict'
  | 'automation_paused'
  | 'already_sent'
  | 'recipient_opted_out'
  | 'bridge_exists'
  | 'name_taken'
  | 'phone_line_in_use'
  | 'site_in_use'
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

/** `suggestion` is the value or name that the caller most likely meant. */
export type Issue = {
  readonly path: string
  readonly message: string
  readonly suggestion?: string | undefined
}

/** An error for the caller: the message says what was wrong and what would be right. */
export class RelayError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
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

/**
 * The error for an invalid body, query or path, with one issue for each place. Its message is about the first
 * issue with a suggestion, because a misspelled name explains why another one is missing.
 */
export function invalidRequest(...issues: readonly Issue[]): RelayError {
  const first = issues.find(({ suggestion }) => suggestion !== undefined) ?? issues[0]
  const suggestion = first?.suggestion
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  const said = first === undefined ? 'The request does not fit.' : `${where}${first.message}`
  const message = suggestion === undefined ? said : withSuggestion(said, suggestion)
  return new RelayError('invalid_request', message, { details: { issues, suggestion } })
}

export function withSuggestion(message: string, suggestion: string): string {
  return `${message.replace(/\.$/, '')}. Did you mean ${suggestion}?`
}

/** Throws unless `condition` holds; a failure is our bug, never the caller's fault. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`)
}
