// JSON answers in gzip, where that leaks nothing. An observer of encrypted answers knows their sizes, and a
// compressed size shows how much of a text of his own stands in the answer twice. So two kinds of answers
// stay uncompressed:
//
// - Those with a credential: a key, a token or a signing secret is shown once, in the answer to a POST.
// - Those with the words of several people: a stranger could text a line guess after guess, and read
//   from the sizes what others wrote to it, codes to sign in among them.
//
// Errors stay too: they repeat what was sent, and are short.

import { acceptedEncodings } from './static-file.ts'

/** Below this, gzip saves no packet worth its time. */
const LENGTH_MIN = 4_096
/** 70 KB become 21 KB in 0.2 ms; the usual level takes 1.1 ms to make 14 KB of them. */
const LEVEL = 1

/** Paths whose answers are known to be safe; all others stay uncompressed. */
const SAFE_PATHS =
  /^\/swagger\/|^\/dashboard\/(?:checks|state)$|^\/api\/v1\/(?:bridges|health|keys|phone-lines|settings|stats|webhooks|webhook-deliveries)(?:\/|$)/

/** The answer to `request`, compressed where its client accepts that; `path` is as the router saw it. */
export async function compressed(
  response: Response,
  { request, path }: { readonly request: Request; readonly path: string },
): Promise<Response> {
  if (!isSafe(request, path) || !isJson(response)) return response
  if (!acceptedEncodings(request.headers).includes('gzip')) return response
  const text = await response.text()
  const { status, headers } = response
  if (text.length < LENGTH_MIN) return new Response(text, { status, headers })
  headers.set('content-encoding', 'gzip')
  headers.set('vary', 'accept-encoding')
  return new Response(Bun.gzipSync(text, { level: LEVEL }), { status, headers })
}

function isSafe({ method, url }: Request, path: string): boolean {
  if (method !== 'GET') return false
  return SAFE_PATHS.test(path) || isOneConversation(path, url)
}

/** Everybody whose words are in one conversation can read them all anyway. */
function isOneConversation(path: string, url: string): boolean {
  return path === '/api/v1/messages' && new URL(url).searchParams.has('conversation_id')
}

function isJson({ status, headers }: Response): boolean {
  return status === 200 && headers.get('content-type') === 'application/json'
}
