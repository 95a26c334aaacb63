// Thousands of requests made from the relay's own OpenAPI document, against the executable. No answer
// may be a fault of the relay's, and every error has the one shape and gives nothing away.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { eventually } from '../support/eventually.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { LEAK, requestsOf, type ApiDocument, type FuzzRequest } from './requests.ts'

const REQUESTS = 4_000 * SCALE
const IN_FLIGHT = 64
const IDS_MAX = 500
/** How often the lines are set right again, so that sends go on reaching them. */
const MEND_EVERY = 500
const TOLD_MAX = 5
const BRIDGED = '+12025550149'
/** A bridge that asks for a message is held for 25 s, a reader of events for as long as it likes: they hang up. */
const HELD = ['bridgeNext', 'listEvents', 'streamEvents']
const HELD_MS = 1_000

const ANY_ID = /"((?:key|line|msg|conv|wh|dlv|brg)_[0-9a-z]{26})"/g

type Bridge = { readonly id: string; readonly token: string }
type Line = { readonly id: string; readonly driver: string }

/** What all this is asked with, and the lines that go on taking messages and calls: left alone. */
type Own = {
  readonly key: ApiKey
  /** A key of `line` alone. */
  readonly limited: ApiKey
  readonly bridge: Bridge
  readonly line: Line
  readonly bridgedLine: Line
}

type Fault = { readonly what: string; readonly request: FuzzRequest; readonly answer: string }

test(
  `${REQUESTS} requests made from the document meet no fault and no odd error`,
  async () => {
    using dir = temporaryDataDir()
    const key = await createKey(dir.path)
    await using relay = await RelayProcess.start({
      dataDir: dir.path,
      environment: { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_SIMULATED_DELAY_MS: '0' },
    })
    const document = (await (await fetch(`${relay.url}/swagger/whole.json`)).json()) as ApiDocument
    const requests = fc.sample(requestsOf(document), { numRuns: REQUESTS, seed: SEED })

    const api = new ApiClient(() => relay.url, key)
    const lineOf = (kind: string) =>
      eventually(`a line of ${kind}`, async () => {
        return (await linesOf(api)).find(({ driver }) => driver === kind) ?? null
      })
    const bridge = await api.ask<Bridge>('POST', '/api/v1/bridges', { phone_number: BRIDGED })
    const [line, bridgedLine] = [await lineOf('simulated'), await lineOf('shortcuts')]
    const limits = { ...LIMITS, phone_line_ids: [line.id] }
    const limited = await api.ask<ApiKey>('POST', '/api/v1/keys', limits)
    const fuzz = new Fuzz(relay.url, { key, limited, bridge, line, bridgedLine })
    await fuzz.run(requests)
    const exitCode = await relay.end('SIGTERM')
    process.stdout.write(`${requests.length} requests, seed ${SEED}: ${fuzz.summary()}\n`)

    expect(fuzz.faults.slice(0, TOLD_MAX)).toEqual([])
    expect(fuzz.operations.size).toBe(operationCount(document))
    expect(exitCode).toBe(0)
  },
  600_000 * SCALE,
)

const LIMITS = {
  scopes: ['read', 'send', 'webhooks:read', 'webhooks:write', 'keys:read', 'keys:write'],
  rules: { recipients: 'known', sends_per_hour: 100 },
}

class Fuzz {
  readonly faults: Fault[] = []
  readonly operations = new Set<string>()
  readonly #statuses = new Map<number, number>()
  #held = 0
  readonly #ids = new Map<string, string[]>()
  readonly #url: string
  readonly #own: Own
  readonly #api: ApiClient

  constructor(url: string, own: Own) {
    this.#url = url
    this.#own = own
    this.#api = new ApiClient(() => url, own.key)
  }

