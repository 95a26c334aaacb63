import { contextOf } from './request-context.ts'
import { respond, streamOf } from './respond.ts'

/** A silent client may be on the move. */
const SILENCE_SECONDS = 60

/** A file for the client to save, made as fast as it is read. `name` has no quotes. */
export function answerWithFile(
  request: Request,
  { name, type }: { readonly name: string; readonly type: string },
  texts: AsyncGenerator<string, undefined>,
): Response {
  const { peer, requestId } = contextOf(request)
  peer.liftTimeout(SILENCE_SECONDS)
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
  }
  const body = request.method === 'HEAD' ? null : streamOf(() => texts, request.signal)
  return respond(body, { status: 200, requestId, headers })
}

/** For the documentation of a route with such an answer. */
export function fileAnswers(...types: readonly string[]) {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]))
  return { 200: { description: 'The file.', content } }
}
