import type { BridgeId } from '../domain/ids.ts'
import type { Caller, KeyCaller } from '../domain/permissions.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import { dropOldest } from '../system/memoize.ts'
import type { Metrics } from '../system/metrics.ts'
import { clientAddress } from './hosts.ts'
import { badToken, unauthorized, type BridgeCaller, type Peer } from './request-context.ts'

export type AuthenticationTools = {
  readonly authenticate: (key: string, secret: string) => KeyCaller | null
  readonly bridges: {
    ofToken(token: string): BridgeId | null
    noteCall(id: BridgeId): void
  }
  readonly isTrustedProxy: (address: string) => boolean
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

type Failures = { readonly loggedAt: number; readonly unlogged: number }

const LOG_EVERY_MS = 60_000
const ADDRESSES_MAX = 1_000
const BEARER = /^Bearer +(hlb_[A-Za-z0-9_-]{43}) *$/i

/**
 * Credentials are read from headers and nowhere else. Failures are counted, and
 * logged once a minute for each address; 256 bits need no rate limit.
 */
export class Authentication {
  readonly #tools: AuthenticationTools
  readonly #failures = new Map<string, Failures>()

  constructor(tools: AuthenticationTools) {
    this.#tools = tools
  }

  /** The caller of the API. Throws `unauthorized`, always the same, for anybody else. */
  caller(request: Request, peer: Peer): Caller {
    if (peer.isControl) return { kind: 'cli' }
    const key = request.headers.get('x-api-key')
    const secret = request.headers.get('x-api-secret')
    const caller = key === null || secret === null ? null : this.#tools.authenticate(key, secret)
    if (caller !== null) return caller
    this.#noteFailure(clientAddress(request.headers, peer, this.#tools.isTrustedProxy))
    throw unauthorized()
  }

  /** The bridge whose token a request carries. Throws `unauthorized`, always the same, for all others. */
  bridge(request: Request, peer: Peer): BridgeCaller {
    const { bridges, isTrustedProxy } = this.#tools
    const token = BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
    const id = token === undefined ? null : bridges.ofToken(token)
    if (token === undefined || id === null) {
      this.#noteFailure(clientAddress(request.headers, peer, isTrustedProxy))
      throw badToken()
    }
    bridges.noteCall(id)
    return { id, isGood: () => bridges.ofToken(token) !== null }
  }

  #noteFailure(address: string): void {
    const { clock, log, metrics } = this.#tools
    metrics.count('hookline_authentication_failures_total', 'Requests that were answered 401.')
    const now = clock.monotonic()
    const known = this.#failures.get(address)
    if (known !== undefined && now - known.loggedAt < LOG_EVERY_MS) {
      this.#failures.set(address, { ...known, unlogged: known.unlogged + 1 })
      return
    }
    log.warn('authentication failed', { address, failures: (known?.unlogged ?? 0) + 1 })
    this.#failures.delete(address)
    this.#failures.set(address, { loggedAt: now, unlogged: 0 })
    dropOldest(this.#failures, ADDRESSES_MAX)
  }
}
