// The operations that leave an entry in the trail, each with what must be there first.

import { expect } from 'bun:test'

import { Secret, TOTP } from 'otpauth'

import type { AuditEntry } from '../../src/api/audit.ts'
import type { OperationId } from '../../src/api/operations.ts'
import { PASSWORD } from '../http/dashboard-rig.ts'
import { BACKUP, HELD_BY, type Stage } from './audit-stage.ts'

const HOOK = 'https://hooks.example/services/T0/path-s3cret?key=query-s3cret'
const MONITOR = 'https://monitor.example/ping/monitor-s3cret'
const ALERTS = 'https://ntfy.example/path-s3cret?auth=query-s3cret'
const NEW_PASSWORD = 'battery staple and more'
const EVENTS = ['message.sent']
export const ANNA = '+12025550701'
const OPT_OUT = { kind: 'opt_out', id: null } as const

/** The entry of a change must not contain these. */
export const KNOWN_SECRETS = [
  'path-s3cret',
  'query-s3cret',
  'monitor-s3cret',
  PASSWORD,
  NEW_PASSWORD,
]

/** What a call has beside its route. */
export type Given = {
  /** In the place of the id in the path. */
  readonly path?: string | undefined
  /** The second id in the path. */
  readonly entry?: string
  readonly query?: string
  /** Bytes are sent as they are. */
  readonly body?: unknown
}
type Case = {
  /** What must be there first; gives the rest of the call. */
  readonly set?: (stage: Stage) => Promise<Given>
  readonly changes?: Pick<Partial<AuditEntry>, 'before' | 'after' | 'about'>
  /** Nothing else can be tried on the same relay. */
  readonly isLast?: true
}

export const webhook = async ({ owner }: Stage): Promise<string> => {
  const { body } = await owner('POST', '/api/v1/webhooks', { url: HOOK, events: EVENTS })
  return body.id
}
let bridges = 0
const newBridge = () => ({ phone_number: `+1202555${4000 + (bridges += 1)}` })

const bridge = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/bridges', newBridge())).body.id

