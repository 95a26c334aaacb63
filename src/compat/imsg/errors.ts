import { RefusedError, UnreachedError } from '../../api/client.ts'

/** The outcome of a send that didn't succeed, as imsg names it. Only a send that was `not_started` may be repeated. */
export type Disposition = 'not_started' | 'may_have_completed' | 'still_in_flight'

/** An error in the form of JSON-RPC. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export function invalidParams(problem: string): RpcError {
  return new RpcError(-32_602, 'Invalid params', problem)
}

export function deliveryError(
  operation: string,
  disposition: Disposition,
  more: { readonly detail: string; readonly message_id?: string; readonly relay_code?: string },
): RpcError {
  const isUnknown = disposition !== 'not_started'
  const data = { retry_safe: !isUnknown, disposition, transport: 'hookline', operation, ...more }
  return isUnknown
    ? new RpcError(-32_001, 'Delivery outcome unknown', data)
    : new RpcError(-32_603, 'Delivery failed before dispatch', data)
}

/** Converts any error to a JSON-RPC error. */
export function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const detail = error instanceof Error ? error.message : String(error)
  if (error instanceof RefusedError) {
    if (error.status === 400 || error.status === 404) return invalidParams(detail)
    const retryable = error.status >= 500 || error.status === 429
    return new RpcError(-32_002, 'Relay refused', { code: error.code, detail, retryable })
  }
  if (error instanceof UnreachedError) {
    return new RpcError(-32_002, 'Relay unavailable', { detail, retryable: true })
  }
  return new RpcError(-32_603, 'Internal error', detail)
}
