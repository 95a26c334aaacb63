// Answers, and those to errors.

import { ERRORS, type ErrorAnswer } from '../api/errors.ts'
import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Signal } from '../system/signal.ts'
import { contextOf } from './request-context.ts'

/**
 * An answer, in JSON unless its headers say otherwise: never cached, never sniffed for another type, and
 * not loadable by other sites, which could detect a relay by it.
 */
export function respond(
  body: string | Blob | ReadableStream<string | Uint8Array> | null,
  answer: {
    readonly status: number
    readonly requestId: string
    readonly headers?: Readonly<Record<string, string>> | undefined
  },
): Response {
  return new Response(body, {
    status: answer.status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'x-request-id': answer.requestId,
      ...answer.headers,
    },
  })
}

/** An answer to `request`, by the rules of `respond`; 200 unless it says otherwise. */
export function respondTo(
  request: Request,
  body: Parameters<typeof respond>[0],
  {
    status = 200,
    headers,
  }: {
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>> | undefined
  } = {},
): Response {
  return respond(body, { status, headers, requestId: contextOf(request).requestId })
}

/** The output of a generator, read at the pace of its reader; `make` gets a signal that aborts when that leaves. */
export function streamOf<T extends string | Uint8Array>(
  make: (end: AbortSignal) => AsyncGenerator<T, undefined>,
  signal: AbortSignal,
  /** Pieces made before the first read; with 0 that starts the generator, and its reader ends it. */
  highWaterMark = 1,
  /** Cuts a reader that takes longer than this for one piece. */
  stall?: { readonly clock: Clock; readonly ms: number; readonly breaks?: boolean },
): ReadableStream<T> {
  const end = new AbortController()
  let cancelStall = () => {}
  const pieces = make(AbortSignal.any([signal, end.signal]))
  return new ReadableStream<T>(
    {
      async pull(controller) {
        cancelStall()
        const next = await pieces.next()
        if (next.done === true) return controller.close()
        controller.enqueue(next.value)
        if (stall === undefined) return
        cancelStall = stall.clock.after(stall.ms, () => {
          end.abort()
          // After an end, the reader of a file would believe that it has everything.
          if (stall.breaks) controller.error(new Error('The client took nothing for too long.'))
          else controller.close()
          void pieces.return(undefined)
        })
      },
      async cancel() {
        cancelStall()
        end.abort()
        await pieces.return(undefined)
      },
    },
    { highWaterMark },
  )
}

export function errorResponse(
  error: RelayError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { code, message, details, retryAfterSeconds } = error
  const body: ErrorAnswer = {
    error: { code, message, ...(details === undefined ? {} : { details }) },
  }
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return respond(JSON.stringify(body), {
    status: ERRORS[code].status,
    requestId,
    headers: { ...retry, ...headers },
  })
}

/** The client closed the connection in the middle of its request. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError'
}

/** nginx's status for it; no client reads it. */
const HUNG_UP_STATUS = 499

/** The answer to a thrown error. Unknown errors are logged, and nothing of them is shown. */
export function answerToFailure(
  thrown: unknown,
  requestId: string,
  {
    log,
    doubtSignal,
  }: {
    readonly log: Log
    /** Notified at unknown errors: the database may be to blame. */
    readonly doubtSignal: Signal
  },
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

const NOT_RUNNING_SECONDS = 5

/** The refusal while the relay starts or stops. */
export function notRunning(phase: 'starting' | 'stopping'): RelayError {
  return new RelayError(phase, `The relay is ${phase}: try again in a few seconds.`, {
    retryAfterSeconds: NOT_RUNNING_SECONDS,
  })
}

export function internalError(): RelayError {
  const message = 'Something went wrong in the relay. Its log has details under this X-Request-Id.'
  return new RelayError('internal_error', message)
}

/** Elysia wraps errors of a body parser. */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RelayError) return error
  const { cause } = error
  return cause instanceof RelayError || cause instanceof HungUpError ? cause : error
}