export const channel = async ({ owner }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/alerts/channels', { url: ALERTS })).body.id

const member = async ({ owner, next }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/members', { name: `Anna ${next()}` })).body.id

const site = async ({ owner, next }: Stage): Promise<string> =>
  (await owner('POST', '/api/v1/sites', { name: `Shop ${next()}` })).body.id

export const upload = async ({ owner }: Stage): Promise<string> =>
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

/** The operations that leave an entry and need something for their call. */
export const AUDITED: { readonly [Id in OperationId]?: Case } = {
  createKey: {
    set: asks({ name: 'shop' }),
    changes: { before: null, after: { name: 'shop' } },
  },
  rotateKey: {
    set: on(async ({ owner }) => (await owner('POST', '/api/v1/keys', {})).body.id, {}),
    changes: {
      before: null,
      after: { name: null, new_key: expect.any(String), expires_at: expect.any(String) },
    },
  },
  revokeKey: {
    set: on(async ({ owner }) => (await owner('POST', '/api/v1/keys', {})).body.id),
  },
  deleteAttachment: { set: on(upload) },
  createAttachmentLink: {
    set: on(upload, {}),
    changes: { after: { expires_at: expect.any(String) } },
  },
  createBridge: {
    set: async () => ({ body: newBridge() }),
  },
  renewBridgeToken: { set: on(bridge) },
  deleteBridge: { set: on(bridge) },
  createWebhook: { set: asks({ url: HOOK, events: EVENTS }) },
  updateWebhook: {
    set: on(webhook, { url: 'https://thief.example/', is_active: true }),
    changes: {
      before: {
        url: expect.stringMatching(/^https:\/\/hooks\.example\/… \(SHA-256 [0-9a-f]{12}\)$/),
      },
      after: { url: 'https://thief.example' },
    },
  },
  deleteWebhook: { set: on(webhook) },
  rotateWebhookSecret: {
    set: on(webhook),
    changes: { before: null, after: null },
  },
  replayWebhook: {
    set: async (stage) => {
      const path = await webhook(stage)
      await stage.message('sent')
      return { path, body: { since: '2026-11-21T10:00:00Z' } }
    },
    changes: { before: null, after: { since: '2026-11-21T10:00:00.000Z', include_earlier: false } },
  },
  retryFailedDeliveries: {
    set: on(webhook, { events: EVENTS }),
    changes: { before: null, after: { events: EVENTS, phone_line_id: null } },
  },
  stopReplay: { set: on(webhook) },
  updatePhoneLine: {
    set: async (stage) => ({
      path: await stage.line(),
      body: { label: `Desk ${stage.next()}`, is_enabled: true },
    }),
  },
  deletePhoneLine: { isLast: true, set: on((stage) => stage.vanishedLine()) },
  createSite: {
    set: async ({ next }) => ({ body: { name: `Site ${next()}` } }),
    changes: { before: null, after: { name: expect.any(String), time_zone: 'UTC' } },
  },
  updateSite: {
    set: async (stage) => ({ path: await site(stage), body: { name: `Site ${stage.next()}` } }),
  },
  deleteSite: {
    set: on(site),
    changes: { before: { name: expect.any(String), phone_line_ids: [] }, after: null },
  },
  updateMember: {
    set: async (stage) => ({ path: await member(stage), body: { site_ids: [await site(stage)] } }),
  },
  inviteBox: {
    set: async ({ next }) => ({ body: { name: `studio-${next()}` } }),
    changes: { before: null, after: { name: expect.any(String) } },
  },
  renameBox: {
    set: async (stage) => ({ path: await stage.box(), body: { name: `attic-${stage.next()}` } }),
  },
  deleteBox: {
    set: on((stage) => stage.box()),
    changes: { before: { name: expect.any(String) }, after: null },
  },
  startRollout: {
    isLast: true,
    set: async (stage) => ({ body: await stage.rollout() }),
    changes: { after: { version: '0.1.0' } },
  },
  resumeRollout: { isLast: true, set: startRollout },
  cancelRollout: { isLast: true, set: startRollout },
  movePhoneLine: {
    isLast: true,
    set: async (stage) => {
      const to = await stage.box()
      stage.joined(to)
      return { path: await stage.line(), body: { to } }
    },
    changes: { after: { moves_to: expect.stringMatching(/^box_/) } },
  },
  adoptPhoneLine: {
    isLast: true,
    set: async (stage) => {
      const path = await stage.vanishedLine()
      return { path, body: { from: await stage.line() } }
    },
  },
  separateConversation: {
    set: async (stage) => ({ path: await stage.mergedConversation() }),
  },
  putSetting: {
    set: async ({ owner }) => {
      await owner('PUT', '/api/v1/settings/heartbeat_url', { value: 'none' })
      return { path: 'heartbeat_url', body: { value: MONITOR } }
    },
    changes: {
      before: { value: 'none' },
      after: { value: expect.stringMatching(/^https:\/\/monitor\.example\/… \(SHA-256 /) },
    },
  },
  putSnooze: {
    isLast: true,
    set: async (stage) => ({
      body: {
        code: 'line_offline',
        about: { kind: 'line', id: await stage.vanishedLine() },
        until: new Date(stage.relay.clock.now() + 3_600_000).toISOString(),
      },
    }),
    changes: { before: { until: null }, after: { until: expect.any(String) } },
  },
  resolveMessage: {
    set: onMessage('uncertain', { status: 'failed' }),
    changes: { before: { status: 'uncertain' }, after: { status: 'failed' } },
  },
  cancelMessage: { set: onMessage('queued') },
  approveMessage: {
    set: onMessage('held', { text: 'bye' }),
    changes: { after: { requested_by: HELD_BY, is_text_changed: true } },
  },
  denyMessage: {
    set: onMessage('held', { reason: 'too late' }),
    changes: { after: { requested_by: HELD_BY, reason: 'too late' } },
  },
  createBackup: { set: asks({}) },
  exportConversation: { set: on((stage) => stage.conversation()) },
  downloadBackup: { set: async () => ({ path: BACKUP }) },
  download: {
    set: async ({ browser }) => {
      const { body } = await browser.post('/dashboard/downloads', { backup: BACKUP })
      return { path: String(body.url).split('/').at(-1) ?? '' }
    },
  },
  putOptOut: {
    set: on(async () => ANNA, {}),
    // The log names a thing by its id, and so would have the number.
    changes: { about: OPT_OUT, before: null, after: { handle: ANNA, phone_line_id: null } },
  },
  deleteOptOut: {
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
  createSetupLink: { set: asks({}) },
  createAlertChannel: {
    set: asks({ url: ALERTS }),
    changes: { before: null },
  },
  updateAlertChannel: {
    set: on(channel, { name: 'ntfy' }),
    changes: { before: { name: null }, after: { name: 'ntfy' } },
  },
  deleteAlertChannel: { set: on(channel), changes: { after: null } },
  putAlertRule: {
    set: async ({ next }) => ({ body: { cause: 'disk', after_minutes: 20 + next() } }),
  },
  createMember: {
    set: asks({ name: 'Ben' }),
    changes: { before: null, after: { name: 'Ben' } },
  },
  renewMemberLink: { set: on(member, {}) },
  deleteMember: {
    set: on(member),
    changes: { before: { name: expect.stringContaining('Anna') }, after: null },
  },
  setUp: {
    isLast: true,
    set: async ({ relay }) => ({ body: { token: await relay.token(), password: PASSWORD } }),
    changes: { before: null, after: { by: 'setup_link' } },
  },
  signIn: { set: asks({ password: PASSWORD }) },
  elevate: {
    set: asks({ password: PASSWORD }),
  },
  changePassword: { isLast: true, set: asks({ current: PASSWORD, password: NEW_PASSWORD }) },
  turnOnSecondFactor: {
    isLast: true,
    set: async (stage) => ({ body: { code: (await newFactorOf(stage)).codeAt(0) } }),
  },
  renewRecoveryCodes: { isLast: true, set: withFactor },
  turnOffSecondFactor: { isLast: true, set: withFactor },
  endSession: {
    isLast: true,
    set: async ({ relay }) => {
      const browser = await relay.logIn()
      const { body } = await browser.get('/dashboard/sessions')
      const own = body.data.find((one: { readonly is_current: boolean }) => one.is_current)
      return { path: String(own.id) }
    },
  },
  signOut: { isLast: true },
  signOutEverywhere: { isLast: true },
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

/** Turns the second factor on; gives the next code of it. */
async function withFactor(stage: Parameters<typeof newFactorOf>[0]) {
  const { browser, codeAt } = await newFactorOf(stage)
  await browser.ask('PUT', '/dashboard/second-factor', { body: { code: codeAt(0) } })
  return { body: { code: codeAt(30_000) } }
}
