// Every way passes the gate: each limit of a key, tried by each operation of the API and each tool of its MCP
// server. An operation or a tool that is added is red here until its possible misuse is listed.

import { expect, test } from 'bun:test'

import { SCOPES } from '../../src/domain/permissions.ts'
import { objectAt, readDocument } from '../http/openapi-document.ts'
import {
  STRANGER,
  proberOf,
  startGuarded,
  type Answered,
  type Call,
  type Guarded,
  type Prober,
} from '../support/guarded-relay.ts'
import { ANNA, HOUR_MS } from '../support/limited-keys.ts'
import { TEST_START } from '../support/test-clock.ts'
import { ATTEMPTS, OF_CONVERSATION, OWN_WORDS, TOOL_ARGUMENTS } from './key-attempts.ts'

/** The scope of each operation; undefined for those that need no key. */
async function scopes(): Promise<ReadonlyMap<string, unknown>> {
  const paths = objectAt(await readDocument('/swagger/whole.json'), 'paths')
  const operations = Object.keys(paths).flatMap((path) => Object.values(objectAt(paths, path)))
  const listed = operations as readonly Readonly<Record<string, unknown>>[] // Operations are objects.
  return new Map(listed.map((each) => [String(each['operationId']), each['x-required-scope']]))
}

test('each operation of the API, and each tool, has attempts to get past a limit', async () => {
  await using world = await startGuarded()

  const { text } = await world.ask(request('tools/list', {}), await world.prober({}))
  const tools = [...text.matchAll(/"name":"([a-z_]+)","title"/g)].map(([, name = '']) => name)

  expect(Object.keys(ATTEMPTS).sort()).toEqual([...(await scopes()).keys()].sort())
  expect(Object.keys(TOOL_ARGUMENTS).sort()).toEqual(tools.sort())
})

const ONE_LINE: Readonly<Record<string, (world: Guarded) => Promise<Prober>>> = {
  'a key of one line': (world) => world.prober({ phone_line_ids: [world.first] }),
  'a key of a site that the other line has left': (world) => world.proberOfSite(),
}

for (const [who, open] of Object.entries(ONE_LINE)) {
  test(`${who} learns nothing of another one, and changes nothing of it, by any operation`, async () => {
    await using world = await startGuarded()
    const prober = await open(world)
    const before = await world.secrets()

    for (const [id, { calls, ofLine }] of Object.entries(ATTEMPTS)) {
      const answers = []
      for (const call of calls(world, prober)) answers.push(await tried(world, prober, call))

      const statuses = answers.map(({ status }) => status)
      expect([id, statuses]).toEqual([id, [...ofLine]])
      expect([id, answers.flatMap(({ told }) => told)]).toEqual([id, []])
      expect([id, await world.secrets()]).toEqual([id, before])
    }
    await world.clock.advance(HOUR_MS)
    const posted = world.sink.to('https://key.example/hook').map(({ body }) => body)

    expect(posted.filter((body) => world.marks.some((mark) => body.includes(mark)))).toEqual([])
    expect(posted.some((body) => body.includes('apples'))).toBe(true)
  })

  test(`${who} learns nothing of another one by any tool or resource of the MCP server`, async () => {
    await using world = await startGuarded()
    const prober = await open(world)
    const before = await world.secrets()

    const uris = [`conversations/${world.conversation}`, `attachments/${world.foreignFile}`]
    const resources = uris.map((path) => request('resources/read', { uri: `hookline://${path}` }))
    const calls = [...toolCalls(world), ...resources, request('resources/list', {})]

    for (const call of calls) {
      const { status, told } = await tried(world, prober, call)
      expect([call.body, status, told]).toEqual([call.body, 200, []])
    }

    expect(await world.secrets()).toBe(before)
    expect(await world.recipientsOf(OWN_WORDS)).toEqual([])
  })
}

const ONE_CONVERSATION: Readonly<Record<string, (world: Guarded) => Promise<Prober>>> = {
  'a key of one conversation': (world) =>
    world.prober({ conversation_ids: [world.ownConversation] }),
  'a key of one conversation and its line': (world) =>
    world.prober({ conversation_ids: [world.ownConversation], phone_line_ids: [world.first] }),
  'a call that its key limits to one conversation': async (world) => {
    const { headers } = await world.prober({})
    return proberOf({ headers: { ...headers, 'x-hookline-conversation': world.ownConversation } })
  },
}

