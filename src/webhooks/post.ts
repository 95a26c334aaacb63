// The only place where the relay makes HTTP calls: webhooks, monitor calls and downloads. Each name is resolved once,
// every address is checked, and the connection goes to the checked address, so that a name that changes its address
// in between (DNS rebinding) leads nowhere.

import { RelayError } from '../domain/errors.ts'
import { deadline, whenAborted, withTimeout, type Clock } from '../system/clock.ts'
import { parseHttpDate } from '../system/iso-time.ts'
import { memoize } from '../system/memoize.ts'
import { firstToConnect, type Lookup } from '../system/network-address.ts'
import { checkAddress, parseTarget, publicOnly, type Target, type TargetRules } from './targets.ts'

export type PostRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Rejects private addresses, whatever the setting. */
  readonly isPublicOnly?: boolean | undefined
  /** True to read the whole response body if it is XML or HTML, and not only an excerpt. */
  readonly readsAnswer?: boolean | undefined
}

export type PostError =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'host_unreachable'
  | 'tls_error'
  | 'dns_error'
  | 'forbidden_target'
  | 'invalid_url'
  | 'network_error'
  | 'account_ended'
  | 'replies_held'

export type PostResult =
  | {
      readonly result: 'answered'
      readonly statusCode: number
      /** The first 1 KiB of the response body at most; null if it is empty. */
      readonly excerpt: string | null
      /** The whole body in XML or HTML, if it was asked for and has 64 KiB at most. */
      readonly document?: string | null
      readonly retryAfterSeconds: number | null
      readonly isPrivateTarget: boolean
    }
  | Failure
  /** `signal` aborted first: the receiver may or may not have the event. */
  | { readonly result: 'aborted' }

export type Failure =
  | { readonly result: 'failed'; readonly error: PostError; readonly isPrivateTarget: boolean }
  /** This machine is offline: not the receiver's fault. */
  | { readonly result: 'unreachable' }

/** Posts once. Never rejects; `signal` ends it early. */
export type Post = (request: PostRequest, signal: AbortSignal) => Promise<PostResult>

/** Like Post, but GET and over a new connection each time. */
export type Get = (request: Omit<PostRequest, 'body'>, signal: AbortSignal) => Promise<PostResult>

export type Network = {
  readonly clock: Clock
  readonly lookup: Lookup
  readonly rules: TargetRules
  /** On macOS, a private address without a route means that local network access isn't allowed. */
  readonly platform: string
}

/** Limit for the whole exchange: lookup, connection, headers and body. */
export const POST_MS_MAX = 10_000
const ADDRESSES_MAX = 4
const TARGETS_MAX = 1_000

type LastAddress = { readonly address: string; readonly hasAnswered: boolean }
export type LastAddresses = Map<string, LastAddress>
type Init = Pick<RequestInit, 'method' | 'body' | 'keepalive'> & Pick<PostRequest, 'headers'>
type Call = Pick<PostRequest, 'url' | 'isPublicOnly' | 'readsAnswer'> & { readonly init: Init }
/** A response whose status has arrived; its body may still be on its way. */
type Arrived = { readonly response: Response; readonly isPrivate: boolean }
type Limit = Pick<ReturnType<typeof deadline>, 'signal' | 'abort'>
type Address = { readonly address: string; readonly isPrivate: boolean }
/** A request and the reader of its response. A RelayError that the reader throws reaches the caller. */
type Exchange<T> = {
  readonly init: Init
  readonly target: Target | string
  readonly read: (response: Response, address: Address) => T | Promise<T>
}

export function createPost(network: Network): Post {
  const callOut = createCallOut(network)
  return ({ url, isPublicOnly, readsAnswer, headers, body }, signal) =>
    callOut({ url, isPublicOnly, readsAnswer, init: { method: 'POST', headers, body } }, signal)
}

export function createGet(network: Network): Get {
  const callOut = createCallOut(network)
  // Calls are rare: a kept connection may be dead by the next one.
  return ({ url, headers }, signal) => callOut({ url, init: { headers, keepalive: false } }, signal)
}

