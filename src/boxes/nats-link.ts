// Link over NATS: core request and reply, TLS from the first byte, keys instead of passwords. It imports the client
// library, so a relay loads it with `await import` once there is something to join.

import {
  AuthorizationError,
  connect,
  nkeyAuthenticator,
  NoRespondersError,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node'
import { Type } from 'typebox'

import { timestamp, type Timestamp } from '../domain/ids.ts'
import { withTimeout } from '../system/clock.ts'
import { ACCOUNT_SUBJECT } from './broker-config.ts'
import { LinkError, type ClockRandomLog, type Link } from './link.ts'
import { parsed } from './wire.ts'

/**
 * The newest failure to connect: no answer, a certificate of someone else, a key without rights, or an account that
 * the server doesn't confirm as the user's own.
 */
export type LinkProblem = 'unreachable' | 'untrusted' | 'refused' | 'shared'

export type LinkStatus = {
  readonly isConnected: boolean
  /** Last change of `isConnected`; null before the first connection. */
  readonly since: Timestamp | null
  readonly server: string | null
  /** Null while connected, and before the first failure. */
  readonly problem: LinkProblem | null
}

export type NatsLink = Link & {
  status(): LinkStatus
  /** Calls `listener` after each change of the status; returns a function that stops it. */
  onChange(listener: () => void): () => void
}

export type NatsOptions = {
  /** `host:port` of each broker, or of each address of one broker. */
  readonly servers: readonly string[]
  /** Authorities of the broker's certificate (PEM); null for the system's. */
  readonly ca: string | null
  /** Name in the broker's certificate; null for the host that is dialed. */
  readonly serverName: string | null
  /** Nkey seed of a user: `SU…`. */
  readonly seed: string
  readonly inboxPrefix: string
  readonly name: string
  /** True if a connection is used only if the server says that its user is in a separate account. */
  readonly needsOwnAccount?: boolean | undefined
  /** Interval of the client's pings; the connection is given up after two without an answer. */
  readonly pingMs?: number | undefined
}

type Answer = Parameters<Link['serve']>[1]
type Served = {
  readonly subject: string
  readonly answer: Answer
  subscription: Subscription | null
}

const USER_INFO = Type.Object({ data: Type.Object({ account: Type.String() }) })
const DIAL_MS = 2_000
/** Head start for the address that worked last. */
const HEAD_START_MS = 250
const RETRY_MS = 50
/** Retries are quick for this long, while the broker may be restarting. */
const HASTE_MS = 10_000
const PATIENT_RETRY_MS = 1_000
const PING_MS = 3_000
const PINGS_OUT_MAX = 2
const TLS_ERROR = /CERT|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH/
const BY_WEIGHT: readonly LinkProblem[] = ['shared', 'refused', 'untrusted', 'unreachable']
/** Accounts that every server has: for users without an account, and for its operators. */
const COMMON_ACCOUNTS = ['$G', '$SYS']

/** Connects, and reconnects after each loss, until `close`. */
export function connectNats(options: NatsOptions, outside: ClockRandomLog): NatsLink {
  return new Connector(options, outside)
}

export { nkeys } from '@nats-io/transport-node'

/**
 * The client's own reconnecting is not used: it cannot be stopped before its first connection, tries one
 * address after another, and waits for a connection that it knows to be dead to take its last bytes.
 */
class Connector implements NatsLink {
  readonly #options: NatsOptions
  readonly #outside: ClockRandomLog
  readonly #closing = new AbortController()
  readonly #served = new Set<Served>()
  readonly #listeners = new Set<() => void>()
  readonly #problems = new Map<string, LinkProblem>()
  #connection: NatsConnection | null = null
  #next = Promise.withResolvers<NatsConnection | null>()
  #server: string | null = null
  #since: Timestamp | null = null
  readonly #running: Promise<void>

  constructor(options: NatsOptions, outside: ClockRandomLog) {
    this.#options = options
    this.#outside = outside
    this.#running = this.#run()
  }

  status(): LinkStatus {
    const isConnected = this.#connection !== null
    const found = [...this.#problems.values()]
    const problem = BY_WEIGHT.find((one) => found.includes(one)) ?? null
    const since = this.#since
    if (isConnected) return { isConnected, since, server: this.#server, problem: null }
    return { isConnected, since, server: null, problem }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async ask(subject: string, request: string, timeoutMs: number): Promise<string> {
    const { clock } = this.#outside
    const until = clock.monotonic() + timeoutMs
    const connection =
      this.#connection ?? (await withTimeout(clock, timeoutMs, this.#next.promise, null))
    if (connection === null) throw new LinkError('There is no connection to the broker.')
    try {
      const timeout = Math.max(until - clock.monotonic(), 1)
      return (await connection.request(subject, request, { timeout })).string()
    } catch (error) {
      const isUnheard = causesOf(error).some((cause) => cause instanceof NoRespondersError)
      const why = isUnheard ? 'Nobody listens to the request.' : 'The request had no answer.'
      throw new LinkError(why, { cause: error })
    }
  }

  serve(subject: string, answer: Answer): () => void {
    const served: Served = { subject, answer, subscription: null }
    this.#served.add(served)
    if (this.#connection !== null) this.#subscribe(this.#connection, served)
    return () => {
      this.#served.delete(served)
      served.subscription?.unsubscribe()
    }
  }

  /** A dial under way ends within two seconds. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const connection = await this.#connectAny(signal)
      if (connection === null) break
      this.#begin(connection)
      const lost = Promise.race([connection.closed(), this.#watch(connection)])
      await unlessAborted(lost, signal)
      this.#connection = null
      this.#changed()
      // Open requests reject at once: the client doesn't wait for the network.
      await connection.close()
    }
    this.#next.resolve(null)
  }

  #begin(connection: NatsConnection): void {
    this.#problems.clear()
    this.#connection = connection
    for (const served of this.#served) this.#subscribe(connection, served)
    this.#next.resolve(connection)
    this.#next = Promise.withResolvers()
    this.#changed()
  }

  #changed(): void {
    this.#since = timestamp(this.#outside.clock.now())
    for (const listener of this.#listeners) listener()
  }

  /** Resolves when the connection is known to be dead. The client may close it much later. */
  async #watch(connection: NatsConnection): Promise<void> {
    const { log } = this.#outside
    for await (const status of connection.status()) {
      if (status.type === 'error') log.warn('broker refused', { error: status.error.message })
      if (status.type === 'staleConnection' || status.type === 'disconnect') return
    }
  }

  /** Dials all servers; resolves with the first connection, or null if `closing` aborts. */
  async #connectAny(closing: AbortSignal): Promise<NatsConnection | null> {
    const round = new AbortController()
    const last = this.#server
    const rank = (server: string) => Number(server !== last)
    const servers = this.#options.servers.toSorted((a, b) => rank(a) - rank(b))
    const dials = servers.map((server, index) =>
      this.#dialUntil(server, index === 0 ? 0 : HEAD_START_MS, round),
    )
    const connection = await unlessAborted(Promise.race(dials), closing)
    if (connection !== null) return connection
    round.abort()
    for (const dial of dials) void dial.then((late) => late?.close())
    return null
  }

  /** Dials `server` until a dial of the `round` succeeds; null if another server came first. Never rejects. */
  async #dialUntil(
    server: string,
    delayMs: number,
    round: AbortController,
  ): Promise<NatsConnection | null> {
    const { clock, random } = this.#outside
    await clock.sleep(delayMs, round.signal)
    const startedAt = clock.monotonic()
    while (!round.signal.aborted) {
      const connection = await this.#dial(server)
      if (round.signal.aborted) {
        await connection?.close()
        return null
      }
      if (connection !== null) {
        round.abort()
        this.#server = server
        return connection
      }
      const isFresh = clock.monotonic() - startedAt < HASTE_MS
      const retryMs = isFresh ? RETRY_MS : PATIENT_RETRY_MS
      await clock.sleep(retryMs * (1 + random.chance() / 5), round.signal)
    }
    return null
  }

  async #dial(server: string): Promise<NatsConnection | null> {
    const { ca, serverName, seed, inboxPrefix, name, pingMs = PING_MS } = this.#options
    const tls = {
      handshakeFirst: true,
      ...(ca !== null && { ca }),
      ...(serverName !== null && { servername: serverName }),
    }
    try {
      const connection = await connect({
        servers: [server],
        tls,
        authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
        inboxPrefix,
        name,
        timeout: DIAL_MS,
        pingInterval: pingMs,
        maxPingOut: PINGS_OUT_MAX,
        reconnect: false,
        ignoreClusterUpdates: true,
        noAsyncTraces: true,
      })
      if (this.#options.needsOwnAccount !== true || (await hasOwnAccount(connection)))
        return connection
      const problem = connection.isClosed() ? 'unreachable' : 'shared'
      await connection.close()
      return this.#failed(server, problem)
    } catch (error) {
      return this.#failed(server, problemOf(error), error)
    }
  }

  #failed(server: string, problem: LinkProblem, error: unknown = null): null {
    if (this.#problems.get(server) === problem) return null
    this.#problems.set(server, problem)
    this.#outside.log.info('broker not reached', { server, problem, error })
    for (const listener of this.#listeners) listener()
    return null
  }

  #subscribe(connection: NatsConnection, served: Served): void {
    const { log } = this.#outside
    const { subject, answer } = served
    served.subscription = connection.subscribe(subject, {
      callback: (refused, message) => {
        if (refused !== null) return log.error('subject refused', { subject, error: refused })
        answer(message.string(), message.subject)
          // `respond` fails if the connection was replaced meanwhile: the other side repeats the request.
          .then((text) => text !== null && message.respond(text))
          .catch((error: unknown) => log.warn('request not answered', { subject, error }))
      },
    })
  }
}

/** Resolves with the value of `promise`, or null when `signal` aborts. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = Promise.withResolvers<null>()
  const end = () => aborted.resolve(null)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** True if the server says so; a server may not support the question, or not allow it to a user. */
async function hasOwnAccount(connection: NatsConnection): Promise<boolean> {
  try {
    const answer = await connection.request(ACCOUNT_SUBJECT, '', { timeout: DIAL_MS })
    return !COMMON_ACCOUNTS.includes(parsed(USER_INFO, answer.string())?.data.account ?? '$G')
  } catch {
    return false
  }
}

function problemOf(error: unknown): LinkProblem {
  const causes = causesOf(error)
  if (causes.some((cause) => cause instanceof AuthorizationError)) return 'refused'
  const isTls = causes.some((cause) => 'code' in cause && TLS_ERROR.test(String(cause.code)))
  return isTls ? 'untrusted' : 'unreachable'
}

function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : []
}