for (const [who, open] of Object.entries(ONE_CONVERSATION)) {
  test(`${who} learns nothing of another, and changes nothing of it, by any operation or tool`, async () => {
    await using world = await startGuarded()
    const prober = await open(world)
    const before = await world.secrets()

    for (const [id, { calls }] of Object.entries(ATTEMPTS)) {
      if (id === 'getOwnKey') continue
      const answers = []
      for (const call of calls(world, prober)) answers.push(await tried(world, prober, call))

      const wanted = OF_CONVERSATION[id] ?? answers.map(() => 403)
      expect([id, answers.map(({ status }) => status)]).toEqual([id, [...wanted]])
      expect([id, answers.flatMap(({ told }) => told)]).toEqual([id, []])
      expect([id, await world.secrets()]).toEqual([id, before])
    }
    for (const path of [`conversations/${world.conversation}`, `attachments/${world.foreignFile}`])
      await expectNothing(world, prober, request('resources/read', { uri: `hookline://${path}` }))
    for (const call of toolCalls(world)) await expectNothing(world, prober, call)

    expect(await world.secrets()).toBe(before)
    expect(await world.recipientsOf(OWN_WORDS)).toEqual([])
  })
}

async function expectNothing(world: Guarded, prober: Prober, call: Call): Promise<void> {
  const { told } = await tried(world, prober, call)
  expect([call.body, told]).toEqual([call.body, []])
}

const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'a slash at its end': (path) => path.replace(/\?|$/, '/$&'),
  'a folder of its own': (path) => path.replace('/v1/', '/v1/%2e/'),
  'two slashes': (path) => path.replace('/v1/', '/v1//'),
  'an encoded letter': (path) => path.replace('/v1/', '/%761/'),
  'an encoded id': (path) => path.replaceAll(/_(?=[0-9a-z]{26})/g, '%5f'),
  'an id in upper case': (path) =>
    path.replaceAll(/[a-z]+_[0-9a-z]{26}/g, (id) => id.toUpperCase()),
}

test('nor by any spelling of a path', async () => {
  await using world = await startGuarded()
  const prober = await world.prober({ phone_line_ids: [world.first] })
  const before = await world.secrets()
  const calls = Object.values(ATTEMPTS).flatMap(({ calls, ofLine }) =>
    calls(world, prober).map((call, index) => ({ call, isRefused: (ofLine[index] ?? 0) >= 400 })),
  )

  const open: string[] = []
  for (const [how, spelled] of Object.entries(SPELLINGS)) {
    for (const { call, isRefused } of calls) {
      const { status, told } = await tried(world, prober, { ...call, path: spelled(call.path) })
      const isOpen = (isRefused && status < 400) || told.length > 0
      if (isOpen) open.push(`${call.method} ${call.path} by ${how}`)
    }
  }

  expect(open).toEqual([])
  expect(await world.secrets()).toBe(before)
})

test('a key of every line learns of the other one by the same attempts', async () => {
  await using world = await startGuarded()
  const prober = await world.prober({})
  const silent: string[] = []

  for (const [id, { calls }] of Object.entries(ATTEMPTS)) {
    const reads = calls(world, prober).filter(({ method }) => method === 'GET')
    const told = []
    for (const call of reads) told.push(...(await tried(world, prober, call)).told)
    if (reads.length > 0 && told.length === 0) silent.push(id)
  }

  expect(silent).toEqual(SAY_NOTHING_OF_LINES)
})

/** Reads that have nothing of the second line in this world. */
const SAY_NOTHING_OF_LINES = [
  'listBridges',
  'listSites',
  'getSite',
  'getReplay',
  'getOwnKey',
  'listHealthFindings',
  'getLiveness',
  'getReadiness',
]

type Rule = {
  readonly rules: object
  /** Those of the recipients of the key's own words that the rule forbids. */
  readonly beyond: (recipients: readonly string[]) => readonly string[]
}

const unlike = (allowed: string) => (recipients: readonly string[]) =>
  recipients.filter((each) => each !== allowed)
const strangers = (recipients: readonly string[]) => recipients.filter((each) => each === STRANGER)
const all = (recipients: readonly string[]) => recipients

const RULES: Readonly<Record<string, Rule>> = {
  'a list of recipients': { rules: { recipients: 'list', allow: [ANNA] }, beyond: unlike(ANNA) },
  'recipients that are known': { rules: { recipients: 'known' }, beyond: strangers },
  'recipients that replied': { rules: { recipients: 'replied_within_24h' }, beyond: strangers },
  'approval of everything': { rules: { approval: 'always' }, beyond: all },
  'approval of new contacts': { rules: { approval: 'new_contacts' }, beyond: strangers },
  'sends in an hour': { rules: { sends_per_hour: 1 }, beyond: (sent) => sent.slice(1) },
  'sends in a day': { rules: { sends_per_day: 1 }, beyond: (sent) => sent.slice(1) },
  'quiet hours': { rules: { quiet_hours: { from: '00:01', to: '23:59' } }, beyond: all },
}

