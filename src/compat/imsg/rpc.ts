// The server of `imsg rpc`: reads requests and writes answers and notifications, one JSON object per line. JSON-RPC is
// hardly more than this, so no library is used.

import type { Clock } from '../../system/clock.ts'
import { RpcError, asRpcError, invalidParams } from './errors.ts'
import { flagParam, numberParam, textsParam, type Params } from './params.ts'
import {
  getChat,
  history,
  listChats,
  scheduled,
  search,
  sendStatus,
  type Reading,
} from './reads.ts'
import { send, sendAttachment, sendTracked, type Sending } from './sends.ts'
import { stats } from './stats.ts'
import { earliestWaiting, follow, inOrder, positionAfter, readBatch, type Entry } from './tail.ts'

const PROTOCOL_VERSION = 1

export type RpcOptions = {
  readonly relay: Reading['relay']
  readonly clock: Clock
  readonly fileAt: Reading['fileAt']
  readonly readFile: Sending['readFile']
  readonly version: string
  readonly write: (line: string) => void
  /** Called if the relay refuses the key for good. */
  readonly onRefused: (error: unknown) => void
}

type Method = (params: Params) => Promise<object>

/** Methods of imsg that need modified Apple apps: no line supports them. */
const NEEDS_BRIDGE =
  /^(send\.(rich|multipart|sticker)|tapback|typing|read|messages?\.(edit|unsend|delete|notifyAnyways)|(messages\.)?polls?\..+|bridge\..+|chats\.(create|delete|markUnread)|group\..+|contacts\..+|handles\..+)$/

const READS = {
  'chats.list': listChats,
  'chats.get': getChat,
  'messages.history': history,
  'messages.search': search,
  'messages.after': messagesAfter,
  'messages.scheduled': scheduled,
  'messages.stats': stats,
  'message.send_status': sendStatus,
}
const SENDS = { send, 'send.tracked': sendTracked, 'send.attachment': sendAttachment }
const OWN = ['initialize', 'status', 'watch.subscribe', 'watch.unsubscribe']

export const RPC_METHODS = [...OWN, ...Object.keys(READS), ...Object.keys(SENDS)]

type Subscription = { readonly stop: AbortController; readonly run: () => Promise<void> }

const SUBSCRIPTIONS_MAX = 8
const LINE_LENGTH_MAX = 1_048_576

export class RpcServer {
  readonly #options: RpcOptions
  readonly #methods: Map<string, Method>
  readonly #subscriptions = new Map<number, Subscription>()
  readonly #running = new Set<Promise<void>>()
  #lastSubscription = 0
  /** Sends go one after the other, in the order of their requests. */
  #lastSend: Promise<unknown> = Promise.resolve()

  constructor(options: RpcOptions) {
    this.#options = options
    const { relay, fileAt, clock, readFile } = options
    const reading: Reading = { relay, fileAt, now: () => clock.now() }
    const sending: Sending = { relay, clock, readFile }
    this.#methods = new Map<string, Method>([
      ['initialize', async (params) => this.#initialize(params)],
      ['status', async () => this.#status()],
      ['watch.subscribe', (params) => this.#subscribe(reading, params)],
      ['watch.unsubscribe', async (params) => this.#unsubscribe(params)],
    ])
    for (const [name, run] of Object.entries(READS)) {
      this.#methods.set(name, (params) => run(reading, params))
    }
    for (const [name, run] of Object.entries(SENDS)) {
      this.#methods.set(name, (params) => this.#inTurn(() => run(sending, params)))
    }
  }

  /** Handles one line of input; its answer is written once it is available. */
  take(line: string): void {
    if (line.trim() === '') return
    const running = this.#answer(line).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves once all requests are answered. Ends the subscriptions. */
  async end(): Promise<void> {
    for (const { stop } of this.#subscriptions.values()) stop.abort()
    await Promise.all(this.#running)
  }

  #call(method: string, params: Params): Promise<object> {
    const found = this.#methods.get(method)
    if (found !== undefined) return found(params)
    if (!NEEDS_BRIDGE.test(method)) throw new RpcError(-32_601, 'Method not found', method)
    const detail = `${method} is not possible on a line of a relay.`
    throw new RpcError(-32_003, 'Bridge unavailable', { detail, retryable: false })
  }

  async #answer(line: string): Promise<void> {
    let id: unknown = null
    try {
      const request = requestIn(line)
      id = request.id
      const result = await this.#call(request.method, request.params)
      if (id !== undefined) this.#write({ id, result })
      if ('subscription' in result) void this.#run(Number(result.subscription))
    } catch (error) {
      const { code, message, data } = asRpcError(error)
      if (id !== undefined) this.#write({ id, error: { code, message, data } })
    }
  }

  #write(message: object): void {
    this.#options.write(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#lastSend.then(run)
    this.#lastSend = turn.catch(() => undefined)
    return turn
  }

  #initialize(params: Params): object {
    const wanted = numberParam(params, 'protocol_version', { min: 1, max: 1_000 })
    if (wanted !== undefined && wanted !== PROTOCOL_VERSION) {
      throw invalidParams(`unsupported protocol_version ${wanted}; it is ${PROTOCOL_VERSION}`)
    }
    return this.#status()
  }

  #status(): object {
    const { version } = this.#options
    return {
      version,
      protocol_version: PROTOCOL_VERSION,
      database: { ready: true },
      bridge: { ready: false, error: 'Lines of a relay are used as they are, without a bridge.' },
      contacts: { available: false },
      methods: RPC_METHODS,
      supported_methods: RPC_METHODS,
      capabilities: { engine: { version }, features: {} },
    }
  }

