/**
 * An answer, in JSON unless its headers say otherwise: stored by nobody between, taken for no other type,
 * and loaded by no page of another site, which could tell by it that a relay runs here.
 */
export function respond(
  body: string | Blob | ReadableStream<string> | null,
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
