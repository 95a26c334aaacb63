// Hundreds of requests to `hookline imsg rpc` beside the executable. Each gets one answer in the form that the clients
// of imsg read, none is a fault of ours, and an error that says "not started" is true.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { RPC_METHODS } from '../../src/compat/imsg/rpc.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import {
  ApiClient,
  createKey,
  RelayProcess,
  temporaryDataDir,
  type ApiKey,
} from '../support/relay-process.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'
import { LEAK, mostly, spoiltBody } from './requests.ts'
import { hostileText, hostileValue, PEOPLE } from './schema-values.ts'

const REQUESTS = 500 * SCALE
const SHOWN_MAX = 5
const LIMITS = { rules: { recipients: 'list', allow: PEOPLE.slice(0, 1), sends_per_hour: 20 } }
/** Methods of imsg that no line of a relay can do, and one that doesn't exist. */
const OTHER_METHODS = ['send.rich', 'tapback', 'polls.create', 'chats.create', 'nothing', '']

const PARAMS =
  'chat_id chat_guid chat_identifier to text file path service region reply_to limit start end participants attachments query guid attempt_id since_rowid buffer_limit subscription include_reactions unread_only protocol_version __proto__ toString'.split(
    ' ',
  )

type Request = {
  readonly method: string
  readonly params: object
  /** In place of the whole line. */
  readonly raw: string | null
}

const optional = <T extends object>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [] })

/** `#3` and `@3` stand for the third chat and message that the relay answered. */
const chat = fc.nat({ max: 20 }).map((place) => `#${place}`)
const message = fc.nat({ max: 20 }).map((place) => `@${place}`)
const text = fc.string({ maxLength: 40 }).map((end) => `fuzz ${end}`)
const person = fc.constantFrom(...PEOPLE)
const place = fc.oneof(
  person.map((to) => ({ to })),
  chat.map((chat_id) => ({ chat_id })),
  person.map((one) => ({ chat_guid: `any;-;${one}` })),
  person.map((one) => ({ chat_identifier: one })),
)
const page = optional({ limit: fc.integer({ min: 1, max: 100 }), attachments: fc.boolean() })
const files = fc.constantFrom('menu.txt', 'folder', 'nothing.txt', '/dev/zero', '../..', '\0')

const joined = (...parts: readonly fc.Arbitrary<object>[]): fc.Arbitrary<object> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all))

/** What a client of imsg sends. */
const GOOD: Readonly<Record<string, fc.Arbitrary<object>>> = {
  initialize: optional({ protocol_version: fc.constant(1) }),
  status: fc.constant({}),
  'chats.list': optional({ limit: fc.integer({ min: 1, max: 50 }), unread_only: fc.boolean() }),
  'chats.get': fc.record({ chat_id: chat }),
  'messages.history': joined(fc.record({ chat_id: chat }), page),
  'messages.search': joined(fc.record({ query: fc.constantFrom('fuzz', 'walnut') }), page),
  'messages.after': joined(fc.record({ since_rowid: fc.nat({ max: 100 }) }), page),
  'message.send_status': fc.record({ guid: message }),
  send: joined(place, fc.record({ text })),
  'send.tracked': joined(place, fc.record({ text, attempt_id: fc.uuid() })),
  'send.attachment': joined(place, fc.record({ file: files })),
  'watch.subscribe': optional({ since_rowid: fc.nat({ max: 100 }), chat_id: chat }),
  'watch.unsubscribe': fc.record({ subscription: fc.integer({ min: 1, max: 9 }) }),
}

const spoiltLine = spoiltBody.map(String)
const request: fc.Arbitrary<Request> = fc
  .record({
    method: mostly(fc.constantFrom(...RPC_METHODS), fc.constantFrom(...OTHER_METHODS), 15),
    bent: mostly<readonly [string, unknown] | null>(
      fc.constant(null),
      fc.tuple(fc.constantFrom(...PARAMS), hostileValue),
      3,
    ),
    raw: mostly<string | null>(fc.constant(null), fc.oneof(hostileText, spoiltLine), 15),
  })
  .chain(({ method, bent, raw }) =>
    (GOOD[method] ?? fc.constant({})).map((good) => ({
      method,
      raw,
      params: bent === null ? good : { ...good, [bent[0]]: bent[1] },
    })),
  )

type Fault = { readonly what: string; readonly request: object; readonly answer: string }

test(
  `${REQUESTS} requests to imsg rpc meet no fault, and what was "not started" never leaves`,
  async () => {
    using dir = temporaryDataDir()
    using folder = new ScratchFolder()
    await Bun.write(folder.file('menu.txt'), 'Soup')
    await Bun.write(folder.file('folder/inside.txt'), 'x')
    const owner = await createKey(dir.path)
    await using relay = await RelayProcess.start({
      dataDir: dir.path,
      environment: { HOOKLINE_SIMULATED_LINES: '1', HOOKLINE_SIMULATED_DELAY_MS: '0' },
    })
    const api = new ApiClient(() => relay.url, owner)
    const make = (more: object) => api.ask<ApiKey>('POST', '/api/v1/keys', { for: 'imsg', ...more })
    const sample = fc.sample(request, { numRuns: REQUESTS, seed: SEED })
    const half = sample.length / 2

    const children = [
      new Child(relay.url, await make({}), folder.path),
      new Child(relay.url, await make(LIMITS), folder.path),
    ]
    for (const child of children) {
      await child.ask('send', { to: PEOPLE[0], text: 'fuzz first' })
      await child.ask('chats.list', {})
    }
    await Promise.all(
      children.map((child, n) => child.run(sample.slice(n * half, n * half + half))),
    )
    const ends = await Promise.all(children.map((child) => child.end()))
    const accepted = children.flatMap((child) => [...child.accepted])
    const stored = await outgoing(api)

    expect(children.flatMap(({ faults }) => faults).slice(0, SHOWN_MAX)).toEqual([])
    expect([...new Set(children.flatMap(({ succeeded }) => [...succeeded]))].sort()).toEqual(
      [...RPC_METHODS].sort(),
    )
    expect(stored.toSorted()).toEqual([...new Set(accepted)].toSorted())
    expect(ends).toEqual([0, 0])
    expect(await relay.end('SIGTERM')).toBe(0)
  },
  600_000 * SCALE,
)