  async #subscribe(reading: Reading, params: Params): Promise<object> {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX) {
      throw new RpcError(-32_000, 'Server busy', 'subscription limit exceeded')
    }
    const isWanted = choiceIn(params)
    const after = sinceIn(params) ?? null
    const withFiles = flagParam(params, 'attachments')
    const bufferLimit = numberParam(params, 'buffer_limit', { min: 1, max: 4_096 }) ?? 256
    // The position is read before the answer, so that the subscription misses nothing recorded afterwards.
    const position =
      after === null ? (await readBatch(reading, 'latest', 0)).position : positionAfter(after)
    this.#lastSubscription += 1
    const subscription = this.#lastSubscription
    const stop = new AbortController()
    const emit = async (entry: Entry) => {
      if (!isWanted(entry)) return
      const message = await entry.view(withFiles)
      if (!stop.signal.aborted)
        this.#write({ method: 'message', params: { subscription, message } })
    }
    const from = { clock: this.#options.clock, start: { position, after }, signal: stop.signal }
    this.#subscriptions.set(subscription, { stop, run: () => follow(reading, from, emit) })
    return { subscription, buffer_limit: bufferLimit }
  }

  /** Runs a subscription, after its answer was written, until it ends. */
  async #run(subscription: number): Promise<void> {
    try {
      await this.#subscriptions.get(subscription)?.run()
    } catch (error) {
      const { message } = asRpcError(error)
      this.#write({ method: 'error', params: { subscription, error: { message } } })
      this.#options.onRefused(error)
    } finally {
      this.#subscriptions.delete(subscription)
    }
  }

  #unsubscribe(params: Params): object {
    const subscription = numberParam(params, 'subscription', { min: 1, max: 1_000_000_000 })
    if (subscription === undefined) throw invalidParams('subscription is required')
    this.#subscriptions.get(subscription)?.stop.abort()
    this.#subscriptions.delete(subscription)
    return { ok: true }
  }
}

type Request = { readonly id: unknown; readonly method: string; readonly params: Params }

function requestIn(line: string): Request {
  if (line.length > LINE_LENGTH_MAX) throw new RpcError(-32_600, 'Invalid Request', 'too long')
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    throw new RpcError(-32_700, 'Parse error', 'invalid JSON')
  }
  const { id, method, params = {} } = (parsed ?? {}) as Partial<Request> // Checked below.
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params)
  if (typeof method === 'string' && isObject) return { id, method, params }
  throw new RpcError(-32_600, 'Invalid Request', 'method must be a string, and params an object')
}

function sinceIn(params: Params): number | undefined {
  return numberParam(params, 'since_rowid', { min: -1, max: Number.MAX_SAFE_INTEGER })
}

/** A filter for entries from the parameters of `watch.subscribe` and `messages.after`. */
function choiceIn(params: Params): (entry: Entry) => boolean {
  const chat = numberParam(params, 'chat_id', { min: 1, max: Number.MAX_SAFE_INTEGER })
  const senders = textsParam(params, 'participants')
  const isWithReactions = flagParam(params, 'include_reactions')
  return (entry) =>
    (chat === undefined || chat === entry.chat.number) &&
    (senders?.includes(entry.sender) ?? true) &&
    (isWithReactions || !entry.isReaction)
}

const AHEAD = 1_000

async function messagesAfter(reading: Reading, params: Params): Promise<object> {
  const since = sinceIn(params)
  if (since === undefined) throw invalidParams('since_rowid is required')
  const limit = numberParam(params, 'limit', { min: 1, max: 500 }) ?? 100
  const isWanted = choiceIn(params)
  const found: Entry[] = []
  let position = positionAfter(since)
  let hasMore = true
  // A message that waited for its files is recorded after some later messages, but within a few entries of them.
  while (hasMore && found.length < limit + AHEAD) {
    const batch = await readBatch(reading, position, 0)
    found.push(...batch.entries.filter(({ number }) => number > since))
    position = batch.position
    hasMore = batch.hasMore
  }
  const waiting = found.length === 0 ? Infinity : await earliestWaiting(reading, found)
  const ready = inOrder(found).filter(({ number }) => number < waiting)
  const page = ready.slice(0, limit)
  const withFiles = flagParam(params, 'attachments')
  return {
    messages: await Promise.all(page.filter(isWanted).map((entry) => entry.view(withFiles))),
    next_rowid: page.at(-1)?.number ?? Math.max(since, 0),
    has_more: hasMore || ready.length > limit,
  }
}
