// A relay whose changes are looked at, and the ways in which its operations are called.

import { expect } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { listAudit } from '../../src/storage/audit.ts'
import { closeDatabase, openDatabase, type OpenedDatabase } from '../../src/storage/database.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { startDashboard, type Browser } from '../http/dashboard-rig.ts'
import { memoryBroker } from '../support/boxes-rig.ts'
import { MemoryNetwork } from '../support/memory-link.ts'
import { recordingLog } from '../support/recording-log.ts'
import { accepts, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { noBackups, type Json } from '../support/test-relay.ts'
import { ASYNC, phoneOf } from './shortcuts-relay.ts'

export const ADDRESS = '203.0.113.9'
/** What an uploaded backup has. */
const CONTENTS = {
  version: '0.1.0',
  latest_message_at: null,
  has_secret_key: false,
  counts: {
    messages: 0,
    conversations: 0,
    contacts: 0,
    phone_lines: 0,
    webhooks: 0,
    keys: 0,
    attachments: 0,
  },
}
/** The name of a back-up that is there. */
export const BACKUP = 'hookline-2026-11-21T10-00-00Z.db'

/** The key of a message that is held. */
export const HELD_BY = 'key_held'

export type Stage = Awaited<ReturnType<typeof openStage>>

export const LOCALHOST = { host: 'localhost' }
const JSON_TYPE = { 'content-type': 'application/json' }

/** A relay with a line, and everybody who may change it. */
export async function openStage(path: string) {
  const directory = openDataDirectory(path)
  writeFileSync(join(directory.backups, BACKUP), 'a back-up')
  const driver = new ScriptedDriver('simulated')
  const device = driver.add('+12025550801')
  const { log, lines } = recordingLog()
  const database = openDatabase(':memory:', { version: 'test' })
  const { db } = database
  const secretKey = new Uint8Array(32).fill(7)
  const clock = new TestClock()
  const broker = memoryBroker(new MemoryNetwork(clock), () => {})
  const relay = await startDashboard({
    clock,
    database,
    drivers: [driver],
    environment: { HOOKLINE_TRUSTED_PROXIES: '127.0.0.1' },
    parts: {
      log,
      broker,
      data: { db, directory, secretKey, close() {} },
      backupWorker: { ...noBackups, inspect: async () => CONTENTS },
      restore() {},
    },
  })
  const proxied = { 'x-forwarded-for': ADDRESS }
  await relay.claim()
  const browser = await relay.logIn({ headers: proxied })
  let count = 0
  let phone: Promise<ReturnType<typeof phoneOf>> | null = null
  const owner = (method: string, to: string, body?: unknown) => asControl(relay, method, to, body)
  const line = async (): Promise<string> => (await relay.lines()).at(-1)?.id
  const stage = {
    relay,
    browser,
    lines,
    owner,
    line,
    next: () => (count += 1),
    entries: () => listAudit(db, {}, { limit: 200, cursor: null }).data,
    /** Name of a box that was invited. */
    async box(): Promise<string> {
      const name = `box-${stage.next()}`
      await owner('POST', '/api/v1/boxes', { name })
      return name
    },
    /** As if that machine had joined. */
    joined: (name: string) =>
      db.sqlite.run('UPDATE boxes SET joined_at = 1 WHERE name = ?', [name]),
    /** The order to upgrade a box that has joined. */
    async rollout(): Promise<Json> {
      const name = await stage.box()
      db.sqlite.run("UPDATE boxes SET joined_at = 1, platform = 'linux-x64' WHERE name = ?", [name])
      mkdirSync(join(directory.path, 'rollout'), { recursive: true })
      writeFileSync(join(directory.path, 'rollout', 'hookline-linux-x64'), 'an executable')
      return { version: '0.1.0', boxes: [name], platforms: ['linux-x64'], is_unverified: true }
    },
    async conversation(): Promise<string> {
      await device.receive({ guid: `heard ${stage.next()}` })
      return (await owner('GET', '/api/v1/conversations?limit=1')).body.data[0].id
    },
    /** A conversation whose handle was another spelling. */
    async mergedConversation(): Promise<string> {
      const id = await stage.conversation()
      db.sqlite.run('UPDATE conversations SET handle = substr(handle, 3) WHERE id = ?', [id])
      await clock.advance(60_000)
      return id
    },
    /** A line whose device is gone, while another one is there. */
    async vanishedLine(): Promise<string> {
      const id = await line()
      driver.add('+12025550802')
      driver.devices.shift()
      await relay.clock.advance(10_000)
      return id
    },
    async delivery(): Promise<string> {
      const events = ['message.sent']
      const { body } = await owner('POST', '/api/v1/webhooks', { url: 'https://a.example', events })
      await stage.message('sent')
      const list = await owner('GET', `/api/v1/webhooks/${body.id}/deliveries`)
      return list.body.data[0].id
    },
    /** An iPhone whose shortcuts are a line, with the token of its bridge. */
    async phone() {
      phone ??= owner('POST', '/api/v1/bridges', { phone_number: '+12025550803' }).then(
        ({ body }) => phoneOf(relay, body.token),
      )
      const made = await phone
      await clock.advance(10_000)
      return made
    },
    /** A message that such an iPhone was given to send. */
    async handedOut(): Promise<string> {
      const asking = (await stage.phone()).next()
      const { id } = (await relay.lines()).find(({ driver }) => driver === 'shortcuts')
      await relay.send({ to: '+12025550700', text: 'hello', phone_line_id: id }, ASYNC)
      await clock.advance(1_000)
      return (await asking).body.message.id
    },
    /** The bytes of a backup of another relay. */
    backup(): Uint8Array {
      const file = join(path, 'other.db')
      closeDatabase(openDatabase(file, { version: 'test' }).db)
      return readFileSync(file)
    },
    async message(status: 'sent' | 'uncertain' | 'queued' | 'held'): Promise<string> {
      if (status === 'queued' || status === 'held') {
        const send_at = new Date(relay.clock.now() + 3_600_000).toISOString()
        const { body } = await relay.send({ to: '+12025550700', text: 'hello', send_at })
        if (status === 'held') holdMessage(db, body.id)
        return body.id
      }
      if (status === 'uncertain') {
        device.script = async (_message, pointOfNoReturn) => {
          await pointOfNoReturn('note')
          return { outcome: 'unknown', reason: 'no_word' }
        }
      }
      const sending = relay.send({ to: '+12025550700', text: 'hello' })
      await relay.clock.advance(1_000)
      device.script = accepts
      return (await sending).body.id
    },
    actor: (way: string) => actorOf(way, relay.key?.id ?? ''),
    secrets: [relay.key?.secret ?? '', relay.key?.key ?? '', browser.cookie?.split('=')[1] ?? ''],
    async way(way: string) {
      if (way === 'control') return owner
      if (way === 'dashboard') return asBrowser(browser)
      if (way === 'bridge') return asPhone(relay, await stage.phone())
      const caller = way === 'key' ? { ...relay.credentials, ...proxied } : LOCALHOST
      const headers = { ...caller, ...JSON_TYPE }
      return async (method: string, to: string, body?: unknown) =>
        answerOf(await relay.fetch(to, { method, headers, body: textOf(body) }))
    },
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
  return stage
}

/** As if a key that needs approval had sent it. */
function holdMessage({ sqlite }: OpenedDatabase['db'], id: string): void {
  const nobody = { resolvedBy: null, resolvedAt: null, reason: null, originalText: null }
  const extras = { approval: { state: 'pending', requestedBy: HELD_BY, ...nobody } }
  const sql = `UPDATE messages SET queued_reason = 'approval', extras = $extras WHERE id = $id`
  sqlite.query(sql).run({ id, extras: JSON.stringify(extras) })
}

function actorOf(way: string, keyId: string): Json {
  if (way === 'key') return { kind: 'key', id: keyId }
  if (way === 'control') return { kind: 'cli', id: null }
  return { kind: 'dashboard', id: expect.stringMatching(/^ses_[0-9a-f]{8}$/) }
}

function asBrowser(browser: Browser) {
  return async (method: string, path: string, body?: unknown) => {
    const to = path.replace(/^\/api\/v1\//, '/dashboard/api/')
    // A browser that downloads a file sends no header of the page.
    const headers = to.startsWith('/dashboard/downloads/') ? { 'x-hookline-page-key': null } : {}
    const sent = body instanceof Uint8Array ? { bytes: body } : { body }
    return answerOf(await browser.fetch(method, to, { ...sent, headers }))
  }
}

/** A shortcut that asks for a message waits for one. */
function asPhone({ clock }: { readonly clock: TestClock }, phone: ReturnType<typeof phoneOf>) {
  return async (_method: string, path: string, body: unknown = {}) => {
    const asked = phone.call(path, body)
    await clock.advance(30_000)
    return { ...(await asked), requestId: null }
  }
}

async function asControl(
  relay: Awaited<ReturnType<typeof startDashboard>>,
  method: string,
  path: string,
  body?: unknown,
) {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: JSON_TYPE,
    body: textOf(body),
  })
  const peer = { address: null, isControl: true, liftTimeout() {} }
  return answerOf(await relay.app.http.fetch(request, peer))
}

function textOf(body: unknown): string | Blob | null {
  if (body instanceof Uint8Array) return new Blob([body])
  return body === undefined ? null : JSON.stringify(body)
}

async function answerOf(response: Response) {
  // A stream has no end.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  const body: Json = text.startsWith('{') ? JSON.parse(text) : null
  return { status: response.status, body, requestId: response.headers.get('x-request-id') }
}