function createCallOut(network: Network) {
  const lastAddresses: LastAddresses = new Map()
  // Every attempt of a webhook uses the same URL.
  const targetOf = memoize(TARGETS_MAX, parseTarget)
  const read = (response: Response, { isPrivate }: Address): Arrived => ({ response, isPrivate })
  const anyNetwork = { ...network, lastAddresses }
  const publicOnlyNetwork = { ...withinPolicy(network, true), lastAddresses }
  return async (call: Call, signal: AbortSignal): Promise<PostResult> => {
    const limit = deadline(network.clock, POST_MS_MAX, signal)
    try {
      const order = { init: call.init, target: targetOf(call.url), read }
      const within = call.isPublicOnly === true ? publicOnlyNetwork : anyNetwork
      const result = await exchange<Arrived>(within, order, limit.signal)
      const readIn = call.readsAnswer === true ? answeredWhole : answered
      if ('response' in result) return await readIn(network.clock, result, limit)
      return signal.aborted ? { result: 'aborted' } : result
    } finally {
      limit.clear()
    }
  }
}

export function withinPolicy(network: Network, isPublicOnly = false): Network {
  return isPublicOnly ? { ...network, rules: publicOnly(network.rules) } : network
}

export async function exchange<T>(
  network: Network & { readonly lastAddresses: LastAddresses },
  order: Exchange<T>,
  signal: AbortSignal,
): Promise<T | Failure> {
  const { target } = order
  if (typeof target === 'string') return failed('invalid_url', false)
  const { lookup, rules, lastAddresses } = network
  const found = await addressesOf(lookup, target, signal)
  if ('result' in found) return found
  const last = lastAddresses.get(target.url.host)
  const addresses = sorted(allowedOf(rules, found, target), last).slice(0, ADDRESSES_MAX)
  // Calls without keepalive are rare: the address that answered last may be gone.
  const known = order.init.keepalive !== false && last?.hasAnswered ? last.address : null
  const address = await addressFor(network, { addresses, target, known }, signal)
  if ('result' in address) return address
  const result = await callTo(network, { ...order, target, address }, signal)
  if (lastAddresses.size >= TARGETS_MAX) lastAddresses.clear()
  lastAddresses.set(target.url.host, { address: address.address, hasAnswered: 'value' in result })
  if ('value' in result) return result.value
  const mayGoOn = known !== null && addresses.length > 1 && isUnconnected(result.failure)
  return mayGoOn ? exchange(network, order, signal) : result.failure
}

/** The last used address comes first if it answered, otherwise last. */
function sorted(addresses: readonly Address[], last: LastAddress | undefined): readonly Address[] {
  if (addresses.length < 2) return addresses
  const called = addresses.filter(({ address }) => address === last?.address)
  const others = addresses.filter((address) => !called.includes(address))
  return last?.hasAnswered === true ? [...called, ...others] : [...others, ...called]
}

type Choice = {
  readonly addresses: readonly Address[]
  readonly target: Target
  readonly known: string | null
}

/** The address to send to, chosen before anything is sent; the most specific failure if none connects. */
function addressFor(
  network: Network,
  { addresses, target, known }: Choice,
  signal: AbortSignal,
): Address | Failure | Promise<Address | Failure> {
  const [first] = addresses
  if (first === undefined) return failed('forbidden_target', true)
  if (addresses.length === 1 || first.address === known) return first
  return connecting(network, { addresses, target, first }, signal)
}

async function connecting(
  { clock, platform }: Network,
  { addresses, target: { port }, first }: Omit<Choice, 'known'> & { readonly first: Address },
  signal: AbortSignal,
): Promise<Address | Failure> {
  const hosts = addresses.map(({ address }) => address)
  try {
    const index = await firstToConnect(hosts, port, clock, signal)
    return addresses[index] ?? first
  } catch (error) {
    const isPrivate = addresses.some((address) => address.isPrivate)
    if (signal.aborted || !(error instanceof AggregateError)) return failed('timeout', isPrivate)
    const failures = error.errors.map((reason) => failureOf(reason, isPrivate, platform))
    // An address without a route, as IPv6 often is, says less than one that refused the connection.
    return failures.findLast(({ result }) => result === 'failed') ?? { result: 'unreachable' }
  }
}

