// The traces can be played and kept. The events that a relay must publish are beside each, and tested elsewhere.

import { expect, test } from 'bun:test'

import { recordTrace } from '../../../../src/lines/kinds/mac/trace.ts'
import { systemRandom } from '../../../../src/system/random.ts'
import { SCHEMAS } from '../../../support/mac/chat-db-schemas.ts'
import { TRACES } from '../../../support/mac/messages-traces.ts'
import { makeModelRig, rowsOf } from '../../../support/mac/model-rig.ts'
import { traceOfRecording } from '../../../support/mac/recorded-trace.ts'
import { arrives, FRIEND } from '../../../support/mac/trace-steps.ts'
import { ndjsonOf, traceOfNdjson } from '../../../support/mac/trace.ts'

const HOUR_MS = 3_600_000
const A_MINUTE_MS = 60_000

type Mac = ReturnType<typeof makeModelRig>

test.each([...SCHEMAS])('every trace plays to its end on %s', async (schema) => {
  using mac = makeModelRig({ schema })
  const played: string[] = []

  for (const [name, { steps }] of Object.entries(TRACES)) {
    const ended = mac.model.play(steps).then(() => played.push(name))
    await mac.clock.advance(A_MINUTE_MS)
    await ended
  }

  expect(played).toEqual(Object.keys(TRACES))
  expect(mac.model.letters).toEqual([])
})

test('every trace goes through NDJSON and comes back the same', () => {
  for (const { steps } of Object.values(TRACES)) {
    expect(traceOfNdjson(ndjsonOf(steps))).toEqual(steps)
  }
})

test.each([
  '{"t":1}',
  '{"op":"checkpoint"}',
  '{"t":1,"op":"explode"}',
  '{"t":1,"op":"insert","table":"message","set":{}}',
  '{"t":1,"op":"sleep","ms":"long"}',
  'null',
])('a line that is no step is named: %s', (line) => {
  expect(() => traceOfNdjson(`{"t":0,"op":"checkpoint"}\n${line}\n`)).toThrow('Line 2')
})

test('the rows of one moment are one commit, and dates lie from the beginning of the trace', async () => {
  using mac = makeModelRig()
  const looks: string[][] = []
  const date = { at: -HOUR_MS }

  void mac.model.play([...arrives(100, 'a', 'old', { date }), ...arrives(100, 'b', 'new')])
  for (const ms of [99, 1]) {
    await mac.clock.advance(ms)
    looks.push([...rowsOf(mac.model)])
  }

  const dates = mac.model.file.db.query('SELECT date AS ns FROM message ORDER BY date').values()
  const now = mac.model.file.date(mac.clock.now())
  const anHourAgo = mac.model.file.date(mac.clock.now() - 100 - HOUR_MS)
  expect(looks.map((rows) => rows.length)).toEqual([0, 2])
  expect(dates.flat().map(Number)).toEqual([Number(anHourAgo), Number(now)])
})

test('the old rows of a back-fill have the highest ROWIDs', async () => {
  using mac = makeModelRig()
  mac.model.receive(FRIEND, 'before')

  await play(mac, 'backfill_500')

  const sql =
    'SELECT count(*) FROM message WHERE ROWID > 1 AND date < (SELECT date FROM message WHERE ROWID = 1)'
  expect(mac.model.file.db.query(sql).values()).toEqual([[500]])
})

test('a smaller database takes the place of the file, and a message comes into it', async () => {
  using mac = makeModelRig()
  const inode = await inodeOf(mac)

  await play(mac, 'replaced_by_smaller')

  expect(textsOf(mac)).toEqual(
    [7, 8, 9, 10, 11].map((i) => `number ${i}`).concat('after the restore'),
  )
  expect(maxima(mac)).toEqual([6, 6])
  expect(await inodeOf(mac)).not.toBe(inode)
})

test('ROWIDs that are renumbered stay in the same file, the oldest message highest', async () => {
  using mac = makeModelRig()
  const inode = await inodeOf(mac)

  await play(mac, 'rowids_renumbered')

  const texts = Array.from({ length: 12 }, (_, index) => `number ${11 - index}`)
  expect(textsOf(mac)).toEqual([...texts, 'after the rebuild'])
  expect(maxima(mac)).toEqual([13, 13])
  expect(await inodeOf(mac)).toBe(inode)
})

