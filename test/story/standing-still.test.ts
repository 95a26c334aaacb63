// A start with a startup check first, with everything waiting that a relay would do at once: a message
// that is queued, one that a dead process left under way, and an event that no receiver has.

import { expect, test } from 'bun:test'

import { openDatabase, type OpenedDatabase } from '../../src/storage/database.ts'
import { snapshotOf } from '../../src/storage/snapshot.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { settle } from '../support/test-clock.ts'

const HOUR_MS = 3_600_000

/** A life that ends by a crash: gives the database as it was at that moment. */
async function liveUntilCrash(folder: ScratchFolder) {
  await using relay = await startScripted()
  const { clock, device, key } = relay
  relay.sink.answer = () => 500
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['message.sent'] }
  await relay.post('/api/v1/webhooks', hook)
  await relay.send({ to: '+12025550700', text: 'sent, and announced to nobody' })
  device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    await clock.sleep(HOUR_MS, new AbortController().signal)
    return { outcome: 'unknown', reason: 'too late' }
  }
  const background = { Prefer: 'respond-async' }
  await relay.send({ to: '+12025550701', text: 'under way' }, background)
  await relay.send({ to: '+12025550702', text: 'queued' }, background)
  await settle()
  const { path } = snapshotOf(relay.db.sqlite, { to: folder.file('hookline.db'), files: [] })
  return { database: openDatabase(path, { version: 'test' }), clock, key }
}

/** The next start on it: nothing of it but `start` will be called. */
const nextStart = ({ database, clock, key }: Awaited<ReturnType<typeof liveUntilCrash>>) =>
  startScripted({ database, clock, key, phase: 'starting' })

/** Everything that the relay of before left, as it stands now. */
function contentOf({ db }: OpenedDatabase): unknown {
  const tables = ['messages', 'events', 'deliveries', 'attempts', 'lines', 'contacts']
  return tables.map((table) => db.sqlite.query(`SELECT * FROM ${table}`).values())
}

test('until it may serve, nothing is sent, delivered, recovered or written; then all of it, once', async () => {
  using folder = new ScratchFolder()
  const life = await liveUntilCrash(folder)
  const { clock, database } = life
  const check = Promise.withResolvers<boolean>()
  const before = contentOf(database)
  await using relay = await nextStart(life)
  const { app, device, sink } = relay

  const started = app.start(check.promise)
  await clock.advance(HOUR_MS)
  const [still, attendedBefore, postedBefore] = [
    contentOf(database),
    device.attended.length,
    sink.posts.length,
  ]
  check.resolve(true)
  await settle()
  await started
  await clock.advance(HOUR_MS)

  expect(still).toEqual(before)
  expect([attendedBefore, postedBefore]).toEqual([0, 0])
  expect(device.sent.map(({ text }) => text)).toEqual(['queued'])
  expect(sink.posts).toHaveLength(2)
})

test('one that may not serve changes nothing, and stops', async () => {
  using folder = new ScratchFolder()
  const life = await liveUntilCrash(folder)
  const { clock, database } = life
  const before = contentOf(database)
  await using relay = await nextStart(life)
  const { app, device, sink } = relay

  const url = await app.start(Promise.resolve(false))
  await clock.advance(HOUR_MS)

  expect(url).toBe('http://localhost')
  expect(contentOf(database)).toEqual(before)
  expect([device.attended.length, sink.posts.length]).toEqual([0, 0])
})
