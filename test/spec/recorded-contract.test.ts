// The contract with old clients: what an earlier version answered to a fixed script of requests, this version
// answers too, byte for byte. It may say more, and what it says beyond is listed here.
//
// `recorded-contract.jsonl` holds what the version of commit abdba96c answered, one exchange a line; exchanges with
// receivers of webhooks have the status 0. It is recorded by playing `contract-script.ts` in a work tree of that
// commit, and never on a later version.

import { expect, test } from 'bun:test'

import { objectAt, readDocument } from '../http/openapi-document.ts'
import { type Json } from '../support/test-relay.ts'
import { playContract, type Exchange } from './contract-script.ts'

/** Fields, headers and metrics that this version says beyond: the operation, and the name. */
const ADDITIONS: readonly string[] = [
  'GET /api/v1/keys/self conversation_ids',
  'PUT /api/v1/webhooks/ID events_while_paused',
  'PUT /api/v1/webhooks/ID paused_at',
]

/** What errors of this version say beyond. */
const ADDITIONS_TO_ERRORS =
  /\berror\.(?:doc_url|request_id|details(?:\.(?:suggestion|issues\.suggestion|line|column))?)$/

/** Operations that have come since: no old client calls them. */
const ADDED_OPERATIONS: readonly string[] = [
  'GET /api/v1/sites',
  'GET /api/v1/sites/{id}',
  'POST /api/v1/keys/{id}/rotate',
  'GET /api/v1/timeline',
  'GET /api/v1/alerts',
  'GET /api/v1/alerts/channels',
  'GET /api/v1/alerts/rules',
]

/** Words that are meant to differ since: what was recorded, what is said now, and why. */
const REWORDED = [
  // A sender that is a name may also be a company.
  [
    'On that iPhone, delete the contacts who message the line. Their messages stay.',
    'If the name is a contact of that iPhone, delete the contact there: the messages stay, and the next ones come with the number. The name of a company can only be read.',
  ],
  // A file without a name gets the ending of its type, so that its receiver can open it.
  ['"filename":"attachment"', '"filename":"attachment.txt"'],
] as const

type Outcome = readonly [status: number, code: string | null]

/** Answers that are meant to differ since, by their request: what was recorded, and what is answered now. */
const DIFFERENT: Readonly<Record<string, readonly [before: Outcome, now: Outcome]>> = {
  // `Allow` no longer has the methods of a message whose id would be "send".
  'PATCH /api/v1/messages/send {}': [
    [405, 'method_not_allowed'],
    [405, 'method_not_allowed'],
  ],
  // The Idempotency-Key of another key means nothing to this one, which got the other's answer.
  'POST /api/v1/messages/send {"to":"+12025550711","text":"once"} (as another caller)': [
    [200, 'replayed'],
    [200, null],
  ],
  // Other words are a send, for which this key has no scope.
  'POST /api/v1/messages/ID/approve {"text":"words of a clerk"} (as another caller)': [
    [200, null],
    [403, 'forbidden'],
  ],
  // A message that came with a name was lost; it is kept under the name.
  'POST /bridge/v1/receive {"id":"2","from":"Ben","text":"from the iPhone","at":"2026-11-21T10:00:00Z"} (as another caller)':
    [
      [422, 'invalid_sender'],
      [200, null],
    ],
}

/** Receivers hear of a message that was lost before: its sender. */
const ADDED_SENDERS: readonly string[] = ['Ben']

test('every recorded answer is given again, and what is said beyond is listed', async () => {
  const recorded = await readRecorded()
  const all = await playContract()
  const played = all.filter(
    ({ status, body }) => status !== 0 || !ADDED_SENDERS.includes(body.message?.handle),
  )

  const additions = new Set<string>()
  const names = { before: new Names(), now: new Names() }
  for (const [index, before] of recorded.entries()) {
    const now = played[index] ?? { request: 'none', status: 0, headers: {}, body: null }
    const meant = DIFFERENT[before.request.replaceAll(ID, 'ID')]
    if (meant !== undefined) {
      expect([outcomeOf(before), outcomeOf(now)]).toEqual([...meant])
      continue
    }
    const shared = sharedOf(withOldWords(now, before), before, (name) => {
      if (now.status < 400 || !ADDITIONS_TO_ERRORS.test(name)) {
        additions.add(`${operationOf(now)} ${name}`)
      }
    })
    expect(names.now.of(shared)).toBe(reworded(names.before.of(before)))
  }

  expect(played.length).toBe(recorded.length)
  expect(all.length).toBe(recorded.length + ADDED_SENDERS.length)
  expect([...additions].sort()).toEqual([...ADDITIONS].sort())
})

