// The operations that leave an entry in the trail, each with what must be there first.

import { expect } from 'bun:test'

import { Secret, TOTP } from 'otpauth'

import type { AuditEntry } from '../../src/api/audit.ts'
import { PASSWORD } from '../http/dashboard-rig.ts'
import { BACKUP, HELD_BY, type Stage } from './audit-stage.ts'

const HOOK = 'https://hooks.example/services/T0/path-s3cret?key=query-s3cret'
const MONITOR = 'https://monitor.example/ping/monitor-s3cret'
const NEW_PASSWORD = 'battery staple and more'
const EVENTS = ['message.sent']
const ANNA = '+12025550701'
const OPT_OUT = { kind: 'opt_out', id: null } as const

/** What is told of a change must not hold these. */
export const KNOWN_SECRETS = [
  'path-s3cret',
  'query-s3cret',
  'monitor-s3cret',
  PASSWORD,
  NEW_PASSWORD,
]

type Call = { readonly path?: string; readonly body?: unknown }
type Case = {
  readonly action: AuditEntry['action']
  /** What must be there first; gives the rest of the call. */
  readonly set?: (stage: Stage) => Promise<Call>
  readonly changes?: Pick<Partial<AuditEntry>, 'before' | 'after' | 'about'>
}

/** Actions after which nothing else can be tried on the same relay. */
export const LAST_ACTIONS: readonly AuditEntry['action'][] = [
  'line.adopted',
  'line.deleted',
  'line.moved',
  'finding.snoozed',
  'rollout.started',
  'rollout.resumed',
  'rollout.canceled',
  'password.set',
  'password.changed',
  'session.ended',
  'second_factor.added',
  'second_factor.removed',
]

export const webhook = async ({ owner }: Stage): Promise<string> => {
  const { body } = await owner('POST', '/api/v1/webhooks', { url: HOOK, events: EVENTS })
  return body.id
}
let bridges = 0
const newBridge = () => ({ phone_number: `+1202555${4000 + (bridges += 1)}` })

const bridge = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/bridges', newBridge())).body.id

