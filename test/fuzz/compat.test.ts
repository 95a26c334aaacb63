// Thousands of requests to the compatible APIs of the executable. No answer may be a fault of the relay's, and every
// error is in the form that the clients of its API read.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { sidOf } from '../../src/compat/twilio/ids.ts'
import { callAs, formOf } from '../support/compat-credentials.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { COMPAT_ROUTES, compatRequests, type CompatRequest } from './compat-requests.ts'
import { LEAK } from './requests.ts'

const REQUESTS = 4_000 * SCALE
const IN_FLIGHT = 64
const IDS_MAX = 500
const SHOWN_MAX = 5
const SCHEDULED = 20
/** A person of the requests. */
const CHAT = encodeURIComponent('any;-;+12025550123')
const LIMITS = { rules: { recipients: 'list', allow: ['+12025550123'], sends_per_hour: 20 } }

/** What no line can do, and a message to a group, of which this relay has none. */
const ALWAYS_REFUSED =
  /\/message\/(?:react|:guid\/)|\/chat\/:guid\/(?:read|typing|leave)|send-group-message/

type Keys = Readonly<Record<string, { readonly good: ApiKey; readonly limited: ApiKey }>>
type Fault = { readonly what: string; readonly request: object; readonly answer: string }

test(
  `${REQUESTS} requests to compatible APIs meet no fault, and every error is in its API's form`,
  async () => {
    using dir = temporaryDataDir()
    const owner = await createKey(dir.path)
    await using relay = await RelayProcess.start({
      dataDir: dir.path,
      environment: { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_SIMULATED_DELAY_MS: '0' },
    })
    const api = new ApiClient(() => relay.url, owner)
    const { data } = await api.ask<{ data: { id: string }[] }>('GET', '/api/v1/phone-lines')
    for (const { id } of data) {
      await api.ask('PATCH', `/api/v1/phone-lines/${id}`, { daily_contact_limit: 100_000 })
    }
    const make = (name: string, more: object = {}) =>
      api.ask<ApiKey>('POST', '/api/v1/keys', { for: name, ...more })
    const keys: Keys = {
      sms: { good: await make('sms'), limited: await make('sms', LIMITS) },
      'signal-cli': { good: await make('signal-cli'), limited: await make('signal-cli', LIMITS) },
      bluebubbles: {
        good: await make('bluebubbles'),
        limited: await make('bluebubbles', LIMITS),
      },
      sendblue: { good: await make('sendblue'), limited: await make('sendblue', LIMITS) },
      twilio: { good: await make('twilio'), limited: await make('twilio', LIMITS) },
    }
    const requests = fc.sample(compatRequests, { numRuns: REQUESTS, seed: SEED })

    const fuzz = new Fuzz(relay.url, keys)
    const [message, file] = await messageWithFile(relay.url, owner)
    fuzz.note(`${message} ${file}`)
    fuzz.files.push([sidOf('MM', message), sidOf('ME', file)])
    for (let n = 0; n < SCHEDULED; n += 1) fuzz.scheduled.push(await scheduledSid(api))
    await fuzz.run(requests)
    const exitCode = await relay.end('SIGTERM')
    process.stdout.write(`${requests.length} requests, seed ${SEED}: ${fuzz.summary()}\n`)

    expect(fuzz.faults.slice(0, SHOWN_MAX)).toEqual([])
    expect([...fuzz.routes].sort()).toEqual([...COMPAT_ROUTES].sort())
    const unmet = COMPAT_ROUTES.filter((route) => !fuzz.succeeded.has(route))
    expect(unmet.filter((route) => !ALWAYS_REFUSED.test(route))).toEqual([])
    expect(exitCode).toBe(0)
  },
  600_000 * SCALE,
)

async function scheduledSid(api: ApiClient): Promise<string> {
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { to: '+12025550123', text: 'Later', send_at }
  const { id } = await api.ask<{ id: string }>('POST', '/api/v1/messages/send', body)
  return sidOf('SM', id)
}

