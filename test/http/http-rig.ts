// The HTTP module with stand-ins for what lies behind it. Each stand-in can be replaced by a test.

import { expect } from 'bun:test'

import type { Caller } from '../../src/domain/credential.ts'
import { createHttp, type Http, type HttpTools } from '../../src/http/server.ts'
import { ChangeFeed } from '../../src/system/change-feed.ts'
import type { Log, LogFields } from '../../src/system/log.ts'
import { Metrics } from '../../src/system/metrics.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Signal } from '../../src/system/signal.ts'
import { TestClock } from '../support/test-clock.ts'
import { NOBODY_SIGNED_IN } from './access-stand-ins.ts'
import { bridgeStandIns } from './bridge-stand-ins.ts'

export const TIME = '2026-11-21T10:00:00.000Z'
export const KEY_ID = 'key_01k5c3qv7yfxn8t2w9r4d6m0ab'
export const LINE_ID = 'line_01k5c3qv7yfxn8t2w9r4d6m0ab'
/** Where a change that the key asks for comes from. */
export const ORIGIN = {
  actor: { kind: 'key', id: KEY_ID },
  address: '127.0.0.1',
  requestId: expect.stringMatching(/^req_/),
}
export const CREDENTIALS = { 'x-api-key': 'hl_live_right', 'x-api-secret': 'hl_secret_right' }

export const MESSAGE = {
  id: 'msg_01k5c3qv7yfxn8t2w9r4d6m0ab',
  guid: '3C2F8A54-6B1D-4E0A-9F57-1D0B6C9E7A42',
  platform_guid: null,
  direction: 'outbound',
  status: 'sent',
  service: 'iMessage',
  to: '+12025550147',
  from: '+12025550101',
  handle: '+12025550147',
  text: 'Hello',
  phone_line_id: LINE_ID,
  phone_number: '+12025550101',
  conversation_id: 'conv_01k5c3qv7yfxn8t2w9r4d6m0ab',
  source: 'api',
  queued_reason: null,
  error: null,
  created_at: TIME,
  updated_at: TIME,
  sent_at: TIME,
  delivered_at: null,
  read_at: null,
} as const

export const LINE = {
  id: LINE_ID,
  phone_number: '+12025550101',
  label: null,
  status: 'online',
  imessage_active: true,
  daily_contact_limit: 50,
  driver: 'simulated',
  status_reason: null,
  status_hint: null,
  new_contacts_today: 0,
  is_enabled: true,
  relay_sms: false,
  capabilities: {
    new_contacts: true,
    choose_service: false,
    delivered: true,
    read: true,
    guid: true,
    attachments: false,
  },
  created_at: TIME,
} as const

export const WEBHOOK = {
  id: 'wh_01k5c3qv7yfxn8t2w9r4d6m0ab',
  url: 'https://shop.example.com/hooks',
  events: ['message.received'],
  is_active: true,
  description: null,
  disabled_reason: null,
  created_by: KEY_ID,
  created_at: TIME,
  updated_at: TIME,
} as const

export const DELIVERY = {
  id: 'dlv_01k5c3qv7yfxn8t2w9r4d6m0ab',
  webhook_id: WEBHOOK.id,
  event_id: 'evt_01k5c3qv7yfxn8t2w9r4d6m0ab',
  event: 'message.received',
  message_id: MESSAGE.id,
  status: 'pending',
  attempt_count: 0,
  next_attempt_at: TIME,
  created_at: TIME,
  completed_at: null,
} as const

export const CONVERSATION = {
  id: MESSAGE.conversation_id,
  phone_line_id: LINE_ID,
  phone_number: '+12025550101',
  handle: '+12025550147',
  chat_identifier: '+12025550147',
  service: 'iMessage',
  message_count: 1,
  last_message: MESSAGE,
  automation_paused: false,
  created_at: TIME,
  updated_at: TIME,
} as const

