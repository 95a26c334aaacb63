// Every operation that changes something, asked for in each way that has it: one entry of the trail each,
// one line of the log, and no secret in either. The operations are those of the real routes, so that a new
// one is to be added here. Commands without a relay, restores and upgrades are in `test/storage/audit.test.ts`.

import { afterAll, expect, test } from 'bun:test'

import { dashboardRoutes, ownersRoutes, publicRoutes } from '../../src/http/routes.ts'
import { NO_RELAY } from '../http/http-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'
import { KNOWN_SECRETS, LAST_ACTIONS, RECORDED, webhook } from './audit-cases.ts'
import { ADDRESS, openStage, type Stage } from './audit-stage.ts'

/** Operations that change nothing that lasts, or whose result is listed elsewhere with its maker. */
const UNRECORDED = [
  'POST /api/v1/messages/send',
  'POST /api/v1/conversations/:id/messages',
  'POST /api/v1/attachments',
  'PUT /api/v1/contacts/:handle',
  'DELETE /api/v1/contacts/:handle',
  'POST /api/v1/contacts/import',
  'PATCH /api/v1/conversations/:id',
  'POST /api/v1/conversations/:id/read',
  'POST /api/v1/webhooks/:id/test',
  'POST /test-inbox/:token',
  'POST /api/v1/webhook-deliveries/:id/redeliver',
  'POST /api/v1/judgement',
  'PUT /dashboard/setup-step',
  // The secret counts only once a code confirms it.
  'POST /dashboard/second-factor',
  'POST /api/v1/update-check',
  // The restore itself is recorded, in the data that came back.
  'POST /dashboard/restore',
  'POST /dashboard/restore/start',
  'DELETE /dashboard/restore',
  // The download itself is recorded.
  'POST /dashboard/downloads',
  'POST /bridge/v1/receive',
  'POST /bridge/v1/next',
  'POST /bridge/v1/done',
  // Its calls are those of the API.
  'POST /mcp',
]

const TAKES_ALL_AWAY = ['/api/v1/backups/:name', '/dashboard/downloads/:ticket']
const ROUTES = {
  key: changingRoutes(publicRoutes(...NO_RELAY)),
  dashboard: changingRoutes(dashboardRoutes(...NO_RELAY)),
  control: changingRoutes(ownersRoutes(...NO_RELAY)),
}

test('every operation of every way in either leaves an entry or is known not to', () => {
  const all = new Set(Object.values(ROUTES).flat())

  expect([...all].toSorted()).toEqual([...Object.keys(RECORDED), ...UNRECORDED].toSorted())
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

for (const [way, routes] of Object.entries(ROUTES)) {
  for (const route of routes.filter((name) => !UNRECORDED.includes(name))) {
    test(`${way}: ${route} leaves one entry and one line in the log`, async () => {
      const isLast = LAST_ACTIONS.some((action) => action === RECORDED[route]?.action)
      const stage = await (isLast ? newStage() : sharedStage(way))
      const { action, changes, method, path, body } = await prepare(stage, route)
      const ask = await stage.way(way)
      const before = stage.entries().length
      stage.lines.length = 0

      const answer = await ask(method, path, body)

      const entries = stage.entries()
      const [entry] = entries
      expect([answer.status < 300, entries.length - before]).toEqual([true, 1])
      expect(entry).toMatchObject({
        action,
        actor: stage.actor(way),
        address: way === 'control' ? null : ADDRESS,
        request_id: answer.requestId,
        count: 1,
        ...changes,
      })
      const logged = stage.lines.filter(([, message]) => message === 'audit')
      const actor = entry?.actor.id ?? entry?.actor.kind
      const said = { action, actor, address: entry?.address, request_id: answer.requestId }
      expect(logged).toMatchObject([['info', 'audit', said]])
      const told = JSON.stringify([entries, stage.lines])
      const secrets = [...KNOWN_SECRETS, ...stage.secrets, ...secretsIn(answer.body, body)]
      expect(secrets.filter((secret) => told.includes(secret))).toEqual([])
    })
  }
}

test('a wrong password is in the trail with its address, and is told as wrong on a full disk too', async () => {
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

async function prepare(stage: Stage, route: string) {
  const { action, set, changes = {} } = RECORDED[route] ?? {}
  const { path = '', body } = (await set?.(stage)) ?? {}
  const [method = '', pattern = ''] = route.split(' ')
  return { action, changes, method, path: pattern.replace(/:[a-z]+/, path), body }
}

/** What an answer tells this once, and what a setup link carries. */
function secretsIn(answer: Json, asked: Json): readonly string[] {
  const { url = '' } = answer?.link ?? answer ?? {}
  const link = String(url).split('/#/setup/')[1]?.slice(0, 43)
  return [answer?.secret, answer?.key, answer?.token, asked?.token, link].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
}

type Routes = { readonly routes: readonly { readonly method: string; readonly path: string }[] }

/** Those that change something, and those that read a whole back-up. */
function changingRoutes({ routes }: Routes): readonly string[] {
  return routes
    .filter(({ method, path }) => method !== 'GET' || TAKES_ALL_AWAY.includes(path))
    .map(({ method, path }) => `${method} ${path.replace(/\/$/, '')}`)
}