test('a body that is too long, and one that does not end, are refused in the form of the API', async () => {
  using dir = temporaryDataDir()
  const owner = await createKey(dir.path)
  await using relay = await RelayProcess.start({ dataDir: dir.path })
  const api = new ApiClient(() => relay.url, owner)

  for (const [name, path] of [
    ['sms', '/compat/sms/send'],
    ['signal-cli', '/v2/send'],
    ['bluebubbles', '/compat/bluebubbles/api/v1/message/attachment'],
    ['sendblue', '/compat/sendblue/api/send-message'],
    ['twilio', '/2010-04-01/Accounts/:account/Messages.json'],
  ] as const) {
    const key = await api.ask<ApiKey>('POST', '/api/v1/keys', { for: name })
    const filled = path.replace(':account', key.key)
    const answers = await Promise.all([
      ask(
        relay.url,
        callAs(formOf(name), key, filled),
        `{"message":"${'x'.repeat(50 * 1_024 * 1_024)}"}`,
      ),
      ask(relay.url, callAs(formOf(name), key, filled), endless(50)),
    ])

    expect(answers.map(({ status }) => status)).toEqual([413, 413])
    expect(answers.filter(({ text }) => !IN_SHAPE[name]?.(text))).toEqual([])
  }
})

class Fuzz {
  readonly faults: Fault[] = []
  readonly routes = new Set<string>()
  readonly succeeded = new Set<string>()
  /** Sids of messages with a file, each with that of the file. */
  readonly files: (readonly [message: string, file: string])[] = []
  /** Sids of messages that wait for their time: those of the requests may have been sent before they are canceled. */
  readonly scheduled: string[] = []
  readonly #statuses = new Map<number, number>()
  readonly #ids = new Map<string, string[]>()
  readonly #url: string
  readonly #keys: Keys

  constructor(url: string, keys: Keys) {
    this.#url = url
    this.#keys = keys
  }

  async run(requests: readonly CompatRequest[]): Promise<void> {
    const left = [...requests]
    const work = async () => {
      for (let request = left.pop(); request !== undefined; request = left.pop()) {
        await this.#send(request)
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  }

  /** The number of answers with each status. */
  summary(): string {
    const counts = [...this.#statuses].sort(([a], [b]) => a - b)
    return counts.map(([status, count]) => `${status}: ${count}`).join(', ')
  }

  async #send(request: CompatRequest): Promise<void> {
    const { route, method, headers, body } = request
    this.routes.add(route)
    const { path: asked, headers: credentials } = this.#credentialsOf(request)
    const hasBody = body !== null && method !== 'GET' && method !== 'HEAD'
    const response = await fetch(this.#url + asked, {
      method,
      headers: { ...headers, ...credentials },
      redirect: 'manual',
      ...(hasBody ? { body } : {}),
    })
    const text = await response.text()
    this.#statuses.set(response.status, (this.#statuses.get(response.status) ?? 0) + 1)
    if (response.ok && method === route.split(' ')[0]) this.succeeded.add(route)
    this.note(text)
    const what = faultIn(request, response, text)
    if (what !== null) this.faults.push({ what, request, answer: text.slice(0, 300) })
  }

  /** Remembers the ids in an answer. */
  note(text: string): void {
    for (const [found, kind = 'sid'] of text.matchAll(
      /\b(?:(msg|wh|att)_[0-9a-z]{26}|[SM]M[0-9a-f]{32})/g,
    )) {
      const known = this.#ids.get(kind) ?? []
      if (known.length < IDS_MAX) this.#ids.set(kind, [...known, found])
    }
  }

  /** The path with ids of its kind. Only SMS Gate takes several. */
  #filled(request: CompatRequest): string {
    const { api, path, ids, method } = request
    if (/\/chat\/:guid/.test(path)) return path.replace(':guid', CHAT)
    const known = (kind: string) => {
      const all = this.#ids.get(kind) ?? []
      return ids.map((number) => all[number % Math.max(all.length, 1)] ?? 'none')
    }
    const found = known(kindIn(path))
    const [message = '', file = ''] = this.files[0] ?? []
    const [first = 0] = ids
    const [named] = method === 'POST' ? this.scheduled.slice(first % SCHEDULED) : known('sid')
    return path
      .replace(/:(?:id|guid)/, api === 'sms' ? found.join(',') : (found[0] ?? ''))
      .replace(':account', String(this.#madeFor(request)?.key))
      .replace(':sid', path.includes('/Media') ? message : String(named))
      .replace(':media', file)
  }

  #madeFor({ api, credentials: { whose } }: CompatRequest): ApiKey | undefined {
    return whose === 'limited' ? this.#keys[api]?.limited : this.#keys[api]?.good
  }

  #credentialsOf(request: CompatRequest): ReturnType<typeof callAs> {
    const { whose, form } = request.credentials
    const path = this.#filled(request)
    if (whose === 'none') return { path, headers: {} }
    const made = this.#madeFor(request)
    const secret = `${made?.secret}${whose === 'wrong' ? 'x' : ''}`
    return callAs(form, { key: String(made?.key), secret }, path)
  }
}

