import type { CredentialForm } from '../compat/compat-api.ts'
import type { Caller, KeyCaller } from '../domain/permissions.ts'
import type { Authenticate } from '../keys/last-used.ts'
import type { Core } from '../storage/core.ts'
import { dropOldest } from '../system/memoize.ts'
import { clientAddress } from './hosts.ts'
import type { Relay } from './relay.ts'
import { badToken, unauthorized, type BridgeCaller, type Peer } from './request-context.ts'

type Failures = { readonly loggedAt: number; readonly unlogged: number }

const LOG_EVERY_MS = 60_000
const ADDRESSES_MAX = 1_000
const BEARER = /^Bearer +(hlb_[A-Za-z0-9_-]{43}) *$/i

/**
 * Reads credentials from headers and nowhere else. Counts failures, and logs them once a minute for each
 * address. Secrets of 256 bits need no rate limit.
 */
export function createAuthentication(
  { clock, log }: Core,
  {
    authenticate,
    credentials: { bridges },
    hosts,
    metrics,
  }: Pick<Relay, 'authenticate' | 'credentials' | 'hosts' | 'metrics'>,
) {
  const failures = new Map<string, Failures>()
  const noteFailure = (request: Request, peer: Peer) => {
    metrics.count('hookline_authentication_failures_total', 'Requests that were answered 401.')
    const address = clientAddress(request.headers, peer, hosts.isTrustedProxy)
    const now = clock.monotonic()
    const known = failures.get(address)
    if (known !== undefined && now - known.loggedAt < LOG_EVERY_MS) {
      failures.set(address, { ...known, unlogged: known.unlogged + 1 })
      return
    }
    log.warn('authentication failed', { address, failures: (known?.unlogged ?? 0) + 1 })
    failures.delete(address)
    failures.set(address, { loggedAt: now, unlogged: 0 })
    dropOldest(failures, ADDRESSES_MAX)
  }
  return {
    /**
     * The caller of the relay's own API, or of the compatible API that its key was made for. Otherwise throws
     * `unauthorized`, which is the same for every reason.
     */
    caller(
      request: Request,
      peer: Peer,
      { forms, madeFor }: { forms: readonly CredentialForm[]; madeFor: string | null } = OWN_API,
    ): Caller {
      if (peer.isControl) return { kind: 'cli' }
      const given = credentialsIn(request.headers, forms)
      const caller = given && authenticate(given.key, given.secret)
      if (caller !== null && caller.madeFor === madeFor) return caller
      noteFailure(request, peer)
      throw unauthorized()
    },
    /** The bridge of the token. Otherwise throws `unauthorized`, which is the same for every reason. */
    bridge(request: Request, peer: Peer): BridgeCaller {
      const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
      const id = token === undefined ? null : bridges.ofToken(token)
      if (token === undefined || id === null) {
        noteFailure(request, peer)
        throw badToken()
      }
      bridges.noteCall(id)
      return { id, isGood: () => bridges.ofToken(token) !== null }
    },
  }
}

const OWN_API = { forms: ['two headers'], madeFor: null } as const

type Credentials = { readonly key: string; readonly secret: string }

const KEY_AND_SECRET = /^(hl_live_[^:\s]+):(\S+)$/
const SCHEME = /^(Basic|Bearer) +(\S+) *$/i

/** The API key of a request; null if a header is missing or wrong. */
export function keyIn(headers: Headers, authenticate: Authenticate): KeyCaller | null {
  const given = credentialsIn(headers, OWN_API.forms)
  return given && authenticate(given.key, given.secret)
}

/** The key and secret of a request, in the first of these forms that it has; null if they are missing or malformed. */
export function credentialsIn(
  headers: Headers,
  forms: readonly CredentialForm[],
): Credentials | null {
  const [, scheme = '', token = ''] = SCHEME.exec(headers.get('authorization') ?? '') ?? []
  const key = headers.get('x-api-key')
  const secret = headers.get('x-api-secret')
  const read: Readonly<Record<CredentialForm, () => Credentials | null>> = {
    'two headers': () => (key === null || secret === null ? null : { key, secret }),
    'one header': () => keyAndSecret(key ?? ''),
    bearer: () => (scheme.toLowerCase() === 'bearer' ? keyAndSecret(token) : null),
    basic: () => {
      if (scheme.toLowerCase() !== 'basic') return null
      return keyAndSecret(Buffer.from(token, 'base64').toString())
    },
  }
  return forms.map((form) => read[form]()).find((found) => found !== null) ?? null
}

function keyAndSecret(text: string): Credentials | null {
  const [, key, secret] = KEY_AND_SECRET.exec(text) ?? []
  return key === undefined || secret === undefined ? null : { key, secret }
}
