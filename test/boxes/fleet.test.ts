// Which boxes are there: hellos, two machines with one name, versions, epochs, and what the supervisor makes of it.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import { NEVER } from '../../src/system/clock.ts'
import { createRig, grant } from '../lines/supervisor-rig.ts'
import { BOX, BoxRig } from '../support/box-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { settle, TestClock } from '../support/test-clock.ts'
import { NUMBER, Stage } from './stage.ts'

const reasonOf = ({ rig }: Stage) => rig.fleet.absence(BOX)?.code ?? null
const snapshotOf = ({ rig }: Stage) => rig.fleet.snapshot(BOX)

test('a box is there from its first hello on, with two hellos lost too, and away after seven seconds of silence', async () => {
  using stage = new Stage()
  expect(reasonOf(stage)).toBe('box_unreachable')
  await stage.restart()
  const changes: (string | null)[] = []
  stage.rig.fleet.onChange(() => changes.push(reasonOf(stage)))
  expect(reasonOf(stage)).toBeNull()
  expect(stage.rig.fleet.devices('mac')).toEqual([{ key: 'device-1', number: NUMBER, box: BOX }])
  await stage.clock.advance(10_000)
  let lost = 2
  stage.rig.network.loses = ({ text }) => text.includes('"hello"') && lost-- > 0
  await stage.clock.advance(10_000)
  expect(lost).toBeLessThanOrEqual(0)

  stage.rig.network.loses = () => true
  await stage.clock.advance(6_900)
  expect(changes).toEqual([])
  await stage.clock.advance(200)

  expect(changes).toEqual(['box_unreachable'])
  expect(stage.rig.fleet.devices('mac')).toEqual([])
  expect(snapshotOf(stage)).toMatchObject({ isHeard: false, version: '1.4.0' })
})

test('a second machine with the same box is refused while the first answers', async () => {
  using stage = await Stage.open()
  const first = stage.rig.fleet.bootOf(BOX)
  const copy = stage.rig.launch([stage.driver], { machine: 'copy' })
  await settle()

  expect(stage.rig.fleet.bootOf(BOX)).toBe(first)
  expect(snapshotOf(stage)?.isTwice).toBe(true)
  expect(copy.agent.status()).toMatchObject({ isHeard: true, refused: 'box_twice' })

  stage.rig.box?.kill()
  await stage.clock.advance(2_000)
  expect(stage.rig.fleet.bootOf(BOX)).toBe(copy.journal.boot)
  await stage.clock.advance(10_000)
  expect(snapshotOf(stage)?.isTwice).toBe(false)
  copy.kill()
})

test('a hello of a process that is gone changes nothing', async () => {
  using stage = await Stage.open()
  const hellos: [string, string][] = []
  stage.rig.network.loses = ({ direction, subject, text }) => {
    if (direction === 'request' && text.includes('"hello"')) hellos.push([subject, text])
    return false
  }
  await stage.clock.advance(2_000)
  await stage.restart()
  const [subject, text] = hellos[0] ?? ['', '']
  const { boot } = stage.rig.box?.journal ?? {}

  const late = stage.rig.network.link().ask(subject, text, 1_000)
  late.catch(() => {})
  await stage.clock.advance(1_000)

  expect(late).rejects.toThrow('No answer.')
  expect(stage.rig.fleet.bootOf(BOX)).toBe(boot ?? '')
  expect(snapshotOf(stage)?.isTwice).toBe(false)
})

test('a head that starts hears no box by a hello that was said again, and the box by its own', async () => {
  using stage = await Stage.open()
  const hellos: [string, string][] = []
  stage.rig.network.loses = ({ direction, subject, text }) => {
    if (direction === 'request' && text.includes('"hello"')) hellos.push([subject, text])
    return false
  }
  await stage.clock.advance(2_000)
  stage.rig.box?.kill()
  using started = new BoxRig(stage.clock)
  const [subject, text] = hellos[0] ?? ['', '']

  const late = started.network
    .link()
    .ask(subject, text, 1_000)
    .catch(() => 'none')
  await stage.clock.advance(1_000)
  const whileAway = [await late, started.fleet.absence(BOX)?.code]
  await started.heardFrom(started.start([stage.driver]), 'mac')

  expect(whileAway).toEqual(['none', 'box_unreachable'])
  expect(started.fleet.absence(BOX)).toBeNull()
})

test('a box that is too old is outdated, and one that was removed is removed', async () => {
  using stage = new Stage()
  stage.rig.start([stage.driver], { version: '1.1.9' })
  await settle()
  expect(reasonOf(stage)).toBe('box_outdated')
  expect(stage.rig.fleet.devices('mac')).toEqual([])

  await stage.rig.heardFrom(stage.rig.start([stage.driver], { version: '1.2.0' }), 'mac')
  expect(reasonOf(stage)).toBeNull()

  stage.rig.removedAt = { removedAt: timestamp(1) }
  await stage.clock.advance(2_000)
  expect(reasonOf(stage)).toBe('box_removed')
  expect(stage.rig.box?.agent.status().refused).toBe('box_removed')
})

test('a box that has seen a later epoch is given one above it', async () => {
  using stage = new Stage()
  const box = stage.rig.start([])
  await box.journal.raiseFence(7)
  await stage.clock.advance(4_000)

  expect([...stage.rig.epochs.values()]).toEqual([8])
  expect(stage.rig.fleet.epochOf(BOX)).toBe(8)
  expect(box.journal.fence).toBe(8)
  expect(box.agent.status()).toMatchObject({ isHeard: true })
})

