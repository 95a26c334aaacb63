// A journal that was put back as it was some time before: what it lacks, it must not prove.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'

import { Journal } from '../../src/boxes/journal.ts'
import type { MessageId } from '../../src/domain/ids.ts'
import { systemRandom } from '../../src/system/random.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { accepts } from '../support/scripted-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { Stage, UNUSED } from './stage.ts'

const HELLO = 'msg_hello' as MessageId // As `messageOf` makes it.
const UNKNOWN = { outcome: 'unknown', reason: 'session_ended' } as const

const copyOf = (database: Database) => Database.deserialize(database.serialize(), { strict: true })

/** A stage with a message in the hands of its device, and the journal of before. */
async function inHand() {
  const stage = await Stage.running()
  const copy = copyOf(stage.rig.journalDatabase)
  stage.device.script = async (_message, pass) => {
    await pass('inner')
    return new Promise(() => {})
  }
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)
  expect(sent.notes.length).toBe(1)
  return { stage, copy, sent }
}

test('a message in the hands of a device is not sent again by a journal that was put back', async () => {
  const { stage, copy, sent } = await inHand()

  stage.rig.journalDatabase = copy
  await stage.dieAndReturn()

  expect(sent.outcome).toEqual(UNKNOWN)
  stage[Symbol.dispose]()
})

test('it is not proven unsent later either, when the copy has counted on', async () => {
  const { stage, copy, sent } = await inHand()
  stage.rig.journalDatabase = copy
  await stage.dieAndReturn()
  stage.device.script = accepts
  const between = await stage.run()
  for (const text of ['a', 'b', 'c']) between.send(text)
  await stage.clock.advance(0)
  expect(stage.device.sent.map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  between.end()
  await stage.clock.advance(1_000)

  const note = sent.notes[0] ?? null
  const later = await stage.run({ unsettled: [{ message: messageOf('hello'), note }] })

  expect(later.settled()).toEqual([])
  expect(stage.device.attended.at(-1)?.unsettled.map(({ note }) => note)).toEqual(['inner'])
  stage[Symbol.dispose]()
})

test('a message whose grant was lost is proven unsent if the journal is whole, also without a count', async () => {
  for (const hasCount of [true, false]) {
    using stage = await Stage.running()
    stage.loseAnswers('isGranted')
    const sent = stage.line.send('hello')
    await stage.clock.advance(100)
    await stage.dieAndReturn()
    expect(sent.outcome).toEqual(UNUSED)

    const { mark, ...noted } = JSON.parse(sent.notes[0] ?? '')
    expect(mark).toBe(1)
    const note = JSON.stringify(hasCount ? { ...noted, mark } : noted)
    const later = await stage.run({ unsettled: [{ message: messageOf('hello'), note }] })
    expect(later.settled()).toEqual([{ type: 'settled', messageId: HELLO, outcome: UNUSED }])
  }
})

test('a row of nothing that was left says nothing if a later send may be missing', async () => {
  const tools = { clock: new TestClock(), random: systemRandom, machine: 'mac' }
  const database = new Database(':memory:', { strict: true })
  // As a version without counts made it.
  database.run(
    'CREATE TABLE boots (seq INTEGER PRIMARY KEY, boot TEXT NOT NULL UNIQUE, machine TEXT NOT NULL) STRICT',
  )
  const first = new Journal(database, tools)
  const send = async () => {
    const mark = await first.raiseMark()
    const entry = {
      session: '1.1',
      line: 'line_1' as never,
      message: messageOf('hello'),
      note: null,
    }
    await first.insert(entry, () => true)
    return { boot: first.boot, session: '1.1', mark }
  }
  const made = await send()
  await first.settle(HELLO, '1.1', { outcome: 'not_sent', reason: 'busy', blame: 'line' })
  const copy = copyOf(database)
  const again = await send()

  const restored = new Journal(copy, tools)

  expect(first.recordOf(HELLO, again)).toMatchObject({ session: '1.1', outcome: null })
  expect(restored.recordOf(HELLO, made)).toMatchObject({ outcome: { reason: 'busy' } })
  expect(restored.recordOf(HELLO, again)).toBe('lost')
})
