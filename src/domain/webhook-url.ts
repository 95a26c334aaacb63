/**
 * Adds a missing scheme to a webhook's URL: `http` for this machine and its own network, in which certificates are
 * rare, else `https`. A text that has a scheme or isn't a URL is only trimmed.
 */
export function withScheme(typed: string): string {
  const text = typed.trim()
  if (HAS_SCHEME.test(text) || !URL.canParse(`http://${text}`)) return text
  const { hostname, port } = new URL(`http://${text}`)
  if (isOwnNetwork(hostname)) return `http://${text}`
  if (hostname.includes('.') || hostname.startsWith('[')) return `https://${text}`
  // A bare word is a machine nearby only if it also has a port.
  return port === '' ? text : `http://${text}`
}

/** Texts that have a scheme, unlike `localhost:8080`, or that begin like a path. */
const HAS_SCHEME = /^(?:[a-z][a-z0-9+.-]*:(?!\d{1,5}(?:[/?#]|$))|[/?#])/i
const OWN_NAMES = /^(?:.+\.)?localhost\.?$|\.local\.?$/
const V4 = /^\d+\.\d+\.\d+\.\d+$/
const OWN_V4 =
  /^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
const OWN_V6 = /^\[(?:::1\]|f[cd])/

/** `hostname` as `URL` writes it. */
function isOwnNetwork(hostname: string): boolean {
  return (
    OWN_NAMES.test(hostname) ||
    OWN_V6.test(hostname) ||
    (V4.test(hostname) && OWN_V4.test(hostname))
  )
}

/** True if two URLs, however they are spelled, lead to the same place. */
export function isSameUrl(one: string, other: string): boolean {
  return comparable(one) === comparable(other)
}

/** Drops the fragment, which receivers never get, and decodes needless escapes. */
function comparable(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.hash = ''
  return url.href.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
  })
}

export const INBOX_PATH = '/test-inbox/'
const INBOX = /^\/test-inbox\/([\w-]{32})$/

/** The token in the URL of a test inbox; null for any other URL. */
export function inboxToken(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { pathname, search } = new URL(text)
  return search === '' ? (INBOX.exec(pathname)?.[1] ?? null) : null
}

/** Only the host, because a path or query may contain a secret. */
export function hostOf({ url }: { readonly url: string }): string {
  return URL.canParse(url) ? new URL(url).host : 'The receiver'
}

const SHORT_NAME_LENGTH = 40

/** A longer path segment is likely to be a key. */
const SEGMENT_LENGTH_MAX = 24

/** The webhook's name in a title: its description if that is short, else the host and first path segment. */
export function webhookName(webhook: {
  readonly url: string
  readonly description: string | null
}): string {
  const { url, description } = webhook
  const isShort = description !== null && /^\S.*$/.test(description)
  if (isShort && description.length <= SHORT_NAME_LENGTH) return description
  const [, segment = ''] = URL.canParse(url) ? new URL(url).pathname.split('/') : []
  const isShown = segment !== '' && segment.length <= SEGMENT_LENGTH_MAX
  return isShown ? `${hostOf(webhook)}/${segment}` : hostOf(webhook)
}