test('each operation of the recorded version has been played with success', async () => {
  const recorded = await readRecorded()
  const paths = objectAt(await readDocument('/swagger/whole.json'), 'paths')
  const operations = Object.keys(paths).flatMap((path) =>
    Object.keys(objectAt(paths, path)).map((method) => `${method.toUpperCase()} ${path}`),
  )

  const missing = operations.filter((operation) => {
    const pattern = new RegExp(`^${operation.replaceAll(/\{\w+\}/g, '[^/? ]+')}(?:[? ]|$)`)
    return !recorded.some(({ request, status }) => pattern.test(request) && status < 300)
  })

  expect(missing).toEqual([...ADDED_OPERATIONS])
})

async function readRecorded(): Promise<readonly Exchange[]> {
  const path = new URL('../fixtures/recorded-contract.jsonl', import.meta.url)
  return (await Bun.file(path).text())
    .trim()
    .split('\n')
    .map((line): Exchange => JSON.parse(line))
}

function outcomeOf({ status, headers, body }: Exchange): Outcome {
  return [status, body.error?.code ?? (headers['idempotency-replayed'] ? 'replayed' : null)]
}

function operationOf({ request }: Exchange): string {
  const [method = '', url = ''] = request.replaceAll(ID, 'ID').split(' ')
  return `${method} ${url.split('?')[0]}`
}

function reworded(text: string): string {
  return REWORDED.reduce((said, [before, now]) => said.replaceAll(before, now), text)
}

/** The exchange with the recorded words of its error: they may change, but those of a 401 begin as they did. */
function withOldWords(now: Exchange, before: Exchange): Exchange {
  const error = now.body?.error
  if (now.status < 400 || typeof error !== 'object' || before.body?.error === undefined) return now
  const { message, details } = before.body.error
  if (now.status === 401) expect(error.message).toStartWith(message)
  const issues = error.details?.issues?.map((issue: Json, index: number) => ({
    ...issue,
    message: details?.issues[index]?.message,
  }))
  const same = issues === undefined ? {} : { details: { ...error.details, issues } }
  return { ...now, body: { error: { ...error, message, ...same } } }
}

type Add = (name: string) => void

/** The part of an exchange that the recorded one has as well; the rest is passed to `add`. */
function sharedOf(now: Exchange, before: Exchange, add: Add): Exchange {
  const headers = sharedPart(now.headers, before.headers, (name) => add(`header ${name}`))
  return { ...now, headers, body: sharedPart(now.body, before.body, add) }
}

function sharedPart(now: Json, before: Json, add: Add, path = ''): Json {
  if (Array.isArray(now) && Array.isArray(before)) {
    return now.map((each, index) => sharedPart(each, before[index], add, path))
  }
  if (!isObject(now) || !isObject(before)) return now
  const kept = Object.entries(now).flatMap(([name, value]) => {
    const here = path === '' ? name : `${path}.${name}`
    if (name in before) return [[name, sharedPart(value, before[name], add, here)]]
    add(here)
    return []
  })
  return Object.fromEntries(kept)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ID = /\b(?:key|line|msg|conv|wh|dlv|evt|brg|att)_(?!0{26})(?:test_)?[0-9a-z]{26}\b/g
/** Values that each relay makes for itself, and names of what they stand for. */
const MADE = [
  [ID, 'id'],
  [/\b(?:hl_live_|hl_secret_|whsec_|hlb_)[\w+/=-]{6,}/g, 'secret'],
  [/\b[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}\b/g, 'guid'],
  [/\bv1,[\w+/=-]{44}/g, 'signature'],
  [/(?<=\/a\/)[\w.-]+/g, 'link'],
] as const
/** Values that follow from the time, or from what nobody is to rely on. */
const PASSING = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/(?<="webhook-timestamp":")\d+/g, 'TIME'],
  [/(?<="next_cursor":"|cursor=)[\w-]+/g, 'CURSOR'],
  [/req_\w+/g, 'REQUEST'],
] as const

/** Replaces each value that a relay makes for itself by the number of its first appearance, so that ids stay equal. */
class Names {
  readonly #numbers = new Map<string, string>()

  of(exchange: Exchange): string {
    const steady = PASSING.reduce(
      (text, [pattern, name]) => text.replaceAll(pattern, name),
      JSON.stringify(exchange),
    )
    return MADE.reduce(
      (text, [pattern, kind]) => text.replaceAll(pattern, (value) => this.#nameOf(value, kind)),
      steady,
    )
  }

  #nameOf(value: string, kind: string): string {
    const name = this.#numbers.get(value) ?? `<${kind} ${this.#numbers.size + 1}>`
    this.#numbers.set(value, name)
    return name
  }
}
