// Every operation that changes something, asked for in each way that has it: one entry of the trail each,
// one line of the log, and no secret in either. The operations are those of the real routes, so that a new
// one is to be added here. Commands without a relay, restores and upgrades are in `test/storage/audit.test.ts`.

import { expect, test } from 'bun:test'

import { dashboardRoutes, ownersRoutes, publicRoutes } from '../../src/http/routes.ts'
import { PASSWORD } from '../http/dashboard-rig.ts'
import { NO_TOOLS } from '../http/http-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'
import { OF_BOXES, type Case } from './audit-boxes.ts'
import { ADDRESS, BACKUP, HELD_BY, openStage, type Stage } from './audit-stage.ts'

const HOOK = 'https://hooks.example/services/T0/path-s3cret?key=query-s3cret'
const MONITOR = 'https://monitor.example/ping/monitor-s3cret'
const NEW_PASSWORD = 'battery staple and more'
const EVENTS = ['message.sent']
const ANNA = '+12025550701'

/** What is told of a change must not hold these. */
const KNOWN_SECRETS = ['path-s3cret', 'query-s3cret', 'monitor-s3cret', PASSWORD, NEW_PASSWORD]

const webhook = async ({ owner }: Stage): Promise<string> => {
  const { body } = await owner('POST', '/api/v1/webhooks', { url: HOOK, events: EVENTS })
  return body.id
}
const bridge = async ({ owner }: Stage): Promise<string> => {
  bridges += 1
  const phone_number = `+1202555${4000 + bridges}`
  return (await owner('POST', '/api/v1/bridges', { phone_number })).body.id
}
let bridges = 0

const member = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/members', { name: 'Anna' })).body.id

const upload = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/attachments?filename=menu.txt', 'soup')).body.id

