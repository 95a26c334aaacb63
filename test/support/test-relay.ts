// The real relay on a test clock: real SQLite in memory, the real `createApp`, the real routes. Only
// the devices, the network and time are the test's.

import type { CreatedKey } from '../../src/api/keys.ts'
import { createApp, type App } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import type { MessageId } from '../../src/domain/ids.ts'
import type { EventName } from '../../src/domain/webhook.ts'
import type { LineDriver } from '../../src/lines/driver.ts'
import type { LineKind } from '../../src/lines/line-kind.ts'
import type { Outside } from '../../src/runtime.ts'
import { openDatabase, type OpenedDatabase } from '../../src/storage/database.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import { seededRandom } from '../../src/system/random.ts'
import type { Post } from '../../src/webhooks/post.ts'
import { settle, TestClock } from './test-clock.ts'

export { seededRandom }

export type RelayOptions = {
  /** `own` for those that the relay makes by itself. */
  readonly drivers?: readonly LineDriver[] | 'own' | undefined
  /** `own` for the one that really calls. */
  readonly post?: Post | 'own' | undefined
  /** Makes every id and secret of the relay the same in each run with the same number. */
  readonly seed?: number | undefined
  readonly database?: OpenedDatabase | undefined
  readonly onClose?: (() => void) | undefined
  readonly clock?: TestClock | undefined
  /** The key of an earlier start on the same database. */
  readonly key?: CreatedKey | null | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly parts?: Partial<Outside> | undefined
  /** Data directory, for the files beside the database. */
  readonly folder?: string | undefined
  /** Phase at the beginning of the test; `running` if it is left out. */
  readonly phase?: 'starting' | 'checking' | undefined
}

/** JSON from the API: tests look at what they expect, so its shape is theirs to know. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever the API answers.
export type Json = any

export type Answer = { readonly status: number; readonly body: Json; readonly headers: Headers }

export type TestRelay = Awaited<ReturnType<typeof startRelay>>

/** Nobody can make a folder there: a test that keeps files has one of its own. */
const NO_FOLDER = '/dev/null/nowhere'

const PEER = { address: '127.0.0.1', isControl: false, liftTimeout: () => {} }

/** Drivers and calls of the test, if it does not ask for the relay's own. */
function outermost({ drivers = [], post = neverPost }: RelayOptions) {
  return { ...(drivers === 'own' ? {} : { drivers }), ...(post === 'own' ? {} : { post }) }
}

/** Starts a relay; `await using` stops it at the end of the test. */
export async function startRelay(options: RelayOptions = {}) {
  const clock = options.clock ?? new TestClock()
  const database = options.database ?? openDatabase(':memory:', { version: 'test' })
  const { db } = database
  const app = createApp(testConfig(options.environment ?? {}, options.parts?.kinds), {
    clock,
    data: {
      db,
      directory: dataDirectoryAt(options.folder ?? NO_FOLDER),
      secretKey: new Uint8Array(32).fill(7),
      close: () => options.onClose?.(),
    },
    random: seededRandom(options.seed ?? 1),
    log: silentLog,
    ...outermost(options),
    backupWorker: noBackups,
    isListening: false,
    ...options.parts,
    disk: { freeBytes: () => Number.MAX_SAFE_INTEGER, ...options.parts?.disk },
  })
  const startedAt = clock.monotonic()
  const created = options.key ?? (await app.createFirstKey())
  await begin(app, options.phase)
  await settle()

  /** A request with what is given and nothing else. */
  const fetch = (path: string, init: RequestInit = {}) =>
    app.http.fetch(new Request(`http://localhost${path}`, init), PEER)
  const credentials = credentialsOf(created)
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> => {
    const response = await fetch(path, {
      method,
      headers: {
        ...credentials,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    }
  }
  const get = async (path: string): Promise<Json> => (await request('GET', path)).body
  /** None before the relay may serve. */
  const lines = async (): Promise<readonly Json[]> => (await get('/api/v1/phone-lines')).data ?? []
  return {
    app,
    clock,
    db,
    database,
    key: created,
    credentials,
    fetch,
    request,
    get,
    lines,
    post: (path: string, body: unknown) => request('POST', path, body),
    put: (path: string, body: unknown) => request('PUT', path, body),
    patch: (path: string, body: unknown) => request('PATCH', path, body),
    send: (body: Record<string, unknown>, headers: Readonly<Record<string, string>> = {}) =>
      request('POST', '/api/v1/messages/send', body, headers),
    message: (id: string): Promise<Json> => get(`/api/v1/messages/${id}`),
    /** What the health catalogue says, or only the findings of `code` if it is given. */
    async findings(code?: string): Promise<readonly Json[]> {
      const { data } = await get('/api/v1/health')
      return code === undefined ? data : data.filter((finding: Json) => finding.code === code)
    },
    /** Sets the daily contact limit of every line. */
    async limit(dailyContactLimit: number): Promise<void> {
      for (const line of await lines()) {
        const changes = { daily_contact_limit: dailyContactLimit }
        await request('PATCH', `/api/v1/phone-lines/${line.id}`, changes)
      }
    },
    elapsedMs: () => clock.monotonic() - startedAt,
    events: () => readEvents(db),
    eventNames: async () => readEvents(db).map((event) => event.name),
    eventIds: async () => readEvents(db).map((event) => event.id),
    /** From now on the database file may not grow: every write meets SQLITE_FULL. */
    fillDisk: () => fillDisk(db),
    freeDisk: () => db.sqlite.run(`PRAGMA max_page_count = ${2 ** 30}`),
    async [Symbol.asyncDispose]() {
      const stopping = app.stop()
      await clock.advance(120_000)
      await stopping
    },
  }
}

/** The headers of a key; empty ones if there is none. */
function credentialsOf(created: CreatedKey | null) {
  return { 'X-API-Key': created?.key ?? '', 'X-API-Secret': created?.secret ?? '' }
}

/** Starts the relay as far as `phase`. */
async function begin(app: App, phase: RelayOptions['phase']): Promise<void> {
  if (phase === 'checking') void app.start(new Promise(() => {}))
  if (phase === undefined) await app.start()
}

function testConfig(environment: Readonly<Record<string, string>>, kinds?: readonly LineKind[]) {
  const given = { flags: {}, environment, defaultDataDir: NO_FOLDER, folder: '/' }
  return loadConfig({ ...given, readText: () => null }, kinds).config
}

/** A database in memory has no file that a thread could copy. */
export const noBackups: Outside['backupWorker'] = {
  take: async ({ to }) => ({ path: to, sizeBytes: 0 }),
  assertIntact: async () => {},
  inspect: () => Promise.reject(new Error('There is no file.')),
}

const neverPost: Post = async () => ({ result: 'unreachable' })

/** Every event, in the order in which they happened. */
function readEvents(db: OpenedDatabase['db']) {
  return db.sqlite
    .query<{ id: string; name: EventName; messageId: MessageId }, []>(
      'SELECT id, name, message_id AS messageId FROM events ORDER BY seq',
    )
    .all()
}

/** Takes every page that is free, and forbids new ones. */
function fillDisk({ sqlite }: OpenedDatabase['db']): void {
  sqlite.run('CREATE TABLE IF NOT EXISTS filler (content BLOB)')
  const row = sqlite.query<{ page_count: number }, []>('PRAGMA page_count').get()
  sqlite.run(`PRAGMA max_page_count = ${row?.page_count ?? 1}`)
  try {
    for (;;) sqlite.run('INSERT INTO filler VALUES (zeroblob(4000))')
  } catch {
    // Full now.
  }
}
