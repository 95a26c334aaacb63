// Every operation of the table, called so that it succeeds. One with an audit action leaves one entry of the trail
// in each way that has it, one line of the log, and no secret in either; any other leaves none. Commands without a
// relay, restores and upgrades are in `test/storage/audit.test.ts`.

import { afterAll, expect, test } from 'bun:test'

import { routeOf, type Callers, type Operation } from '../../src/api/operation.ts'
import { OPERATIONS, type OperationId } from '../../src/api/operations.ts'
import { dashboardRoutes, ownersRoutes, publicRoutes } from '../../src/http/routes.ts'
import { NO_RELAY } from '../http/http-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'
import { AUDITED, KNOWN_SECRETS, webhook, type Given } from './audit-cases.ts'
import { ADDRESS, openStage, type Stage } from './audit-stage.ts'
import { ELSEWHERE, givenTo } from './unaudited-cases.ts'

/** Changes that aren't operations of the table: both lead to calls that are. */
const OTHER_CHANGES = ['POST /mcp', 'POST /test-inbox/:token']

/** The ways in which an operation is called, by its callers. */
const WAYS: Readonly<Record<Callers, readonly string[]>> = {
  keys: ['key', 'dashboard', 'control'],
  owner: ['dashboard', 'control'],
  browsers: ['dashboard'],
  control: ['control'],
  bridges: ['bridge'],
  everyone: ['anybody'],
}

const ALL = Object.values(OPERATIONS).map((operation: Operation) => operation)

test('every route that changes something is an operation of the table', () => {
  const apps = [publicRoutes, dashboardRoutes, ownersRoutes].map((routes) => routes(...NO_RELAY))
  const all = apps.flatMap(({ routes }) => routes.filter(({ method }) => method !== 'GET'))
  const known = new Set(ALL.map(routeOf).map(({ method, path }) => `${method} ${path}`))

  const others = new Set(all.map(({ method, path }) => `${method} ${path}`)).difference(known)

  expect([...others].toSorted()).toEqual(OTHER_CHANGES)
})

const folder = new ScratchFolder()
const stages: Promise<Stage>[] = []
const shared = new Map<string, Promise<Stage>>()

afterAll(async () => {
  for (const stage of stages) await (await stage)[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function newStage(): Promise<Stage> {
  const stage = openStage(folder.file(`${stages.length}`))
  stages.push(stage)
  return stage
}

/** The relay of all operations that are asked for in this way. */
function sharedStage(way: string): Promise<Stage> {
  const stage = shared.get(way) ?? newStage()
  shared.set(way, stage)
  return stage
}

for (const operation of ALL.filter(({ audit }) => audit !== null)) {
  const { set, changes = {}, isLast } = AUDITED[operation.id as OperationId] ?? {}
  for (const way of WAYS[operation.callers]) {
    test(`${way}: ${operation.id} leaves one entry and one line in the log`, async () => {
      const stage = await (isLast === true ? newStage() : sharedStage(way))
      const given = (await set?.(stage)) ?? {}
      const ask = await stage.way(way)
      const before = stage.entries().length
      stage.lines.length = 0

      const answer = await ask(...callOf(operation, given))

      const entries = stage.entries()
      const [entry] = entries
      expect([answer.status < 300, entries.length - before]).toEqual([true, 1])
      expect(entry).toMatchObject({
        action: operation.audit,
        actor: stage.actor(way),
        address: way === 'control' ? null : ADDRESS,
        request_id: answer.requestId,
        count: 1,
        ...changes,
      })
      const logged = stage.lines.filter(([, message]) => message === 'audit')
      const actor = entry?.actor.id ?? entry?.actor.kind
      const { address } = entry ?? {}
      const said = { action: operation.audit, actor, address, request_id: answer.requestId }
      expect(logged).toMatchObject([['info', 'audit', said]])
      const told = JSON.stringify([entries, stage.lines])
      const secrets = [...KNOWN_SECRETS, ...stage.secrets, ...secretsIn(answer.body, given.body)]
      expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
    })
  }
}

for (const operation of ALL.filter(({ audit }) => audit === null)) {
  const id = operation.id as OperationId
  if (ELSEWHERE.includes(id)) continue
  test(`${id} succeeds, and leaves no entry`, async () => {
    const [way = ''] = WAYS[operation.callers]
    const stage = await sharedStage(`${way}, without entries`)
    const given = await givenTo(id, operation.route.split(' ')[1] ?? '', stage)
    const ask = await stage.way(way)
    const before = stage.entries().length

    const { status } = await ask(...callOf(operation, given))

    expect([status < 300, stage.entries().length - before]).toEqual([true, 0])
  })
}

test('a wrong password is in the trail with its address, and is answered as wrong on a full disk too', async () => {
  const stage = await newStage()
  const stranger = stage.relay.browser({ headers: { 'x-forwarded-for': '198.51.100.7' } })

  const wrong = await stranger.post('/dashboard/session', { password: 'guess s3cret' })
  const [entry] = stage.entries()
  stage.relay.fillDisk()
  const full = await stranger.post('/dashboard/session', { password: 'guess s3cret' })
  stage.relay.freeDisk()

  expect([wrong, full].map(({ status, body }) => [status, body.error.code])).toEqual([
    [401, 'wrong_password'],
    [401, 'wrong_password'],
  ])
  expect(entry).toMatchObject({
    action: 'password.refused',
    actor: { kind: 'dashboard', id: null },
    address: '198.51.100.7',
    request_id: wrong.headers.get('x-request-id'),
  })
  expect(JSON.stringify([stage.entries(), stage.lines])).not.toContain('guess s3cret')
})

test('a replay that only counts leaves no entry', async () => {
  const stage = await sharedStage('control')
  const path = `/api/v1/webhooks/${await webhook(stage)}/replay`
  const before = stage.entries()

  const counted = await stage.owner('POST', path, { since: '2026-11-21T10:00:00Z', dry_run: true })

  expect([counted.status, stage.entries()]).toEqual([200, before])
})

test('the trail is a list like the others, for every key', async () => {
  const stage = await sharedStage('control')
  const ask = async (query: string) =>
    (await stage.relay.request('GET', `/api/v1/audit${query}`)).body
  for (const name of ['a', 'b', 'c']) await stage.owner('POST', '/api/v1/keys', { name })

  const first = await ask('?limit=2&action=key.created')
  const next = await ask(`?limit=2&action=key.created&cursor=${first.next_cursor}`)
  const wrong = await ask('?cursor=wrong')
  const unknown = await ask('?action=key.lost')

  const names = (page: Json) => page.data.map(({ after }: Json) => after.name)
  expect([names(first), first.has_more, names(next).slice(0, 1)]).toEqual([['c', 'b'], true, ['a']])
  expect([wrong.error.code, unknown.error.code]).toEqual(['invalid_request', 'invalid_request'])
})

/** What the ways take. */
function callOf(
  operation: Operation,
  { path = '', entry = '', query = '', body }: Given,
): [method: string, path: string, body: unknown] {
  const route = routeOf(operation)
  const filled = route.path.replace(/:[a-z]+/, path).replace(':entry', entry)
  return [route.method, filled + query, body]
}

/** What an answer shows only once, and what a setup link carries. */
function secretsIn(answer: Json, asked: Json): readonly string[] {
  const { url = '' } = answer?.link ?? answer ?? {}
  const link = String(url).split('/#/setup/')[1]?.slice(0, 43)
  return [answer?.secret, answer?.key, answer?.token, asked?.token, link].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
}