test('sessions are named by epoch and count, and a session of the driver keeps its object', async () => {
  using stage = await Stage.open()
  const first = await stage.run()
  const session = first.session()
  await stage.device.emit({ ...onlineOf(first), imessageActive: false })
  await stage.clock.advance(0)
  expect(first.session()).toBe(session)

  await stage.device.goOnline()
  await stage.clock.advance(0)
  expect(first.session()).not.toBe(session)
  expect(stage.rig.box?.agent.status().sessions).toEqual(['1.1'])

  first.end()
  await stage.clock.advance(0)
  await stage.run()
  expect(stage.rig.box?.agent.status().sessions).toEqual(['1.2'])

  function onlineOf({ events }: typeof first) {
    const online = events.find(({ type }) => type === 'online')
    if (online?.type !== 'online') throw new Error('It is not online.')
    return { ...online, session: stage.device.lastSession() }
  }
})

test('findings of a box name it, and a box that does not answer is one', async () => {
  using stage = await Stage.open()
  const finding = {
    code: 'automation_denied',
    severity: 'error',
    title: 'T',
    why: 'W',
    fix: 'F',
  } as const
  stage.driver.checkup = async () => [{ ...finding, key: null, depends_on: null }]
  const joined = stage.rig.joined('mac')

  expect(await joined.checkup(NEVER)).toEqual([
    { ...finding, key: null, depends_on: null, box: BOX },
  ])

  stage.rig.network.loses = ({ text }) => text.includes('"checkup"')
  const asked = joined.checkup(NEVER)
  await stage.clock.advance(4_000)
  expect((await asked).map(({ code, box }) => [code, box])).toEqual([['driver_failed', BOX]])
})

test('a box that leaves lets its sends end, and is away at once', async () => {
  using stage = await Stage.running()
  stage.device.script = async (_message, pass) => {
    await pass(null)
    await stage.clock.sleep(3_000, NEVER)
    return { outcome: 'accepted', guid: 'G' }
  }
  const sent = stage.line.send('hello')
  await stage.clock.advance(100)

  let isOver = false
  void stage.rig.box?.stop().then(() => (isOver = true))
  await stage.clock.advance(500)
  expect([reasonOf(stage), isOver]).toEqual(['box_unreachable', false])
  await stage.clock.advance(4_000)

  expect(sent.outcome).toEqual({ outcome: 'accepted', guid: 'G' })
  expect(isOver).toBe(true)
})

/** A supervisor over the fleet, with the line of a box. */
async function supervised() {
  const mac = new ScriptedDriver()
  const device = mac.add(NUMBER)
  const boxes: { rig: BoxRig | null } = { rig: null }
  const rig = createRig(
    (clock: TestClock) => {
      boxes.rig = new BoxRig(clock)
      return [boxes.rig.joined('mac')]
    },
    undefined,
    {
      absence: (box) => boxes.rig?.fleet.absence(box) ?? null,
      devices: (kind) => boxes.rig?.fleet.devices(kind) ?? [],
      linesMax: () => 10,
    },
  )
  if (boxes.rig === null) throw new Error('It was made.')
  const box = boxes.rig.start([mac])
  await boxes.rig.heardFrom(box, 'mac')
  await rig.start()
  await rig.clock.advance(1_000)
  return { rig, boxes: boxes.rig, mac, device }
}

test('a line of a box that is away is back within a second of the first hello, however often', async () => {
  const { rig, boxes } = await supervised()
  expect(rig.line()).toMatchObject({ line: { box: BOX }, state: { status: 'online' } })

  for (let i = 0; i < 5; i += 1) {
    boxes.network.loses = () => true
    await rig.clock.advance(9_000)
    expect(rig.reason()).toBe('box_unreachable')
    boxes.network.loses = () => false
    while (boxes.fleet.absence(BOX) !== null) await rig.clock.advance(100)
    await rig.clock.advance(1_000)
    expect(rig.line().state.status).toBe('online')
  }
  boxes[Symbol.dispose]()
})

test('a message goes by a line of a box, and is withdrawn where the box goes before its grant', async () => {
  const { rig, boxes, device } = await supervised()

  const sent = rig.send('hello')
  await settle()
  expect((await sent).outcome.outcome).toBe('accepted')

  device.script = async () => new Promise(() => {})
  const stuck = rig.send('stuck', grant)
  await settle()
  boxes.box?.kill()
  await rig.clock.advance(7_000)
  expect(await stuck).toMatchObject({ outcome: { outcome: 'not_sent', reason: 'withdrawn' } })
  boxes[Symbol.dispose]()
})

test('a box brings ten lines by itself, and more once the owner allows them', async () => {
  const mac = new ScriptedDriver()
  const boxes = new BoxRig(new TestClock())
  const allowed = { count: 10 }
  for (let i = 0; i < 30; i += 1) mac.add(`+1202555${1_000 + i}`)
  const rig = createRig([boxes.joined('mac')], undefined, {
    absence: (box) => boxes.fleet.absence(box),
    devices: (kind) => boxes.fleet.devices(kind),
    linesMax: () => allowed.count,
  })
  await boxes.heardFrom(boxes.start([mac]), 'mac')

  await rig.start()
  await settle()
  const first = rig.supervisor.lines().length
  allowed.count = 12
  boxes.fleet.changed()
  await settle()
  await rig.clock.advance(0)

  expect([first, rig.supervisor.lines().length]).toEqual([10, 12])
  boxes[Symbol.dispose]()
})
