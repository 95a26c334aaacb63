// One send on a box: a grant, a row in the journal, an act, an outcome.

import { expect, test } from 'bun:test'

import type { MessageId } from '../../src/domain/ids.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { accepts, guidOf } from '../support/scripted-driver.ts'
import { Stage, UNUSED } from './stage.ts'

const HELLO = 'msg_hello' as MessageId // As `messageOf` makes it.

test('a message leaves with its row in the journal, and its outcome comes up', async () => {
  using stage = await Stage.running()
  const rows: unknown[] = []
  stage.device.script = async (message, pass) => {
    await pass('note of the driver')
    rows.push(stage.rig.box?.journal.find(message.id))
    return { outcome: 'accepted', guid: guidOf(1) }
  }

  const { notes } = stage.line.send('hello')
  const sent = stage.line.send('again')
  await stage.clock.advance(0)

  const row = { session: '1.1', note: 'note of the driver', outcome: null }
  expect(rows).toEqual([row, row])
  expect(sent.outcome).toEqual({ outcome: 'accepted', guid: guidOf(1) })
  const boot = stage.rig.box?.journal.boot
  expect(JSON.parse(notes[0] ?? '')).toMatchObject({ boot, session: '1.1', note: row.note })
})

test('a grant that comes after eight seconds is never used', async () => {
  using stage = await Stage.running()
  stage.loseAnswers('isGranted')

  const sent = stage.line.send('hello')
  await stage.clock.advance(7_900)
  expect(sent.outcome).toBeNull()
  await stage.clock.advance(2_200)
  stage.rig.network.loses = () => false
  await stage.clock.advance(10_000)

  expect(sent.outcome).toEqual(UNUSED)
  expect(sent.notes.length).toBe(1)
  expect(stage.device.sent).toEqual([])
  expect(stage.rig.box?.journal.find(HELLO)).toBeNull()
})

test('a grant whose first answer is lost is asked for again, and the relay is asked once', async () => {
  using stage = await Stage.running()
  stage.loseAnswers('isGranted', 2)

  const sent = stage.line.send('hello')
  await stage.clock.advance(7_000)

  expect(sent.outcome?.outcome).toBe('accepted')
  expect(sent.notes.length).toBe(1)
  expect(stage.device.sent.length).toBe(1)
})

test('nothing leaves where the journal cannot be written', async () => {
  using stage = await Stage.running()
  stage.fillJournal('INSERT')

  const sent = stage.line.send('hello')
  await stage.clock.advance(0)

  expect(sent.outcome).toEqual(UNUSED)
  expect(stage.device.sent).toEqual([])
})

test('a message that may have left is not handed to the device again, one of which nothing was kept is', async () => {
  using stage = await Stage.running()
  stage.device.script = async (_message, pass) => {
    await pass(null)
    return { outcome: 'not_sent', reason: 'busy', blame: 'line' }
  }
  const unsent = stage.line.send('hello')
  await stage.clock.advance(0)
  stage.device.script = accepts
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)

  const again = stage.line.send('hello')
  await stage.clock.advance(0)

  expect([unsent.outcome?.outcome, sent.outcome?.outcome]).toEqual(['not_sent', 'accepted'])
  expect(again.outcome).toEqual(sent.outcome)
  expect(again.notes).toEqual([])
  expect(stage.device.sent.length).toBe(1)
})

test('an outcome and a request that come twice count once', async () => {
  using stage = await Stage.running()
  stage.loseAnswers('isTaken', 3)

  const sent = stage.line.send('hello')
  await stage.clock.advance(20_000)

  expect(sent.outcome?.outcome).toBe('accepted')
  expect(stage.device.given.length).toBe(1)
  expect(stage.line.events.map(({ type }) => type)).toEqual(['online'])
})

test('a driver that fails before the grant has not sent, and behind it nobody can say', async () => {
  using stage = await Stage.running()
  stage.device.script = () => Promise.reject(new Error('broken'))
  const before = stage.line.send('before')
  await stage.clock.advance(0)
  stage.device.script = async (_message, pass) => {
    await pass(null)
    throw new Error('broken')
  }
  const behind = stage.line.send('behind')
  await stage.clock.advance(0)

  expect(before.outcome).toEqual({ outcome: 'not_sent', reason: 'driver_error', blame: 'line' })
  expect(behind.outcome).toEqual({ outcome: 'unknown', reason: 'driver_error' })
})

