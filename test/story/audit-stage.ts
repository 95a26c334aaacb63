// A relay whose changes are looked at, and the three ways in which somebody asks for them.

import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { listAudit } from '../../src/storage/audit.ts'
import { openDatabase, type OpenedDatabase } from '../../src/storage/database.ts'
import { openDataDirectory } from '../../src/system/data-directory.ts'
import { startDashboard, type Browser } from '../http/dashboard-rig.ts'
import { memoryBroker } from '../support/boxes-rig.ts'
import { MemoryNetwork } from '../support/memory-link.ts'
import { recordingLog } from '../support/recording-log.ts'
import { accepts, ScriptedDriver } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'

export const ADDRESS = '203.0.113.9'
/** The name of a back-up that is there. */
export const BACKUP = 'hookline-2026-11-21T10-00-00Z.db'

/** The key of a message that is held. */
export const HELD_BY = 'key_held'

export type Stage = Awaited<ReturnType<typeof openStage>>

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
    parts: { log, broker, data: { db, directory, secretKey, close() {} } },
  })
  const proxied = { 'x-forwarded-for': ADDRESS }
  await relay.claim()
  const browser = await relay.logIn({ headers: proxied })
  let count = 0
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
    /** A conversation whose handle was another spelling. */
    async mergedConversation(): Promise<string> {
      await device.receive({ guid: `merged ${stage.next()}` })
      const { id } = (await owner('GET', '/api/v1/conversations?limit=1')).body.data[0]
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
      return async (method: string, to: string, body?: unknown) => {
        const answer = await relay.request(method, to, body, proxied)
        return { ...answer, requestId: answer.headers.get('x-request-id') }
      }
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
    return answerOf(await browser.fetch(method, to, { body, headers }))
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
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const peer = { address: null, isControl: true, liftTimeout() {} }
  return answerOf(await relay.app.http.fetch(request, peer))
}

async function answerOf(response: Response) {
  const text = await response.text()
  const body: Json = text.startsWith('{') ? JSON.parse(text) : null
  return { status: response.status, body, requestId: response.headers.get('x-request-id') }
}