const CREATED_KEY = {
  id: KEY_ID,
  name: null,
  key: 'hl_live_new',
  secret: 'hl_secret_new',
  created_by: KEY_ID,
  created_at: TIME,
  last_used_at: null,
} as const

/** What the stand-ins were asked, in order: a name and the arguments. */
export type Asked = readonly [name: string, ...args: readonly unknown[]]
export type LogLine = { readonly message: string; readonly fields: LogFields }

export type Rig = {
  readonly http: Http
  readonly clock: TestClock
  readonly metrics: Metrics
  readonly asked: readonly Asked[]
  readonly logged: readonly LogLine[]
  /** Seconds to which each request had its time-out lifted. */
  readonly lifted: readonly number[]
  /** Asks with the right credentials, from this machine. */
  call(method: string, path: string, more?: More): Promise<Response>
  /** Asks over the control socket. */
  control(method: string, path: string, more?: More): Promise<Response>
}

export type More = {
  readonly body?: unknown
  /** A body as it stands, in place of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly address?: string
}

export function createRig(parts: Partial<HttpTools> = {}): Rig {
  const asked: Asked[] = []
  const logged: LogLine[] = []
  const lifted: number[] = []
  const clock = new TestClock()
  const metrics = new Metrics()
  const note = (message: string, fields: LogFields = {}) => void logged.push({ message, fields })
  const log: Log = { debug() {}, info: note, warn: note, error: note }
  const failing = { log, doubtSignal: new Signal() }
  const http = createHttp({ ...standIns(asked, clock, metrics), ...failing, ...parts })
  const ask =
    (isControl: boolean) =>
    (method: string, path: string, more: More = {}) => {
      const request = requestOf(method, path, { ...more, isControl })
      const address = isControl ? null : (more.address ?? '127.0.0.1')
      return http.fetch(request, { address, isControl, liftTimeout: (s) => void lifted.push(s) })
    }
  return { http, clock, metrics, asked, logged, lifted, call: ask(false), control: ask(true) }
}

function requestOf(
  method: string,
  path: string,
  more: More & { readonly isControl: boolean },
): Request {
  const body = more.raw ?? (more.body === undefined ? null : JSON.stringify(more.body))
  const type = more.body === undefined ? {} : { 'content-type': 'application/json' }
  const credentials = more.isControl ? {} : CREDENTIALS
  const headers = { host: 'localhost', ...credentials, ...type, ...more.headers }
  return new Request(`http://localhost${path}`, { method, headers, body })
}

type StandIns = Omit<HttpTools, 'log' | 'doubtSignal'>

/** Answers that fit; every one notes that it was asked. */
export function standIns(asked: Asked[], clock: TestClock, metrics: Metrics): StandIns {
  const told =
    <T>(name: string, answer: T) =>
    (...args: readonly unknown[]): T => {
      asked.push([name, ...args])
      return answer
    }
  const later = <T>(name: string, answer: T) => told(name, Promise.resolve(answer))
  const page = <T>(item: T) => ({ data: [item], has_more: false, next_cursor: null })
  const { key: _key, secret: _secret, ...listed } = CREATED_KEY
  const rotated = { id: WEBHOOK.id, secret: 'whsec_new' }
  const setting = {
    name: 'open_metrics',
    value: 'off',
    from: 'default',
    sentence: '',
    is_locked: false,
  } as const
  return {
    version: '0.0.0',
    serverUrl: () => 'http://127.0.0.1:4665',
    clock,
    metrics,
    random: { bytes: (length) => new Uint8Array(length), chance: () => 0.5 },
    authenticate: rightCredentials,
    isTrustedProxy: (address) => address === '10.0.0.1',
    hosts: {
      hostname: 'Relay.local',
      publicUrl: 'https://relay.example.com/x',
      isOwnAddress: (address) => address === '192.168.1.5',
    },
    defaultWaitMs: 15_000,
    keys: {
      create: later('keys.create', CREATED_KEY),
      list: told('keys.list', page({ ...listed, key_hint: 'hl_live_abcdef', revoked_at: null })),
      revoke: later('keys.revoke', { id: KEY_ID, deleted: true as const }),
    },
    ...bridgeStandIns(told),
    lines: {
      list: told('lines.list', [LINE]),
      patch: later('lines.patch', LINE),
      remove: later('lines.remove', undefined),
      adopt: later('lines.adopt', LINE),
    },
    messages: {
      send: later('messages.send', {
        kind: 'sent' as const,
        isReplay: false,
        body: JSON.stringify(MESSAGE),
        messageId: MESSAGE.id,
        reason: null,
      }),
      list: told('messages.list', page(MESSAGE)),
      get: told('messages.get', MESSAGE),
      resolve: later('messages.resolve', MESSAGE),
    },
    conversations: {
      list: told('conversations.list', page(CONVERSATION)),
      get: told('conversations.get', CONVERSATION),
      patch: later('conversations.patch', CONVERSATION),
    },
    stats: told('stats', []),
    previewSend: told('previewSend', { lineId: null, knowsContact: false }),
    webhooks: {
      create: later('webhooks.create', { ...WEBHOOK, secret: 'whsec_new' }),
      list: told('webhooks.list', page(WEBHOOK)),
      get: told('webhooks.get', WEBHOOK),
      update: later('webhooks.update', WEBHOOK),
      remove: later('webhooks.remove', undefined),
      rotateSecret: later('webhooks.rotateSecret', rotated),
      sendTest: later('webhooks.sendTest', DELIVERY),
      listDeliveries: told('webhooks.listDeliveries', page(DELIVERY)),
      retryFailed: later('webhooks.retryFailed', 2),
      replay: later('webhooks.replay', 3),
      countReplayed: told('webhooks.countReplayed', 4),
      stopReplay: later('webhooks.stopReplay', 5),
      getDelivery: told('webhooks.getDelivery', { ...DELIVERY, attempts: [] }),
      getSentBody: told('webhooks.getSentBody', '{}'),
      redeliver: later('webhooks.redeliver', DELIVERY),
    },
    listAudit: told('listAudit', { data: [], has_more: false, next_cursor: null }),
    health: {
      life: { phase: () => 'running', isReady: () => true, isStorageFull: () => false },
      metrics,
      isMetricsOpen: () => false,
      findings: later('health.findings', []),
    },
    control: {
      events: { subscribe: told('events.subscribe', () => {}) },
      options: [],
      phones: told('phones', []),
      scriptCalls: told('scriptCalls', []),
      settings: {
        list: told('settings.list', [setting]),
        set: later('settings.set', setting),
      },
      backUp: later('backUp', { path: '/b.db', size_bytes: 1 }),
      noteDownload: later('noteDownload', undefined),
    },
    changes: new ChangeFeed({ clock, random: systemRandom }),
    listBackups: told('listBackups', []),
    about: () => {
      throw new Error('unused')
    },
    access: NOBODY_SIGNED_IN,
    createSetupLink: later('createSetupLink', {
      url: 'http://localhost/#/setup/x',
      lan_url: null,
      expires_at: TIME,
    }),
  }
}

function rightCredentials(key: string, secret: string): Caller | null {
  const isRight = key === CREDENTIALS['x-api-key'] && secret === CREDENTIALS['x-api-secret']
  // The stand-in's one key.
  return isRight ? ({ kind: 'key', keyId: KEY_ID } as Caller) : null
}

export type Issues = readonly (readonly [path: string, message: string])[]

/** What a 400 says of each place; nothing for any other answer. */
export async function issuesIn(response: Response): Promise<Issues> {
  // The shape that other tests make sure of.
  const { error } = (await response.json()) as {
    error: { code: string; details: { issues: { path: string; message: string }[] } }
  }
  if (error.code !== 'invalid_request') return []
  return error.details.issues.map(({ path, message }) => [path, message])
}
