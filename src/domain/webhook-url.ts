/**
 * A webhook's URL with the scheme that its author left out: `http` for this machine and its own network,
 * where certificates are rare, else `https`. A text that has a scheme, or is no URL, is only trimmed.
 */
export function withScheme(typed: string): string {
  const text = typed.trim()
  if (HAS_SCHEME.test(text) || !URL.canParse(`http://${text}`)) return text
  const { hostname, port } = new URL(`http://${text}`)
  if (isOwnNetwork(hostname)) return `http://${text}`
  if (hostname.includes('.') || hostname.startsWith('[')) return `https://${text}`
  // A bare word is a machine nearby only where it also has a port.
  return port === '' ? text : `http://${text}`
}

/** `localhost:8080` is a host and its port; a path alone is taken for no host. */
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

export const INBOX_PATH = '/test-inbox/'
const INBOX = /^\/test-inbox\/([\w-]{32})$/

/** The token of a URL that is the address of a test inbox; null for any other. */
export function inboxToken(text: string): string | null {
  if (!URL.canParse(text)) return null
  const { pathname, search } = new URL(text)
  return search === '' ? (INBOX.exec(pathname)?.[1] ?? null) : null
}

/** The host alone: a path or query may carry what is secret. */
export function hostOf({ url }: { readonly url: string }): string {
  return URL.canParse(url) ? new URL(url).host : 'The receiver'
}

const SHORT_NAME_LENGTH = 40

/** A longer segment of a path is likely to be a key. */
const SEGMENT_LENGTH_MAX = 24

/** The webhook's name in a title: its description where that is short, else host and first path segment. */
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