for (const [limit, { rules, beyond }] of Object.entries(RULES)) {
  test(`a key limited to ${limit} sends nothing beyond it, whatever it tries before`, async () => {
    await using world = await startGuarded()

    await tryAll(world, await world.prober({ rules }))

    expect(beyond(await world.recipientsOf(OWN_WORDS))).toEqual([])
  })
}

test('a key without a limit sends beyond each of them by the same attempts', async () => {
  await using world = await startGuarded()

  await tryAll(world, await world.prober({}))
  const recipients = await world.recipientsOf(OWN_WORDS)

  const held = Object.entries(RULES).filter(([, { beyond }]) => beyond(recipients).length === 0)
  expect(held.map(([limit]) => limit)).toEqual([])
})

test('without its scope, no attempt of an operation does anything', async () => {
  await using world = await startGuarded()
  const before = await world.secrets()
  const scopeOf = await scopes()

  for (const scope of SCOPES) {
    const prober = await world.prober({ scopes: SCOPES.filter((other) => other !== scope) })
    const ids = Object.keys(ATTEMPTS).filter((id) => scopeOf.get(id) === scope)
    for (const id of ids) {
      for (const call of ATTEMPTS[id]?.calls(world, prober) ?? []) {
        const { status, text } = await world.ask(call, prober)
        expect([id, status, text.includes(`"required_scope":"${scope}"`)]).toEqual([id, 403, true])
      }
    }
  }

  expect(await world.secrets()).toBe(before)
})

test('after its end a key gets no operation and no tool', async () => {
  await using world = await startGuarded()
  const expires_at = new Date(TEST_START + HOUR_MS).toISOString()
  const prober = await world.prober({ expires_at })
  const scopeOf = await scopes()
  const [tool] = toolCalls(world)

  await world.clock.advance(HOUR_MS)
  const before = await world.secrets()
  const statuses = []
  for (const [id, { calls }] of Object.entries(ATTEMPTS)) {
    if (scopeOf.get(id) === undefined) continue
    for (const call of calls(world, prober)) statuses.push((await world.ask(call, prober)).status)
  }
  if (tool !== undefined) statuses.push((await world.ask(tool, prober)).status)

  expect(new Set(statuses)).toEqual(new Set([401]))
  expect(await world.secrets()).toBe(before)
})

/** The answer, and which marks of the other line it has that the request did not bring. */
async function tried(world: Guarded, prober: Prober, call: Call) {
  const { status, text } = await world.ask(call, prober)
  const asked = decodeURIComponent(JSON.stringify(call))
  return {
    status,
    told: world.marks.filter((mark) => text.includes(mark) && !asked.includes(mark)),
  }
}

/** Tries every change twice, with what the first round has brought, then sends with each key that could be made. */
async function tryAll(world: Guarded, prober: Prober): Promise<void> {
  const children: Prober[] = []
  for (const [id, { calls }] of [...Object.entries(ATTEMPTS), ...Object.entries(ATTEMPTS)]) {
    for (const call of calls(world, prober).filter(({ method }) => method !== 'GET')) {
      const answer = await world.ask(call, prober)
      learn(id, answer, prober)
      if (id === 'createKey' && answer.status === 201) children.push(childOf(answer))
    }
  }
  for (const call of toolCalls(world)) await world.ask(call, prober)
  for (const child of children) {
    for (const id of ['sendMessage', 'sendInConversation', 'approveMessage']) {
      for (const call of ATTEMPTS[id]?.calls(world, prober) ?? []) await world.ask(call, child)
    }
  }
  await world.clock.advance(HOUR_MS)
}

function learn(id: string, { status, text }: Answered, prober: Prober): void {
  if (status >= 300) return
  const body = (): Readonly<Record<string, string>> => JSON.parse(text)
  if (id === 'sendMessage' || id === 'sendInConversation') prober.messageId = body()['id'] ?? ''
  if (id === 'createBridge') prober.bridgeToken = body()['token'] ?? null
}

function childOf({ text }: Answered): Prober {
  const { key = '', secret = '' }: Readonly<Record<string, string>> = JSON.parse(text)
  return proberOf({ headers: { 'X-API-Key': key, 'X-API-Secret': secret } })
}

function toolCalls(world: Guarded): readonly Call[] {
  return Object.entries(TOOL_ARGUMENTS).map(([name, argumentsFor]) =>
    request('tools/call', { name, arguments: argumentsFor(world) }),
  )
}

/** Of each request of the MCP server another one: a repeated id is the same call again. */
let requestId = 0

function request(method: string, params: object): Call {
  requestId += 1
  const body = { jsonrpc: '2.0', id: requestId, method, params }
  const headers = { accept: 'application/json, text/event-stream', 'mcp-session-id': 'session' }
  return { method: 'POST', path: '/mcp', body, headers }
}
