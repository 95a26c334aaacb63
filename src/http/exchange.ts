import { shortId, type DashboardSession } from '../access/sessions.ts'
import type { Actor, Origin } from '../domain/audit.ts'
import type { Caller } from '../domain/credential.ts'
import { RelayError } from '../domain/errors.ts'
import type { BridgeId } from '../domain/ids.ts'
import type { Random } from '../system/random.ts'

/** The other end of a connection. */
export type Peer = {
  /** Its IP address; null on the control socket. */
  readonly address: string | null
  /** Whether it came by the control socket, which only the owner can open. */
  readonly isControl: boolean
  /** Lets this request stay silent for so long; 0 is without limit. */
  liftTimeout(seconds: number): void
}

/** What is known of a request besides itself, from its first moment on. */
export type Exchange = {
  readonly requestId: string
  readonly peer: Peer
  /** The client's IP address, as trusted proxies tell it; null on the control socket. */
  readonly address: () => string | null
  /** Who asks; null until authenticated, and on routes that ask for no key. */
  caller: Caller | null
  /** The browser that is signed in, on the dashboard's routes only. */
  session: DashboardSession | null
  /** The bridge whose shortcut asks, on the bridge's routes only. */
  bridge: BridgeCaller | null
}

export type BridgeCaller = {
  readonly id: BridgeId
  /** Whether its token is good still: a call may wait for long. */
  readonly isGood: () => boolean
}

const exchanges = new WeakMap<Request, Exchange>()

export function openExchange(request: Request, exchange: Exchange): void {
  exchanges.set(request, exchange)
}

export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request)
  if (exchange === undefined) throw new Error('A request came past the front door.')
  return exchange
}

/** Who asks. A route behind the keys that nobody authenticated for stays shut. */
export function callerOf(request: Request): Caller {
  const { caller } = exchangeOf(request)
  if (caller === null) throw unauthorized()
  return caller
}

/** Where a change comes from, for the audit trail; on the dashboard also before anybody is signed in. */
export function originOf(request: Request): Origin {
  const exchange = exchangeOf(request)
  return { actor: actorOf(exchange), address: exchange.address(), requestId: exchange.requestId }
}

function actorOf({ caller, session }: Exchange): Actor {
  if (caller?.kind === 'key') return { kind: 'key', id: caller.keyId }
  if (caller?.kind === 'cli') return { kind: 'cli', id: null }
  return { kind: 'dashboard', id: session === null ? null : shortId(session) }
}

/** The browser that asks, on a route of the dashboard. */
export function sessionOf(request: Request): DashboardSession {
  const { session } = exchangeOf(request)
  if (session === null) throw signedOut()
  return session
}

/** The bridge that asks. A route for bridges that nobody authenticated for stays shut. */
export function bridgeOf(request: Request): BridgeCaller {
  const { bridge } = exchangeOf(request)
  if (bridge === null) throw badToken()
  return bridge
}

export function badToken(): RelayError {
  return new RelayError('unauthorized', 'Invalid or missing bridge token')
}

export function signedOut(): RelayError {
  return new RelayError('signed_out', 'Nobody is signed in here.')
}

export function unauthorized(): RelayError {
  return new RelayError('unauthorized', 'Invalid or missing API credentials')
}

/** Request ids: random at each start, counted from there. */
export function requestIds(random: Random): () => string {
  const start = Buffer.from(random.bytes(6)).toString('base64url').replaceAll(/[-_]/g, '0')
  let count = 0
  return () => {
    count += 1
    return `req_${start}_${count.toString(36)}`
  }
}
