import { piecesOf } from '../system/files.ts'
import { contextOf } from './request-context.ts'
import { respondTo, streamOf } from './respond.ts'

/** The most time that a client on a slow connection needs to read the buffered bytes. */
const STALLED_MS = 600_000
/** Files up to this size aren't streamed. */
const SMALL_BYTES = 16 * 1_024

type FileAnswer = {
  readonly status?: number
  readonly headers: Readonly<Record<string, string>>
}

/** Streams bytes as fast as the client reads them, and ends the connection of a client that reads none for long. */
export function answerWithPieces(
  request: Request,
  { status = 200, headers }: FileAnswer,
  make: (end: AbortSignal) => AsyncGenerator<string | Uint8Array, undefined>,
): Response {
  const { peer, clock } = contextOf(request)
  peer.liftTimeout(0)
  const stall = { clock, ms: STALLED_MS, breaks: true }
  const body = request.method === 'HEAD' ? null : streamOf(make, request.signal, 0, stall)
  return respondTo(request, body, { status, headers })
}

/**
 * Answers with the bytes of a file from `first` to `last`. Larger files aren't left to Bun, which closes the
 * connection once the client is silent for ten seconds, whatever the time-out of the request.
 */
export function answerWithBytes(
  request: Request,
  { path, first, last }: { readonly path: string; readonly first: number; readonly last: number },
  answer: FileAnswer,
): Response {
  const length = last + 1 - first
  if (length > SMALL_BYTES && request.method !== 'HEAD') {
    return answerWithPieces(request, answer, () => piecesOf(path, { from: first, length }))
  }
  return respondTo(request, Bun.file(path).slice(first, last + 1), answer)
}

/** Answers with texts as a file to save. `name` must not contain quotes. */
export function answerWithFile(
  request: Request,
  { name, type }: { readonly name: string; readonly type: string },
  texts: AsyncGenerator<string, undefined>,
): Response {
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
  }
  return answerWithPieces(request, { headers }, () => texts)
}