  async run(requests: readonly FuzzRequest[]): Promise<void> {
    let next = 0
    const work = async () => {
      for (let request = requests[next]; request !== undefined; request = requests[next]) {
        next += 1
        if (next % MEND_EVERY === 1) await this.#mend()
        await this.#send(request)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  }

  /** How often each status was answered. */
  summary(): string {
    const counts = [...this.#statuses].sort(([a], [b]) => a - b)
    const answered = counts.map(([status, count]) => `${status}: ${count}`).join(', ')
    return `${answered}; ${this.#held} were held until they hung up`
  }

  async #mend(): Promise<void> {
    for (const { id, driver } of await linesOf(this.#api)) {
      // While an enabled line is not simulated, no message takes a simulated one by itself.
      const body = { is_enabled: driver === 'simulated', daily_contact_limit: 1_000 }
      const { status } = await this.#api.request('PATCH', `/api/v1/phone-lines/${id}`, { body })
      // One of a bridge goes when that is deleted meanwhile.
      if (status !== 200 && status !== 404) throw new Error(`A line was not mended: ${status}`)
    }
  }

  async #send(request: FuzzRequest): Promise<void> {
    this.operations.add(request.operationId)
    const mayHold = HELD.includes(request.operationId)
    const signal = mayHold ? AbortSignal.timeout(HELD_MS) : null
    const answered = await fetch(this.#urlOf(request), {
      method: request.method,
      headers: { ...request.headers, ...this.#credentialsOf(request) },
      redirect: 'manual',
      signal,
      ...(hasBody(request) ? { body: request.body } : {}),
    })
      .then(async (response) => ({ response, text: await response.text() }))
      .catch((error: unknown) => {
        if (signal?.aborted !== true) throw error
        return null
      })
    if (answered === null) {
      this.#held += 1
      return
    }
    const { response, text } = answered
    this.#statuses.set(response.status, (this.#statuses.get(response.status) ?? 0) + 1)
    this.#learnFrom(text)
    const isLimited = request.credentials === 'limited' && request.path[1] === 'api'
    const isForeign = isLimited && response.ok && text.includes(this.#own.bridgedLine.id)
    const what = isForeign
      ? 'a limited key is told of another line'
      : faultIn(request, response, text)
    if (what !== null) this.faults.push({ what, request, answer: text.slice(0, 300) })
  }

  #urlOf(request: FuzzRequest): string {
    const path = request.path.map((part) =>
      typeof part === 'string' ? part : this.#knownId(part.prefix, part.known),
    )
    const query = request.query.map(
      ([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
    )
    return `${this.#url}${path.join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`
  }

  #knownId(prefix: string, number: number): string {
    const known = this.#ids.get(prefix) ?? []
    return known[number % Math.max(known.length, 1)] ?? `${prefix}_${'0'.repeat(26)}`
  }

  #credentialsOf({ credentials }: FuzzRequest): Record<string, string> {
    if (credentials === 'none') return {}
    const { key, limited, bridge } = this.#own
    if (credentials === 'limited')
      return { 'X-API-Key': limited.key, 'X-API-Secret': limited.secret }
    const wrong = credentials === 'wrong' ? 'x' : ''
    return {
      'X-API-Key': key.key,
      'X-API-Secret': key.secret + wrong,
      Authorization: `Bearer ${bridge.token}${wrong}`,
    }
  }

  /** Remembers the ids that the relay answers with, except our own. */
  #learnFrom(text: string): void {
    const own = Object.values(this.#own).map(({ id }) => id)
    for (const [, id = ''] of text.matchAll(ANY_ID)) {
      const prefix = id.split('_')[0] ?? ''
      const known = this.#ids.get(prefix) ?? []
      if (own.includes(id) || known.includes(id) || known.length >= IDS_MAX) continue
      this.#ids.set(prefix, [...known, id])
    }
  }
}

async function linesOf(api: ApiClient): Promise<readonly Line[]> {
  const { data } = await api.ask<{ data: readonly Line[] }>('GET', '/api/v1/phone-lines')
  return data
}

/** What is wrong with an answer, or null. */
function faultIn(request: FuzzRequest, response: Response, text: string): string | null {
  const { status, headers } = response
  if (headers.get('x-request-id') === null) return 'no X-Request-Id'
  if (status < 400) return null
  if (status >= 500) return `status ${status}`
  // An answer to HEAD has no body to look at.
  if (request.method === 'HEAD') return null
  if (!isInShape(text)) return 'an error that is not in the one shape'
  if (isStranger(request) && status !== 401) return 'told more than 401 to a stranger'
  return LEAK.test(text) ? 'an error that gives something away' : null
}

function isStranger({ credentials, path }: FuzzRequest): boolean {
  const isKnown = credentials === 'good' || (credentials === 'limited' && path[1] === 'api')
  return !isKnown && (path[1] === 'api' || path[1] === 'bridge')
}

/** True if an error is in the one shape: `{"error":{"code","message","details"?,"doc_url","request_id"}}`. */
function isInShape(text: string): boolean {
  try {
    const whole = JSON.parse(text) as { error: { code: unknown; message: unknown } } // Checked next.
    const names = Object.keys(whole.error).filter((name) => name !== 'details')
    const { code, message } = whole.error
    return (
      Object.keys(whole).join() === 'error' &&
      names.sort().join() === 'code,doc_url,message,request_id' &&
      typeof code === 'string' &&
      typeof message === 'string'
    )
  } catch {
    return false
  }
}

function hasBody(
  request: FuzzRequest,
): request is FuzzRequest & { readonly body: NonNullable<FuzzRequest['body']> } {
  return request.body !== null && request.method !== 'GET' && request.method !== 'HEAD'
}

function operationCount(document: ApiDocument): number {
  return Object.values(document.paths).flatMap((path) => Object.keys(path)).length
}