/** The kind of the id in a path. */
function kindIn(path: string): string {
  const [, resource = ''] = /\/(webhook|attachment)\/:/.exec(path) ?? []
  return { webhook: 'wh', attachment: 'att' }[resource] ?? 'msg'
}

/** The fault of an answer, or null. */
function faultIn(request: CompatRequest, response: Response, text: string): string | null {
  const { status, headers } = response
  const { whose } = request.credentials
  if (headers.get('x-request-id') === null) return 'no X-Request-Id'
  if (status >= 500) return `status ${status}`
  const isStranger = whose === 'none' || whose === 'wrong'
  if (status < 400) return isStranger ? 'an answer to a stranger' : null
  if (isStranger && ![401, 404, 405].includes(status)) return 'told more than 401 to a stranger'
  return faultInError(request, response, text)
}

function faultInError(request: CompatRequest, response: Response, text: string): string | null {
  const { api, method } = request
  // An answer to HEAD has no body to look at.
  if (method === 'HEAD') return null
  if (response.headers.get('content-type') !== 'application/json')
    return 'an error that is not JSON'
  // A client may leave the folder of its API by dots, as by any other address.
  const { pathname } = new URL(response.url)
  const isBeyond = !pathname.startsWith(`/compat/${api}`) && !isAtRoot(pathname)
  if (!isBeyond && !IN_SHAPE[api]?.(text)) return "an error that is not in its API's form"
  return LEAK.test(text) ? 'an error that gives something away' : null
}

function isAtRoot(pathname: string): boolean {
  return /^\/(?:v[12]|2010-04-01\/Accounts)\/./.test(pathname)
}

const IN_SHAPE: Readonly<Record<string, (text: string) => boolean>> = {
  sms: (text) => {
    const { success, status, code, error, message, ...others } = objectIn(text)
    const isTold = [code, error, message].every((each) => typeof each === 'string' && each !== '')
    return success === false && status === 'failed' && isTold && Object.keys(others).length === 0
  },
  bluebubbles: (text) => {
    const { status, message, error, ...others } = objectIn(text)
    const { type, message: why, code, ...more } = Object(error)
    const isTold = [message, type, why, code].every(
      (each) => typeof each === 'string' && each !== '',
    )
    const isAll = [others, more].every((each) => Object.keys(each).length === 0)
    return typeof status === 'number' && isTold && isAll
  },
  sendblue: (text) => {
    const {
      status,
      error_code: code,
      error_reason,
      error_message,
      message,
      ...others
    } = objectIn(text)
    const isTold = [error_reason, error_message].every((each) => typeof each === 'string')
    const isWhole = isTold && message === error_message && typeof code === 'number'
    return status === 'ERROR' && isWhole && Object.keys(others).length === 0
  },
  'signal-cli': (text) => {
    const { error, ...others } = objectIn(text)
    return typeof error === 'string' && error !== '' && Object.keys(others).length === 0
  },
  twilio: (text) => {
    const { code, status, message, more_info: more, ...others } = objectIn(text)
    const isTold = [message, more].every((each) => typeof each === 'string' && each !== '')
    const isNumbered = typeof code === 'number' && typeof status === 'number'
    return isNumbered && isTold && Object.keys(others).length === 0
  },
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The ids of a message with a file, and of the file. */
async function messageWithFile(url: string, owner: ApiKey): Promise<readonly [string, string]> {
  const headers = { 'X-API-Key': owner.key, 'X-API-Secret': owner.secret }
  const call = async (path: string, type: string, body: string) => {
    const given = { method: 'POST', headers: { ...headers, 'content-type': type }, body }
    const response = await fetch(`${url}/api/v1${path}`, given)
    return (await response.json()) as { readonly id: string }
  }
  const file = await call('/attachments?filename=menu.txt', 'text/plain', 'soup')
  const sent = { to: '+12025550123', text: 'The menu', attachments: [{ id: file.id }] }
  const message = await call('/messages/send', 'application/json', JSON.stringify(sent))
  return [message.id, file.id]
}

async function ask(url: string, call: ReturnType<typeof callAs>, body: string | ReadableStream) {
  const { path, headers } = call
  const response = await fetch(url + path, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

/** As many MB as a client sends without a Content-Length. */
function endless(megabytes: number): ReadableStream<Uint8Array> {
  let left = megabytes
  return new ReadableStream({
    pull(controller) {
      left -= 1
      if (left < 0) return controller.close()
      controller.enqueue(new Uint8Array(1_024 * 1_024).fill(120))
    },
  })
}