test('a Mac that sleeps has its wall clock go on; one that cannot puts off what follows', async () => {
  using asleep = makeModelRig()
  using awake = makeModelRig({ sleep: undefined })
  const start = asleep.clock.now()

  for (const mac of [asleep, awake]) {
    void mac.model.play(TRACES.sleep_of_8_hours.steps)
    await mac.clock.advance(2_000)
  }
  const early = [rowsOf(asleep.model).length, rowsOf(awake.model).length]
  await awake.clock.advance(8 * HOUR_MS)

  expect(early).toEqual([2, 1])
  expect(asleep.clock.now()).toBe(start + 2_000 + 8 * HOUR_MS)
  expect(rowsOf(awake.model)).toEqual(rowsOf(asleep.model))
})

test('a checkpoint in a trace empties the log, and what follows is written to it again', async () => {
  using mac = makeModelRig()
  const walBytes = () => Bun.file(`${mac.model.file.path}-wal`).size
  const sizes: number[] = []

  void mac.model.play(TRACES.checkpoints.steps)
  for (const ms of [499, 1, 999, 1]) {
    await mac.clock.advance(ms)
    sizes.push(walBytes())
  }

  expect(sizes.map((size) => size > 0)).toEqual([true, false, false, true])
})

test('a database that is opened again is another connection to the same file', async () => {
  using mac = makeModelRig()
  const { file } = mac.model
  mac.model.receive(FRIEND, 'before')

  mac.model.reopen()
  mac.model.receive(FRIEND, 'after')

  expect(() => file.db.query('SELECT 1').get()).toThrow('closed database')
  expect(textsOf(mac)).toEqual(['before', 'after'])
})

test('nothing is written once Messages is closed', async () => {
  using mac = makeModelRig()
  const ended = mac.model.play([...arrives(0, 'a', 'one'), ...arrives(1_000, 'b', 'two')])
  const { file } = mac.model

  mac.model.close()
  await mac.clock.advance(A_MINUTE_MS)

  await ended
  expect(() => file.db.query('SELECT 1').get()).toThrow('closed database')
})

test('what the relay records of a Mac can be played', async () => {
  using recorded = makeModelRig()
  using replayed = makeModelRig()
  const lines: string[] = []
  const controller = new AbortController()
  const { clock } = recorded
  const order = {
    path: recorded.model.file.path,
    forMs: A_MINUTE_MS,
    clock,
    random: systemRandom,
    write: (entry: object) => lines.push(JSON.stringify(entry)),
  }

  const ended = recordTrace(order, controller.signal)
  void recorded.model.play(TRACES.happy.steps)
  await clock.advance(10_000)
  void recorded.model.play(TRACES.group.steps)
  await clock.advance(A_MINUTE_MS)
  await ended
  void replayed.model.play(traceOfRecording(lines.join('\n')))
  await replayed.clock.advance(A_MINUTE_MS)

  expect(shapesOf(replayed)).toEqual(shapesOf(recorded))
  // The recording looks every 20 ms.
  expect(Math.abs(firstDateOf(replayed) - firstDateOf(recorded))).toBeLessThanOrEqual(20)
  expect(rowsOf(replayed.model)[0]).toMatch(
    /^message 1 -> #\w+ in #\w+, iMessage, sent delivered read$/,
  )
})

async function play(mac: Mac, name: keyof typeof TRACES): Promise<void> {
  const ended = mac.model.play(TRACES[name].steps)
  await mac.clock.advance(A_MINUTE_MS)
  await ended
}

function textsOf(mac: Mac): readonly string[] {
  return rowsOf(mac.model).map((row) => row.replace(/ -> .*/, ''))
}

async function inodeOf(mac: Mac): Promise<number> {
  return (await Bun.file(mac.model.file.path).stat()).ino
}

/** The highest ROWID of a message, and the highest that was ever given. */
function maxima(mac: Mac): readonly unknown[] {
  const sql = `SELECT max(ROWID), (SELECT seq FROM sqlite_sequence WHERE name = 'message') FROM message`
  return mac.model.file.db.query(sql).values()[0] ?? []
}

function firstDateOf(mac: Mac): number {
  const [[ms]] = mac.model.file.db.query('SELECT min(date) / 1000000 FROM message').values() as [
    [number],
  ] // One row.
  return ms
}

/** What a recording keeps of the rows, with their dates (in ms) from that of the first. */
function shapesOf(mac: Mac): readonly unknown[] {
  const sql = `SELECT item_type, group_action_type, is_from_me, is_sent, is_delivered, is_read, error,
      style, (date - min(date) OVER ()) / 1000000, (date_read - min(date) OVER ()) / 1000000
    FROM message m JOIN chat_message_join j ON j.message_id = m.ROWID
    JOIN chat c ON c.ROWID = j.chat_id ORDER BY m.ROWID`
  return mac.model.file.db.query(sql).values()
}