function allowedOf(rules: TargetRules, addresses: readonly string[], target: Target) {
  return addresses.flatMap((address): readonly Address[] => {
    const checked = checkAddress(address, target, rules)
    return checked.isAllowed ? [{ address, isPrivate: checked.isPrivate }] : []
  })
}

function addressesOf(
  lookup: Lookup,
  { address, hostname }: Target,
  signal: AbortSignal,
): readonly string[] | Promise<readonly string[] | Failure> {
  return address === null ? lookedUp(lookup, hostname, signal) : [address]
}

async function lookedUp(
  lookup: Lookup,
  hostname: string,
  signal: AbortSignal,
): Promise<readonly string[] | Failure> {
  const found = await Promise.race([lookup(hostname), whenAborted(signal)])
  if (found === null) return failed('timeout', false)
  if (found.answer === 'out_of_reach') return { result: 'unreachable' }
  if (found.answer === 'no_such_name' || found.addresses.length === 0) {
    return failed('dns_error', false)
  }
  return found.addresses
}

async function callTo<T>(
  { platform, rules }: Network,
  call: Exchange<T> & { readonly target: Target; readonly address: Address },
  signal: AbortSignal,
): Promise<{ readonly value: T } | { readonly failure: Failure }> {
  const { init, target, address } = call
  const { url, hostname } = target
  const isNamed = target.address === null
  const options = {
    ...init,
    headers: { ...init.headers, host: url.host, 'accept-encoding': 'identity' },
    redirect: 'manual' as const,
    proxy: false as const,
    // Missing in Bun's types: a response that decompresses to gigabytes stays compressed.
    decompress: false,
    signal,
    ...(isNamed ? { tls: { serverName: hostname } } : {}),
    // The test inbox is this relay, whatever name its certificate has.
    ...(rules.isOwnListener(address.address, target.port) && {
      tls: { rejectUnauthorized: false },
    }),
  }
  try {
    const host = address.address.includes(':') ? `[${address.address}]` : address.address
    const pinned = `${url.protocol}//${host}:${target.port}${url.pathname}${url.search}`
    const calling = async () => ({
      // oxlint-disable-next-line no-restricted-globals -- This file is where it is allowed.
      value: await call.read(await fetch(pinned, options), address),
    })
    // Under load, Bun may never settle an aborted fetch.
    const first = await Promise.race([calling(), whenAborted(signal)])
    if (first !== null) return first
  } catch (error) {
    if (error instanceof RelayError) throw error
    if (!signal.aborted) return { failure: failureOf(error, address.isPrivate, platform) }
  }
  return { failure: failed('timeout', address.isPrivate) }
}

/** The status is the receiver's answer, whatever happens to the body. `abort` ends the exchange. */
async function answered(
  clock: Clock,
  { response, isPrivate }: Arrived,
  { abort }: Pick<Limit, 'abort'>,
): Promise<PostResult> {
  return {
    result: 'answered',
    statusCode: response.status,
    excerpt: isShort(response.headers)
      ? await shortBodyOf(clock, response, abort)
      : await excerptOf(clock, response),
    retryAfterSeconds: retryAfterOf(response.headers, clock),
    isPrivateTarget: isPrivate,
  }
}

const DOCUMENT_TYPE = /^(?:text|application)\/(?:[a-z.-]+\+)?(?:xml|html)\b/i
const DOCUMENT_BYTES_MAX = 64 * 1_024

/** Like `answered`, but waits for a whole XML or HTML body. If the body breaks off, the attempt has failed. */
async function answeredWhole(clock: Clock, arrived: Arrived, limit: Limit): Promise<PostResult> {
  const { response, isPrivate } = arrived
  const isDocument = DOCUMENT_TYPE.test(response.headers.get('content-type') ?? '')
  if (!isDocument || !response.ok) return answered(clock, arrived, limit)
  const body = bodyUpTo(response, DOCUMENT_BYTES_MAX + 1)
  const ended = await Promise.race([body.isWhole.catch(() => null), whenAborted(limit.signal)])
  if (ended !== true) body.cancel()
  if (ended === null)
    return failed(limit.signal.aborted ? 'timeout' : 'connection_reset', isPrivate)
  const read = { excerpt: body.excerpt(), document: ended ? textOf(body.bytes()) : null }
  const more = { retryAfterSeconds: null, isPrivateTarget: isPrivate }
  return { result: 'answered', statusCode: response.status, ...read, ...more }
}