test('what was granted when the box died is proven unsent by its journal, unless that was wiped', async () => {
  for (const isWiped of [false, true]) {
    using stage = await Stage.running()
    stage.loseAnswers('isGranted')
    const sent = stage.line.send('hello')
    await stage.clock.advance(100)

    if (isWiped) stage.rig.wipeJournal()
    await stage.dieAndReturn()

    const unknown = { outcome: 'unknown', reason: 'session_ended' } as const
    expect(sent.outcome).toEqual(isWiped ? unknown : UNUSED)
    expect(String(await stage.line.ended)).toContain('The box has started again.')
  }
})

test('what was granted when the box died has the outcome of its journal', async () => {
  using stage = await Stage.running()
  stage.rig.network.loses = ({ text }) => text.includes('"outcome"')
  const sent = stage.line.send('sent')
  await stage.clock.advance(0)
  stage.device.script = async (_message, pass) => {
    await pass(null)
    return new Promise(() => {})
  }
  const open = stage.line.send('open')
  await stage.clock.advance(0)

  await stage.dieAndReturn()

  expect(sent.outcome?.outcome).toBe('accepted')
  expect(open.outcome).toEqual({ outcome: 'unknown', reason: 'session_ended' })
})

test('a box that stays away leaves a granted message uncertain after 90 s, and settles it when it is back', async () => {
  using stage = await Stage.running()
  const asked = messageOf('hello')
  stage.rig.network.loses = ({ text }) => text.includes('"outcome"')
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)
  stage.rig.network.loses = () => true

  await stage.clock.advance(90_000)
  expect(sent.outcome).toBeNull()
  await stage.clock.advance(8_000)

  expect(sent.outcome).toEqual({ outcome: 'unknown', reason: 'session_ended' })
  stage.rig.network.loses = () => false
  await stage.clock.advance(3_000)
  const back = await stage.run({ unsettled: [{ message: asked, note: sent.notes[0] ?? null }] })
  const outcome = { outcome: 'accepted', guid: expect.any(String) }
  expect(back.settled()).toEqual([{ type: 'settled', messageId: HELLO, outcome } as never])
})

test('what the device proves unsent after a crash goes again by the same box', async () => {
  using stage = await Stage.open()
  stage.device.script = async (_message, pass) => {
    await pass('inner')
    return new Promise(() => {})
  }
  const dead = (await stage.run()).send('hello')
  await stage.clock.advance(0)
  await stage.restart()
  await stage.clock.advance(0)
  stage.device.script = accepts
  const unsettled = [{ message: messageOf('hello'), note: dead.notes[0] ?? null }]
  const run = await stage.run({ unsettled })

  await stage.device.settle(HELLO, UNUSED)
  const sent = run.send('hello')
  await stage.clock.advance(0)

  expect(stage.device.attended.at(-1)?.unsettled.map(({ note }) => note)).toEqual(['inner'])
  expect(run.settled()).toEqual([{ type: 'settled', messageId: HELLO, outcome: UNUSED }])
  expect(sent.outcome?.outcome).toBe('accepted')
})

test('an unsettled message without a row is proven unsent only by the journal that made its note', async () => {
  using stage = await Stage.open()
  const boot = stage.rig.box?.journal.boot
  const note = (more: object) =>
    JSON.stringify({
      box: 'box_00000000000000000000000000',
      boot,
      session: '1.9',
      note: 'inner',
      ...more,
    })
  const notes = [note({}), note({ boot: 'another' }), note({ box: 'box_other' }), 'raw', null]
  const unsettled = notes.map((each, place) => ({ message: messageOf(`m${place}`), note: each }))

  const run = await stage.run({ unsettled })

  expect(run.settled()).toEqual([
    { type: 'settled', messageId: 'msg_m0', outcome: UNUSED } as never,
  ])
  const given = stage.device.attended[0]?.unsettled.map(({ message, note }) => [message.text, note])
  expect(given).toEqual([
    ['m1', 'inner'],
    ['m2', null],
    ['m3', null],
    ['m4', null],
  ])
})

test('an outcome that the journal cannot take is written as soon as it can', async () => {
  using stage = await Stage.running()
  stage.fillJournal('UPDATE')
  const sent = stage.line.send('hello')
  await stage.clock.advance(5_000)
  expect(sent.outcome?.outcome).toBe('accepted')
  expect(stage.rig.box?.journal.find(HELLO)?.outcome).toBeNull()

  stage.rig.journalDatabase.run('DROP TRIGGER full')
  await stage.clock.advance(1_000)

  expect(stage.rig.box?.journal.find(HELLO)?.outcome).toEqual(sent.outcome)
})
