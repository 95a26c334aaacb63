// Responses, also to errors.

import { ERRORS, guideOf, type ErrorAnswer } from '../api/errors.ts'
import { RelayError } from '../domain/errors.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Signal } from '../system/signal.ts'
import { contextOf } from './request-context.ts'

type AnswerHead = {
  readonly status: number
  readonly requestId: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * A response, in JSON unless its headers say otherwise. Browsers don't cache it, don't guess another type, and
 * don't load it into other sites, which could detect a relay by it.
 */
export function respond(
  body: string | Blob | ReadableStream<string | Uint8Array> | null,
  { status, requestId, headers }: AnswerHead,
): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'x-request-id': requestId,
      ...headers,
    },
  })
}

/** Like `respond`, with the request id of `request`; the status is 200 by default. */
export function respondTo(
  request: Request,
  body: Parameters<typeof respond>[0],
  { status = 200, headers }: Partial<Omit<AnswerHead, 'requestId'>> = {},
): Response {
  return respond(body, { status, headers, requestId: contextOf(request).requestId })
}

/** Streams the output of a generator, at the reader's pace. Its signal aborts when the reader is gone. */
export function streamOf<T extends string | Uint8Array>(
  make: (end: AbortSignal) => AsyncGenerator<T, undefined>,
  signal: AbortSignal,
  /** The number of pieces made ahead. With 0 the generator starts at the first read. */
  highWaterMark = 1,
  /** Ends the stream if the reader takes longer than `ms` for one piece; with an error if `breaks`. */
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
          // After a normal end, the reader of a file would believe that it is complete.
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
    error: {
      code,
      message,
      ...(details === undefined ? {} : { details }),
      doc_url: guideOf(code),
      request_id: requestId,
    },
  }
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  return respond(JSON.stringify(body), {
    status: ERRORS[code].status,
    requestId,
    headers: { ...retry, ...headers },
  })
}

/** The client closed the connection before its request was complete. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError'
}

/** The response to a thrown error. Unknown errors are logged, and nothing of them is shown. */
export function answerToFailure(
  thrown: unknown,
  requestId: string,
  { log, doubtSignal }: { readonly log: Log; readonly doubtSignal: Signal },
): Response {
  const error = unwrapped(thrown)
  // nginx uses 499 for this; no client reads it.
  if (error instanceof HungUpError) return respond(null, { status: 499, requestId })
  const isKnown = error instanceof RelayError
  if (!isKnown || error.code === 'internal_error')
    log.error('request failed', { request_id: requestId, error: thrown })
  if (isKnown) return errorResponse(error, requestId)
  doubtSignal.notify()
  return errorResponse(internalError(), requestId)
}

export function notRunning(phase: 'starting' | 'stopping'): RelayError {
  const message = `The relay is ${phase}: try again in a few seconds.`
  return new RelayError(phase, message, { retryAfterSeconds: 5 })
}

export function internalError(): RelayError {
  const message = 'Something went wrong in the relay. Its log has details under this X-Request-Id.'
  return new RelayError('internal_error', message)
}

/** Elysia wraps the errors of body parsers. */
function unwrapped(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RelayError) return error
  const { cause } = error
  return cause instanceof RelayError || cause instanceof HungUpError ? cause : error
}