/** Every operation that leaves an entry. */
const RECORDED: Readonly<Record<string, Case>> = {
  'POST /api/v1/keys': {
    action: 'key.created',
    set: async () => ({ body: { name: 'shop' } }),
    changes: { before: null, after: { name: 'shop' } },
  },
  'DELETE /api/v1/keys/:id': {
    action: 'key.revoked',
    set: async ({ owner }) => ({ path: (await owner('POST', '/api/v1/keys', {})).body.id }),
  },
  'DELETE /api/v1/attachments/:id': {
    action: 'attachment.deleted',
    set: async (stage) => ({ path: await upload(stage) }),
  },
  'POST /api/v1/attachments/:id/link': {
    action: 'attachment.linked',
    set: async (stage) => ({ path: await upload(stage), body: {} }),
    changes: { after: { expires_at: expect.any(String) } },
  },
  'POST /api/v1/bridges': {
    action: 'bridge.created',
    set: async () => {
      bridges += 1
      return { body: { phone_number: `+1202555${4000 + bridges}`, label: 'Shop' } }
    },
  },
  'POST /api/v1/bridges/:id/token': {
    action: 'bridge.token_renewed',
    set: async (stage) => ({ path: await bridge(stage) }),
  },
  'DELETE /api/v1/bridges/:id': {
    action: 'bridge.removed',
    set: async (stage) => ({ path: await bridge(stage) }),
  },
  'POST /api/v1/webhooks': {
    action: 'webhook.created',
    set: async () => ({ body: { url: HOOK, events: EVENTS } }),
  },
  'PUT /api/v1/webhooks/:id': {
    action: 'webhook.changed',
    set: async (stage) => ({
      path: await webhook(stage),
      body: { url: 'https://thief.example/', is_active: true },
    }),
    changes: {
      before: {
        url: expect.stringMatching(/^https:\/\/hooks\.example\/… \(SHA-256 [0-9a-f]{12}\)$/),
      },
      after: { url: 'https://thief.example' },
    },
  },
  'DELETE /api/v1/webhooks/:id': {
    action: 'webhook.deleted',
    set: async (stage) => ({ path: await webhook(stage) }),
  },
  'POST /api/v1/webhooks/:id/rotate-secret': {
    action: 'webhook.secret_rotated',
    set: async (stage) => ({ path: await webhook(stage) }),
    changes: { before: null, after: null },
  },
  'POST /api/v1/webhooks/:id/replay': {
    action: 'webhook.replayed',
    set: async (stage) => {
      const path = await webhook(stage)
      await stage.message('sent')
      return { path, body: { since: '2026-11-21T10:00:00Z' } }
    },
    changes: { before: null, after: { since: '2026-11-21T10:00:00.000Z', include_earlier: false } },
  },
  'POST /api/v1/webhooks/:id/retry-failed': {
    action: 'webhook.retried',
    set: async (stage) => ({ path: await webhook(stage), body: { events: EVENTS } }),
    changes: { before: null, after: { events: EVENTS, phone_line_id: null } },
  },
  'DELETE /api/v1/webhooks/:id/replay': {
    action: 'webhook.replay_stopped',
    set: async (stage) => ({ path: await webhook(stage) }),
  },
  'PATCH /api/v1/phone-lines/:id': {
    action: 'line.changed',
    set: async (stage) => ({
      path: await stage.line(),
      body: { label: `Desk ${stage.next()}`, is_enabled: true },
    }),
  },
  'DELETE /api/v1/phone-lines/:id': {
    action: 'line.deleted',
    set: async (stage) => ({ path: await stage.vanishedLine() }),
  },
  ...OF_BOXES,
  'POST /api/v1/phone-lines/:id/adopt': {
    action: 'line.adopted',
    set: async (stage) => {
      const path = await stage.vanishedLine()
      return { path, body: { from: await stage.line() } }
    },
  },
  'PUT /api/v1/settings/:name': {
    action: 'setting.changed',
    set: async ({ owner }) => {
      await owner('PUT', '/api/v1/settings/heartbeat_url', { value: 'none' })
      return { path: 'heartbeat_url', body: { value: MONITOR } }
    },
    changes: {
      before: { value: 'none' },
      after: { value: expect.stringMatching(/^https:\/\/monitor\.example\/… \(SHA-256 /) },
    },
  },
  'PUT /api/v1/snoozes': {
    action: 'finding.snoozed',
    set: async (stage) => ({
      body: {
        code: 'line_offline',
        about: { kind: 'line', id: await stage.vanishedLine() },
        until: new Date(stage.relay.clock.now() + 3_600_000).toISOString(),
      },
    }),
    changes: { before: { until: null }, after: { until: expect.any(String) } },
  },
  'POST /api/v1/messages/:id/resolve': {
    action: 'message.resolved',
    set: async (stage) => ({ path: await stage.message('uncertain'), body: { status: 'failed' } }),
    changes: { before: { status: 'uncertain' }, after: { status: 'failed' } },
  },
  'DELETE /api/v1/messages/:id': {
    action: 'message.canceled',
    set: async (stage) => ({ path: await stage.message('queued') }),
  },
  'POST /api/v1/messages/:id/approve': {
    action: 'message.approved',
    set: async (stage) => ({ path: await stage.message('held'), body: { text: 'bye' } }),
    changes: { after: { requested_by: HELD_BY, is_text_changed: true } },
  },
  'POST /api/v1/messages/:id/deny': {
    action: 'message.denied',
    set: async (stage) => ({ path: await stage.message('held'), body: { reason: 'too late' } }),
    changes: { after: { requested_by: HELD_BY, reason: 'too late' } },
  },
  'POST /api/v1/backup': { action: 'backup.created', set: async () => ({ body: {} }) },
  'GET /api/v1/backups/:name': {
    action: 'backup.downloaded',
    set: async () => ({ path: BACKUP }),
  },
  'GET /dashboard/downloads/:ticket': {
    action: 'backup.downloaded',
    set: async ({ browser }) => {
      const { body } = await browser.post('/dashboard/downloads', { backup: BACKUP })
      return { path: String(body.url).split('/').at(-1) ?? '' }
    },
  },
  'PUT /api/v1/opt-outs/:handle': {
    action: 'opt_out.added',
    set: async () => ({ path: ANNA, body: {} }),
    changes: { before: null, after: { handle: ANNA, phone_line_id: null } },
  },
  'DELETE /api/v1/opt-outs/:handle': {
    action: 'opt_out.removed',
    set: async ({ owner }) => {
      await owner('PUT', `/api/v1/opt-outs/${ANNA}`, {})
      return { path: ANNA }
    },
    changes: { before: { handle: ANNA, phone_line_id: null, keyword: null }, after: null },
  },
  'POST /api/v1/setup-link': { action: 'setup_link.created', set: async () => ({ body: {} }) },
  'POST /api/v1/members': {
    action: 'member.created',
    set: async () => ({ body: { name: 'Anna' } }),
    changes: { before: null, after: { name: 'Anna' } },
  },
  'POST /api/v1/members/:id/link': {
    action: 'member.link_created',
    set: async (stage) => ({ path: await member(stage), body: {} }),
  },
  'DELETE /api/v1/members/:id': {
    action: 'member.removed',
    set: async (stage) => ({ path: await member(stage) }),
    changes: { before: { name: 'Anna' }, after: null },
  },
  'POST /dashboard/setup': {
    action: 'password.set',
    set: async ({ relay }) => ({ body: { token: await relay.token(), password: PASSWORD } }),
    changes: { before: null, after: { by: 'setup_link' } },
  },
  'POST /dashboard/session': {
    action: 'session.created',
    set: async () => ({ body: { password: PASSWORD } }),
  },
  'POST /dashboard/session/elevate': {
    action: 'session.elevated',
    set: async () => ({ body: { password: PASSWORD } }),
  },
  'POST /dashboard/password': {
    action: 'password.changed',
    set: async () => ({ body: { current: PASSWORD, password: NEW_PASSWORD } }),
  },
  'DELETE /dashboard/session': { action: 'session.ended' },
  'DELETE /dashboard/sessions': { action: 'session.ended' },
}

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
  key: changingRoutes(publicRoutes(NO_TOOLS, AbortSignal.abort())),
  dashboard: changingRoutes(dashboardRoutes(NO_TOOLS, AbortSignal.abort())),
  control: changingRoutes(ownersRoutes(NO_TOOLS, AbortSignal.abort())),
}

test('every operation of every way in either leaves an entry or is known not to', () => {
  const all = new Set(Object.values(ROUTES).flat())

  expect([...all].toSorted()).toEqual([...Object.keys(RECORDED), ...UNRECORDED].toSorted())
})

for (const [way, routes] of Object.entries(ROUTES)) {
  for (const route of routes.filter((name) => !UNRECORDED.includes(name))) {
    test(`${way}: ${route} leaves one entry and one line in the log`, async () => {
      using folder = new ScratchFolder()
      await using stage = await openStage(folder.path)
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
  using folder = new ScratchFolder()
  await using stage = await openStage(folder.path)
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
  using folder = new ScratchFolder()
  await using stage = await openStage(folder.path)
  const path = `/api/v1/webhooks/${await webhook(stage)}/replay`
  const before = stage.entries()

  const counted = await stage.owner('POST', path, { since: '2026-11-21T10:00:00Z', dry_run: true })

  expect([counted.status, stage.entries()]).toEqual([200, before])
})

test('the trail is a list like the others, for every key', async () => {
  using folder = new ScratchFolder()
  await using stage = await openStage(folder.path)
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