const TLS_CODES =
  /^(EPROTO|ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_)/

/** The error codes of a failed `fetch` in Bun 1.4; its messages aren't used. */
const ERRORS: Readonly<Record<string, PostError>> = {
  EHOSTUNREACH: 'host_unreachable',
  EHOSTDOWN: 'host_unreachable',
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
}
const NO_ROUTE_CODES = ['ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL']

function failureOf(thrown: unknown, isPrivate: boolean, platform: string): Failure {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (NO_ROUTE_CODES.includes(code)) return { result: 'unreachable' }
  const error = ERRORS[code] ?? (TLS_CODES.test(code) ? 'tls_error' : 'network_error')
  const isForbiddenByMac = platform === 'darwin' && isPrivate && error === 'host_unreachable'
  return isForbiddenByMac ? { result: 'unreachable' } : failed(error, isPrivate)
}

/** True if no connection was made, so that another address of the name may be tried. */
function isUnconnected(result: Failure): boolean {
  if (result.result === 'unreachable') return true
  return result.error === 'connection_refused' || result.error === 'host_unreachable'
}

function failed(error: PostError, isPrivateTarget: boolean): Failure {
  return { result: 'failed', error, isPrivateTarget }
}

const EXCERPT_BYTES = 1_024
/** Longest wait for the body, as the status is what counts. */
const EXCERPT_MS_MAX = 1_000
const UTF8 = new TextDecoder()

/** True if the body surely ends within the excerpt: Bun reads no more than `Content-Length` says. */
function isShort(headers: Headers): boolean {
  const length = headers.get('content-length') ?? ''
  const isBounded = /^[0-9]{1,4}$/.test(length) && Number(length) <= EXCERPT_BYTES
  // Chunks have no end, whatever the length says.
  return isBounded && headers.get('transfer-encoding') === null
}

/** Reads a short body at once, because a stream would cost as much as a signature; null if it is late. */
async function shortBodyOf(
  clock: Clock,
  response: Response,
  abort: () => void,
): Promise<string | null> {
  const reading = response.bytes()
  // The body nearly always arrives with the status, so there is nothing to wait for.
  const bytes =
    Bun.peek.status(reading) === 'fulfilled'
      ? await reading
      : await withTimeout(clock, EXCERPT_MS_MAX, reading, null)
  if (bytes === null) abort()
  return bytes === null || bytes.length === 0 ? null : textOf(bytes)
}

async function excerptOf(clock: Clock, response: Response): Promise<string | null> {
  const body = bodyUpTo(response, EXCERPT_BYTES)
  const isWhole = await withTimeout(clock, EXCERPT_MS_MAX, body.isWhole, false)
  if (!isWhole) body.cancel()
  return body.excerpt()
}

/** Counts bytes itself: a receiver may announce five in `Content-Length` and send chunks without end. */
function bodyUpTo({ body }: Response, bytesMax: number) {
  const reader = body?.getReader() ?? new Blob().stream().getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  const read = async () => {
    while (length < bytesMax) {
      const { done, value } = await reader.read()
      if (done) return true
      chunks.push(value)
      length += value.length
    }
    return false
  }
  const bytes = () => Buffer.concat(chunks).subarray(0, bytesMax)
  const excerpt = () => (length === 0 ? null : textOf(bytes().subarray(0, EXCERPT_BYTES)))
  return { isWhole: read(), bytes, excerpt, cancel: () => void reader.cancel().catch(() => {}) }
}

function textOf(bytes: Uint8Array): string {
  return UTF8.decode(bytes).replaceAll('\0', '\uFFFD')
}

/** `Retry-After` in seconds; a date is relative to the receiver's `Date` header if there is one. */
function retryAfterOf(headers: Headers, clock: Clock): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (text === '') return null
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  const at = parseHttpDate(text)
  const from = parseHttpDate(headers.get('date') ?? '') ?? clock.now()
  return at === null ? null : Math.max(0, Math.ceil((at - from) / 1_000))
}
