// A start with a startup check first, with everything waiting that a relay would do at once: a message
// that is queued, one that a dead process left under way, and an event that no receiver has.

import { expect, test } from 'bun:test'

import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { openDatabase, type OpenedDatabase } from '../../src/storage/database.ts'
import { snapshotOf } from '../../src/storage/snapshot.ts'
import { dataDirectoryAt } from '../../src/system/data-directory.ts'
import { silentLog } from '../../src/system/log.ts'
import type { Post } from '../../src/webhooks/post.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { accepts, ScriptedDriver } from '../support/scripted-driver.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import { seededRandom, startRelay } from '../support/test-relay.ts'

const HOUR_MS = 3_600_000

/** A life that ends by a crash: gives the database as it was at that moment. */
async function liveUntilCrash(folder: ScratchFolder, clock: TestClock): Promise<OpenedDatabase> {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  await using relay = await startRelay({ clock, drivers: [driver] })
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['message.sent'] }
  await relay.post('/api/v1/webhooks', hook)
  await relay.send({ to: '+12025550700', text: 'sent, and announced to nobody' })
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    await clock.sleep(HOUR_MS, new AbortController().signal)
    return { outcome: 'unknown', reason: 'too late' }
  }
  const [background] = [{ Prefer: 'respond-async' }]
  await relay.send({ to: '+12025550701', text: 'under way' }, background)
  await relay.send({ to: '+12025550702', text: 'queued' }, background)
  await settle()
  const { path } = snapshotOf(relay.db.sqlite, { to: folder.file('hookline.db'), files: [] })
  return openDatabase(path, { version: 'test' })
}

/** The next start on it: nothing of it but `start` has been called. */
function nextStart(database: OpenedDatabase, clock: TestClock) {
  const driver = new ScriptedDriver()
  const device = driver.add('+12025550801')
  device.script = accepts
  const posted: string[] = []
  const post: Post = async ({ body }) => {
    posted.push(body)
    return {
      result: 'answered',
      statusCode: 200,
      excerpt: null,
      retryAfterSeconds: null,
      isPrivateTarget: true,
    }
  }
  const given = { flags: {}, environment: {}, defaultDataDir: '/nowhere', folder: '/' }
  const app = createApp(loadConfig({ ...given, readText: () => null }).config, {
    clock,
    data: {
      db: database.db,
      directory: dataDirectoryAt('/nowhere'),
      secretKey: new Uint8Array(32).fill(7),
      close: () => {},
    },
    random: seededRandom(2),
    log: silentLog,
    drivers: [driver],
    post,
    freeBytes: () => Number.MAX_SAFE_INTEGER,
    isListening: false,
  })
  return { app, device, posted }
}

/** Everything that the relay of before left, as it stands now. */
function contentOf({ db }: OpenedDatabase): unknown {
  const tables = ['messages', 'events', 'deliveries', 'attempts', 'lines', 'contacts']
  return tables.map((table) => db.sqlite.query(`SELECT * FROM ${table}`).values())
}

async function stop(app: ReturnType<typeof createApp>, clock: TestClock): Promise<void> {
  const stopping = app.stop()
  await clock.advance(120_000)
  await stopping
}

test('until it may serve, nothing is sent, delivered, recovered or written; then all of it, once', async () => {
  const clock = new TestClock()
  using folder = new ScratchFolder()
  const database = await liveUntilCrash(folder, clock)
  const { app, device, posted } = nextStart(database, clock)
  const check = Promise.withResolvers<boolean>()
  const before = contentOf(database)

  const started = app.start(check.promise)
  await clock.advance(HOUR_MS)
  const [still, attendedBefore, postedBefore] = [
    contentOf(database),
    device.attended.length,
    posted.length,
  ]
  check.resolve(true)
  await settle()
  await started
  await clock.advance(HOUR_MS)
  await stop(app, clock)

  expect(still).toEqual(before)
  expect([attendedBefore, postedBefore]).toEqual([0, 0])
  expect(device.sent.map(({ text }) => text)).toEqual(['queued'])
  expect(posted.length).toBe(2)
})

test('one that may not serve changes nothing, and stops', async () => {
  const clock = new TestClock()
  using folder = new ScratchFolder()
  const database = await liveUntilCrash(folder, clock)
  const { app, device, posted } = nextStart(database, clock)
  const before = contentOf(database)

  const url = await app.start(Promise.resolve(false))
  await clock.advance(HOUR_MS)
  await stop(app, clock)

  expect(url).toBe('http://localhost')
  expect(contentOf(database)).toEqual(before)
  expect([device.attended.length, posted.length]).toEqual([0, 0])
})
