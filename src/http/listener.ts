import { chmodSync, rmSync } from 'node:fs'

import { systemClock, withTimeout } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Peer } from './request-context.ts'
import { errorResponse, internalError } from './respond.ts'
import type { Http } from './server.ts'
import type { TlsPair } from './tls.ts'

export type Listener = {
  readonly url: string
  /** The URL for programs on this machine. It differs from `url` if the relay listens on every address. */
  readonly localUrl: string
  readonly port: number
  /**
   * Serves new connections with another certificate; open ones keep theirs. Throws if it can't be served; then
   * new connections get the previous certificate.
   */
  renew(tls: TlsPair): void
  /** Stops accepting connections, waits `graceMs` for running requests, then closes the rest. */
  stop(graceMs: number): Promise<void>
}

/** The relay can't listen on its address, and only a person can fix that. */
export class CannotListenError extends Error {
  override readonly name = 'CannotListenError'
}

const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }

type Server = Bun.Server<undefined>

/**
 * Bun's types deny it, but a Unix socket has an idle time-out too, and only this lifts it: there
 * `server.timeout` does nothing (seen with Bun 1.4.5, where streams ended after 12 seconds).
 */
const NEVER_IDLE: object = { idleTimeout: 0 }

type PortOptions = {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** The certificate for HTTPS; null or left out for HTTP. */
  readonly tls?: TlsPair | null
  readonly log: Log
}

/**
 * Listens on the port, and on the control socket at `path`. `app.ts` calls it once at the start. Throws a
 * CannotListenError if the address is taken or not allowed.
 */
export function listenEverywhere(
  http: Http,
  options: PortOptions & { readonly path: string },
): Listener {
  const outside = listen(http, options)
  const inside = listenOnSocket(http, options)
  return {
    ...outside,
    async stop(graceMs) {
      await Promise.all([outside.stop(graceMs), inside.stop(graceMs)])
    },
  }
}

/** TLS 1.2 ciphers with forward secrecy: without it, a stolen key decrypts traffic that was recorded earlier. */
const CIPHERS = 'ECDHE+AESGCM:ECDHE+CHACHA20'

/** Listens on a port only. */
export function listen(http: Http, options: PortOptions): Listener {
  const { host: hostname, tls = null, log } = options
  const serve = (port: number, pair: TlsPair | null) =>
    started(`${hostname}:${port}`, () =>
      Bun.serve({
        ...common(log),
        hostname,
        port,
        idleTimeout: 10,
        // Otherwise two relays could listen on one port and would each get some of the requests.
        reusePort: false,
        ...(pair === null ? {} : { tls: { cert: pair.cert, key: pair.key, ciphers: CIPHERS } }),
        fetch: (request, server) =>
          http.fetch(request, new PortPeer(request, server, pair !== null)),
      }),
    )
  let server = serve(options.port, tls)
  const servers = new Set([server])
  let served = tls
  const at = server.port ?? options.port
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const local = LOOPBACK_OF[host] ?? host
  const scheme = tls === null ? 'http' : 'https'
  return {
    url: `${scheme}://${host}:${at}`,
    localUrl: `${scheme}://${local}:${at}`,
    port: at,
    // Bun's `reload` ignores a new certificate, so a new server takes over the port.
    renew(pair) {
      const before = server
      void before.stop(false).then(() => servers.delete(before))
      try {
        server = serve(at, pair)
        served = pair
      } catch (error) {
        server = serve(at, served)
        throw error
      } finally {
        servers.add(server)
      }
    },
    async stop(graceMs) {
      await Promise.all([...servers].map((one) => stop(http, one, graceMs)))
    },
  }
}

/** Listens on a Unix socket that only the owner can open. */
export function listenOnSocket(
  http: Http,
  options: { readonly path: string; readonly log: Log },
): Pick<Listener, 'stop'> {
  const { path, log } = options
  // A crash may have left the socket. The instance lock proves that no other relay uses it.
  rmSync(path, { force: true })
  const server = started(path, () =>
    Bun.serve({
      ...common(log),
      ...NEVER_IDLE,
      unix: path,
      fetch: (request) => http.fetch(request, SOCKET_PEER),
    }),
  )
  chmodSync(path, 0o600)
  return {
    async stop(graceMs) {
      await stop(http, server, graceMs)
      rmSync(path, { force: true })
    },
  }
}

function common(log: Log) {
  return {
    development: false,
    // Bun's limit would close the connection without an answer. Each route has its own limit.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // The last resort; it shows nothing of the error.
    error: (error: unknown) => {
      log.error('request failed beyond the routes', { error })
      return errorResponse(internalError(), 'req_unknown')
    },
  } as const
}

function started(where: string, start: () => Server): Server {
  try {
    return start()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    const why = WHY[code] ?? `the system says ${code}`
    throw new CannotListenError(`Cannot listen on ${where}: ${why}.`, { cause: error })
  }
}

const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there already',
  EACCES: 'this user may not; ports below 1024 are for root',
  EADDRNOTAVAIL: 'this machine does not have that address',
}

async function stop(http: Http, server: Server, graceMs: number): Promise<void> {
  http.endStreams()
  await withTimeout(systemClock, graceMs, server.stop(false), null)
  await server.stop(true)
}

class PortPeer implements Peer {
  readonly isControl = false
  readonly #request: Request
  readonly #server: Server
  readonly isSecure: boolean

  constructor(request: Request, server: Server, isSecure: boolean) {
    this.#request = request
    this.#server = server
    this.isSecure = isSecure
  }

  get address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null
  }

  liftTimeout(seconds: number): void {
    this.#server.timeout(this.#request, seconds)
  }
}

const SOCKET_PEER: Peer = { address: null, isControl: true, liftTimeout() {} }