/** The ids of everything that the relay accepted. */
async function outgoing(api: ApiClient): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const query = `direction=outbound&type=all&limit=200${cursor === null ? '' : `&cursor=${cursor}`}`
    const page: Json = await api.ask('GET', `/api/v1/messages?${query}`)
    ids.push(...page.data.map(({ id }: Json) => String(id)))
    cursor = page.next_cursor
  } while (cursor !== null)
  return ids
}

class Child {
  readonly faults: Fault[] = []
  readonly succeeded = new Set<string>()
  /** The ids of messages that the answers name as sent, or perhaps sent. */
  readonly accepted = new Set<string>()
  readonly #process: Bun.Subprocess<'pipe', 'pipe', 'ignore'>
  readonly #chats = new Set<number>()
  readonly #owed = new Map<number, (answer: Json) => void>()
  readonly #reading: Promise<void>
  #lastId = 0

  constructor(url: string, { key, secret }: ApiKey, folder: string) {
    this.#process = Bun.spawn([builtExecutable(), 'imsg', 'rpc'], {
      env: cleanEnvironment({ HOOKLINE_URL: url, HOOKLINE_KEY: `${key}:${secret}`, HOME: folder }),
      cwd: folder,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    this.#reading = this.#read()
  }

  async run(requests: readonly Request[]): Promise<void> {
    for (const { method, params, raw } of requests) {
      if (raw === null) await this.ask(method, this.#filled(params))
      else await this.#write(raw.replaceAll(/[\r\n]/g, ' '))
    }
  }

  async ask(method: string, params: object): Promise<void> {
    this.#lastId += 1
    const id = this.#lastId
    const answered = Promise.withResolvers<Json>()
    this.#owed.set(id, answered.resolve)
    await this.#write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const answer = await answered.promise
    this.#learn(method, answer)
    const what = faultIn(method, answer)
    const shown = JSON.stringify(answer).slice(0, 300)
    if (what !== null) this.faults.push({ what, request: { method, params }, answer: shown })
  }

  /** Returns the exit code, once every request is answered. */
  async end(): Promise<number> {
    await this.#process.stdin.end()
    await this.#reading
    return this.#process.exited
  }

  async #write(line: string): Promise<void> {
    void this.#process.stdin.write(`${line.toWellFormed()}\n`)
    await this.#process.stdin.flush()
  }

  #filled(params: object): object {
    const [chats, messages] = [[...this.#chats], [...this.accepted]]
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => {
        const [, kind, place] = /^([#@])(\d+)$/.exec(typeof value === 'string' ? value : '') ?? []
        if (kind === undefined) return [name, value]
        const known = kind === '#' ? chats : messages
        return [name, known[Number(place) % Math.max(known.length, 1)] ?? 'none']
      }),
    )
  }

  #learn(method: string, { result, error }: Json): void {
    if (result !== undefined) this.succeeded.add(method)
    for (const { id } of result?.chats ?? []) this.#chats.add(id)
    const ids = [method.startsWith('send') && result?.message_id, error?.data?.message_id]
    for (const id of ids) if (typeof id === 'string') this.accepted.add(id)
  }

  async #read(): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of this.#process.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
    }
  }

  #take(line: string): void {
    const answer: Json = JSON.parse(line)
    if (answer.method === 'message') return
    const owed = this.#owed.get(answer.id)
    if (owed !== undefined) {
      this.#owed.delete(answer.id)
      return owed(answer)
    }
    // An answer to a spoilt line: an error, with the id of the line if that could be read.
    const what = answer.error === undefined ? 'an answer that nobody is owed' : faultIn('', answer)
    if (what !== null) this.faults.push({ what, request: {}, answer: line.slice(0, 300) })
  }
}

/** The fault of an answer, or null. */
function faultIn(method: string, { jsonrpc, result, error }: Json): string | null {
  if (jsonrpc !== '2.0') return 'not JSON-RPC'
  if (error === undefined) return Object(result) === result ? null : 'no result'
  if (!isInForm(error)) return 'not the form of an error'
  if (error.message === 'Internal error') return 'a fault of ours'
  if (LEAK.test(JSON.stringify(error))) return 'an error that gives something away'
  const isSend = RPC_METHODS.includes(method) && method.startsWith('send')
  // Refused parameters, and a relay that refuses or is away: nothing was sent.
  if (!isSend || error.code === -32_602 || error.code === -32_002) return null
  return typeof error.data.retry_safe === 'boolean' ? null : 'a send without its outcome'
}

function isInForm({ code, message, data, ...others }: Json): boolean {
  const isTold = Number.isInteger(code) && typeof message === 'string' && message !== ''
  return isTold && data !== undefined && Object.keys(others).length === 0
}