const member = async ({ owner, next }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/members', { name: `Anna ${next()}` })).body.id

const upload = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/attachments?filename=menu.txt', 'soup')).body.id

/** Asks with this body. */
const asks = (body: unknown) => async () => ({ body })

/** Asks for the thing that `make` gives the id of. */
const on = (make: (stage: Stage) => Promise<string>, body?: unknown) => async (stage: Stage) => ({
  path: await make(stage),
  body,
})

const onMessage = (status: Parameters<Stage['message']>[0], body?: unknown) =>
  on((stage) => stage.message(status), body)

/** Every operation that leaves an entry. */
export const RECORDED: Readonly<Record<string, Case>> = {
  'POST /api/v1/keys': {
    action: 'key.created',
    set: asks({ name: 'shop' }),
    changes: { before: null, after: { name: 'shop' } },
  },
  'DELETE /api/v1/keys/:id': {
    action: 'key.revoked',
    set: on(async ({ owner }) => (await owner('POST', '/api/v1/keys', {})).body.id),
  },
  'DELETE /api/v1/attachments/:id': { action: 'attachment.deleted', set: on(upload) },
  'POST /api/v1/attachments/:id/link': {
    action: 'attachment.linked',
    set: on(upload, {}),
    changes: { after: { expires_at: expect.any(String) } },
  },
  'POST /api/v1/bridges': {
    action: 'bridge.created',
    set: async () => ({ body: newBridge() }),
  },
  'POST /api/v1/bridges/:id/token': { action: 'bridge.token_renewed', set: on(bridge) },
  'DELETE /api/v1/bridges/:id': { action: 'bridge.removed', set: on(bridge) },
  'POST /api/v1/webhooks': { action: 'webhook.created', set: asks({ url: HOOK, events: EVENTS }) },
  'PUT /api/v1/webhooks/:id': {
    action: 'webhook.changed',
    set: on(webhook, { url: 'https://thief.example/', is_active: true }),
    changes: {
      before: {
        url: expect.stringMatching(/^https:\/\/hooks\.example\/… \(SHA-256 [0-9a-f]{12}\)$/),
      },
      after: { url: 'https://thief.example' },
    },
  },
  'DELETE /api/v1/webhooks/:id': { action: 'webhook.deleted', set: on(webhook) },
  'POST /api/v1/webhooks/:id/rotate-secret': {
    action: 'webhook.secret_rotated',
    set: on(webhook),
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
    set: on(webhook, { events: EVENTS }),
    changes: { before: null, after: { events: EVENTS, phone_line_id: null } },
  },
  'DELETE /api/v1/webhooks/:id/replay': { action: 'webhook.replay_stopped', set: on(webhook) },
  'PATCH /api/v1/phone-lines/:id': {
    action: 'line.changed',
    set: async (stage) => ({
      path: await stage.line(),
      body: { label: `Desk ${stage.next()}`, is_enabled: true },
    }),
  },
  'DELETE /api/v1/phone-lines/:id': {
    action: 'line.deleted',
    set: on((stage) => stage.vanishedLine()),
  },
  'POST /api/v1/boxes': {
    action: 'box.invited',
    set: async ({ next }) => ({ body: { name: `studio-${next()}` } }),
    changes: { before: null, after: { name: expect.any(String) } },
  },
  'PATCH /api/v1/boxes/:id': {
    action: 'box.renamed',
    set: async (stage) => ({ path: await stage.box(), body: { name: `attic-${stage.next()}` } }),
  },
  'DELETE /api/v1/boxes/:id': {
    action: 'box.removed',
    set: on((stage) => stage.box()),
    changes: { before: { name: expect.any(String) }, after: null },
  },
  'POST /api/v1/rollout': {
    action: 'rollout.started',
    set: async (stage) => ({ body: await stage.rollout() }),
    changes: { after: { version: '0.1.0' } },
  },
  'POST /api/v1/rollout/resume': { action: 'rollout.resumed', set: startRollout },
  'DELETE /api/v1/rollout': { action: 'rollout.canceled', set: startRollout },
  'POST /api/v1/phone-lines/:id/move': {
    action: 'line.moved',
    set: async (stage) => {
      const to = await stage.box()
      stage.joined(to)
      return { path: await stage.line(), body: { to } }
    },
    changes: { after: { moves_to: expect.stringMatching(/^box_/) } },
  },
  'POST /api/v1/phone-lines/:id/adopt': {
    action: 'line.adopted',
    set: async (stage) => {
      const path = await stage.vanishedLine()
      return { path, body: { from: await stage.line() } }
    },
  },
  'POST /api/v1/conversations/:id/separate': {
    action: 'conversation.separated',
    set: async (stage) => ({ path: await stage.mergedConversation() }),
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
    set: onMessage('uncertain', { status: 'failed' }),
    changes: { before: { status: 'uncertain' }, after: { status: 'failed' } },
  },
  'DELETE /api/v1/messages/:id': { action: 'message.canceled', set: onMessage('queued') },
  'POST /api/v1/messages/:id/approve': {
    action: 'message.approved',
    set: onMessage('held', { text: 'bye' }),
    changes: { after: { requested_by: HELD_BY, is_text_changed: true } },
  },
  'POST /api/v1/messages/:id/deny': {
    action: 'message.denied',
    set: onMessage('held', { reason: 'too late' }),
    changes: { after: { requested_by: HELD_BY, reason: 'too late' } },
  },
  'POST /api/v1/backup': { action: 'backup.created', set: asks({}) },
  'GET /api/v1/backups/:name': { action: 'backup.downloaded', set: async () => ({ path: BACKUP }) },
  'GET /dashboard/downloads/:ticket': {
    action: 'backup.downloaded',
    set: async ({ browser }) => {
      const { body } = await browser.post('/dashboard/downloads', { backup: BACKUP })
      return { path: String(body.url).split('/').at(-1) ?? '' }
    },
  },
  'PUT /api/v1/opt-outs/:handle': {
    action: 'opt_out.added',
    set: on(async () => ANNA, {}),
    // The log names a thing by its id, and so would have the number.
    changes: { about: OPT_OUT, before: null, after: { handle: ANNA, phone_line_id: null } },
  },
  'DELETE /api/v1/opt-outs/:handle': {
    action: 'opt_out.removed',
    set: async ({ owner }) => {
      await owner('PUT', `/api/v1/opt-outs/${ANNA}`, {})
      return { path: ANNA }
    },
    changes: {
      about: OPT_OUT,
      before: { handle: ANNA, phone_line_id: null, keyword: null },
      after: null,
    },
  },
  'POST /api/v1/setup-link': { action: 'setup_link.created', set: asks({}) },
  'POST /api/v1/members': {
    action: 'member.created',
    set: asks({ name: 'Ben' }),
    changes: { before: null, after: { name: 'Ben' } },
  },
  'POST /api/v1/members/:id/link': { action: 'member.link_created', set: on(member, {}) },
  'DELETE /api/v1/members/:id': {
    action: 'member.removed',
    set: on(member),
    changes: { before: { name: expect.stringContaining('Anna') }, after: null },
  },
  'POST /dashboard/setup': {
    action: 'password.set',
    set: async ({ relay }) => ({ body: { token: await relay.token(), password: PASSWORD } }),
    changes: { before: null, after: { by: 'setup_link' } },
  },
  'POST /dashboard/session': { action: 'session.created', set: asks({ password: PASSWORD }) },
  'POST /dashboard/session/elevate': {
    action: 'session.elevated',
    set: asks({ password: PASSWORD }),
  },
  'POST /dashboard/password': {
    action: 'password.changed',
    set: asks({ current: PASSWORD, password: NEW_PASSWORD }),
  },
  'PUT /dashboard/second-factor': {
    action: 'second_factor.added',
    set: async (stage) => ({ body: { code: (await newFactorOf(stage)).codeAt(0) } }),
  },
  'DELETE /dashboard/second-factor': {
    action: 'second_factor.removed',
    set: async (stage) => {
      const { browser, codeAt } = await newFactorOf(stage)
      await browser.ask('PUT', '/dashboard/second-factor', { body: { code: codeAt(0) } })
      return { body: { code: codeAt(30_000) } }
    },
  },
  'DELETE /dashboard/sessions/:id': {
    action: 'session.ended',
    set: async ({ relay }) => {
      const browser = await relay.logIn()
      const { body } = await browser.get('/dashboard/sessions')
      const own = body.data.find((one: { readonly is_current: boolean }) => one.is_current)
      return { path: String(own.id) }
    },
  },
  'DELETE /dashboard/session': { action: 'session.ended' },
  'DELETE /dashboard/sessions': { action: 'session.ended' },
}

/** A second factor that no code has confirmed yet, and the codes of its phone. */
async function newFactorOf({ relay }: Stage) {
  const browser = await relay.logIn()
  const { body } = await browser.ask('POST', '/dashboard/second-factor')
  const phone = new TOTP({ secret: Secret.fromBase32(body.secret) })
  return { browser, codeAt: (ms: number) => phone.generate({ timestamp: relay.clock.now() + ms }) }
}

async function startRollout(stage: Stage) {
  await stage.owner('POST', '/api/v1/rollout', await stage.rollout())
  return {}
}
