import { ONLY_CONVERSATION } from '../api/keys.ts'
import { limitedTo, type Caller, type KeyCaller } from '../domain/permissions.ts'
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
    /** The caller of the API. Otherwise throws `unauthorized`, which is the same for every reason. */
    caller(request: Request, peer: Peer): Caller {
      if (peer.isControl) return limitedByItself({ kind: 'cli' }, request.headers)
      const caller = keyIn(request.headers, authenticate)
      if (caller !== null) return caller
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

/** The API key of a request; null if a header is missing or wrong. */
export function keyIn(headers: Headers, authenticate: Authenticate): KeyCaller | null {
  const key = headers.get('x-api-key')
  const secret = headers.get('x-api-secret')
  const caller = key === null || secret === null ? null : authenticate(key, secret)
  return caller && limitedByItself(caller, headers)
}

/** The caller, limited to the conversation that its request names, if any. */
function limitedByItself<C extends Caller>(caller: C, headers: Headers): C {
  const conversation = headers.get(ONLY_CONVERSATION)
  return conversation === null ? caller : limitedTo(caller, conversation)
}
