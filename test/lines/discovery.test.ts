// Which lines there are: what drivers find, what vanishes, what comes back as another device, and a
// number that changes.

import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp, type BoxId, type LineId } from '../../src/domain/ids.ts'
import { OFFLINE_REASONS, type Line, type OfflineReason } from '../../src/domain/line.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { discoveryOf } from '../../src/lines/discovery.ts'
import { insertLine, listLines } from '../../src/storage/lines.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { DEVICE, MisbehavingDriver, untilAborted } from '../support/misbehaving-driver.ts'
import { TestClock } from '../support/test-clock.ts'
import { settle } from '../support/test-clock.ts'
import { createRig, memory, peek, startRig, type SupervisorRig } from './supervisor-rig.ts'

const numbers = (rig: SupervisorRig) => rig.supervisor.lines().map(({ line }) => line.number)

const reasons = (rig: SupervisorRig) =>
  rig.supervisor
    .lines()
    .map(({ state }) => (state.status === 'offline' ? state.reason.code : 'online'))

test('a device that is found becomes a line with the usual settings', async () => {
  const rig = await startRig([new MisbehavingDriver()])

  const { id, createdAt, ...line } = rig.line().line

  expect(line).toEqual({
    driver: 'mac',
    key: 'device-1',
    box: null,
    movesTo: null,
    number: '+12025550111',
    label: null,
    dailyContactLimit: 50,
    isEnabled: true,
    quietHours: null,
    relaySms: false,
    relayGroups: false,
    checkpoint: null,
  })
  expect(listLines(rig.db)).toEqual([{ id, createdAt, ...line }])
  await rig.stop()
})

test('a device whose number is not known yet is not listed until it is', async () => {
  const driver = new MisbehavingDriver('mac', [{ key: 'device-1', number: null }])
  const rig = await startRig([driver])
  const before = numbers(rig)

  driver.found = [DEVICE]
  await rig.clock.advance(5_000)

  expect([before, numbers(rig)]).toEqual([[], ['+12025550111']])
  await rig.stop()
})

test('lines are listed by creation, and a device that comes later is a line within five seconds', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])

  driver.found = [{ key: 'device-2', number: '+12025550122' }, DEVICE]
  await rig.clock.advance(5_000)

  expect(numbers(rig)).toEqual(['+12025550111', '+12025550122'])
  await rig.stop()
})

test('a device that vanishes leaves its line offline, and takes it up again when it is back', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])
  const { signal } = driver.visit()

  driver.found = []
  await rig.clock.advance(5_000)
  const gone = { reason: rig.reason(), isAborted: signal.aborted }
  driver.found = [DEVICE]
  await rig.clock.advance(5_000)

  expect(gone).toEqual({ reason: 'device_absent', isAborted: true })
  expect([rig.reason(), driver.visits.length]).toEqual([null, 2])
  await rig.stop()
})

test('a line whose driver is not there is absent; a simulated one is not configured', async () => {
  const db = memory()
  const stamps = new LogicalClock(new TestClock(1), systemRandom, 0)
  const rig = createRig([new MisbehavingDriver('simulated', [])], db)
  await rig.writer.write((tx) => {
    const device = { key: '1', box: null, number: '+12025550101', dailyContactLimit: 50 }
    insertLine(tx, stamps, { driver: 'mac', ...device })
    insertLine(tx, stamps, { driver: 'simulated', ...device })
  })

  const second = await startRig([new MisbehavingDriver('simulated', [])], db)

  expect(reasons(second)).toEqual(['device_absent', 'not_configured'])
  expect(second.supervisor.lines().map(({ isConfigured }) => isConfigured)).toEqual([true, false])
  await second.stop()
})

test('a new device with the number of one vanished line takes it over', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])
  const { id } = rig.line().line
  await driver.visit().listener.onEvent({ type: 'checkpoint', checkpoint: 'seven' })

  driver.found = [{ key: 'new-mac', number: '+12025550111' }]
  await rig.clock.advance(5_000)

  const { line } = rig.line()
  expect([line.id, line.key, line.checkpoint]).toEqual([id, 'new-mac', 'seven'])
  expect(driver.visit().line.key).toBe('new-mac')
  expect(rig.reason()).toBeNull()
  await rig.stop()
})

test('a number that changes takes the line offline until the owner accepts it', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])
  const { id } = rig.line().line

  driver.found = [{ key: 'device-1', number: '+12025550199' }]
  await rig.clock.advance(5_000)
  const before = { reason: rig.reason(), visits: driver.visits.length }
  await rig.supervisor.adopt(id, id, COMMAND_LINE)
  await settle()

  expect(before).toEqual({ reason: 'number_changed', visits: 1 })
  expect([rig.line().line.number, rig.reason()]).toEqual(['+12025550199', null])
  await rig.stop()
})

test('a session with another number is not used', async () => {
  const driver = new MisbehavingDriver('mac', [DEVICE])
  const rig = createRig([driver])
  driver.attending = async ({ listener, signal }) => {
    const number = driver.visits.length === 1 ? '+12025550199' : '+12025550111'
    driver.found = [{ key: 'device-1', number: null }]
    await listener.onEvent(driver.online(number))
    await untilAborted(signal)
  }
  await rig.start()
  const before = rig.reason()

  await rig.clock.advance(1_000)

  expect([before, rig.reason()]).toEqual(['number_changed', null])
  await rig.stop()
})

test('a driver that hangs is asked once, and holds up no other', async () => {
  const hanging = new MisbehavingDriver('iphone')
  hanging.discovering = () => new Promise(() => {})
  const rig = await startRig([hanging, new MisbehavingDriver()])
  const found = numbers(rig)

  await rig.clock.advance(60_000)

  expect([found, hanging.discoveries]).toEqual([['+12025550111'], 1])
  const findings = await rig.supervisor.checkup(new AbortController().signal)
  expect(findings.map(({ code, title }) => [code, title])).toEqual([
    ['driver_failed', 'The iphone driver cannot look for its devices'],
  ])
  await rig.stop()
})

test('a driver that cannot look for devices loses none', async () => {
  const driver = new MisbehavingDriver()
  const rig = await startRig([driver])

  driver.discovering = () => Promise.reject(new Error('usb is busy'))
  await rig.clock.advance(60_000)

  expect([rig.reason(), driver.visits.length]).toEqual([null, 1])
  expect(rig.logged.filter(({ level }) => level === 'warn').length).toBe(1)
  await rig.stop()
})

test('a driver that tells of its devices itself is still asked again soon after it failed', async () => {
  const driver = new MisbehavingDriver()
  const telling = Object.assign(driver, { lookEveryMs: DAY_MS })
  driver.discovering = () => Promise.reject(new Error('the disk is full'))
  const rig = await startRig([telling])

  driver.discovering = async () => driver.found
  await rig.clock.advance(5_000)
  const found = { numbers: numbers(rig), discoveries: driver.discoveries }
  await rig.clock.advance(60_000)

  expect(found).toEqual({ numbers: ['+12025550111'], discoveries: 2 })
  expect(driver.discoveries).toBe(2)
  await rig.stop()
})

test('the supervisor is ready when every line has told its state, or after five seconds', async () => {
  const driver = new MisbehavingDriver()
  const silent = new MisbehavingDriver('iphone', [{ key: 'phone', number: '+12025550133' }])
  silent.attending = ({ signal }) => untilAborted(signal)
  const quick = await startRig([driver])
  const slow = await startRig([new MisbehavingDriver(), silent])

  await quick.supervisor.whenReady()
  const ready = slow.supervisor.whenReady().then(() => 'ready')
  await slow.clock.advance(4_999)
  const before = await peek(ready)
  await slow.clock.advance(1)

  expect([before, await ready]).toEqual(['pending', 'ready'])
  await Promise.all([quick.stop(), slow.stop()])
})

const HERE = { boxAbsence: () => null, isReal: true, isHereKnown: true }

const LINE: Line = {
  id: 'line_a' as LineId, // Any id does.
  driver: 'mac',
  key: 'a',
  box: null,
  movesTo: null,
  number: '+1',
  label: null,
  dailyContactLimit: 50,
  isEnabled: true,
  quietHours: null,
  relaySms: false,
  relayGroups: false,
  checkpoint: null,
  createdAt: timestamp(0),
}

test('a number that two vanished lines have makes a new line of its device', () => {
  const other = { ...LINE, id: 'line_b' as LineId, key: 'b' } // Any id does.

  const discovery = discoveryOf([LINE, other], [{ key: 'c', number: '+1' }], HERE)

  const arrivals = [{ key: 'c', number: '+1', box: null }]
  const absent = [LINE, other].map(({ id }) => ({ id, reason: null }))
  expect(discovery).toEqual({ present: [], absent, takeOvers: [], arrivals })
})

test('a device that is listed twice is one line', () => {
  const found = { key: 'a', number: '+1' }

  const discovery = discoveryOf([], [found, found], HERE)

  expect(discovery).toEqual({
    present: [],
    absent: [],
    takeOvers: [],
    arrivals: [{ ...found, box: null }],
  })
})

const [STUDIO, ATTIC] = ['box_studio', 'box_attic'] as unknown as readonly [BoxId, BoxId] // Any ids do.

function boxesWith(reasons: Readonly<Record<string, OfflineReason>>) {
  return { boxAbsence: (box: BoxId) => reasons[box] ?? null, isReal: true, isHereKnown: true }
}

test('while the devices of this machine are unknown, its lines stay as they are, and those of boxes go on', () => {
  const away = { ...LINE, id: 'line_c' as LineId, key: 'c', number: '+3', box: ATTIC } // Any id does.
  const found = [
    { key: 'b', number: '+2', box: STUDIO },
    { key: 'd', number: LINE.number, box: STUDIO },
  ]

  const discovery = discoveryOf([LINE, away], found, { ...HERE, isHereKnown: false })

  expect(discovery).toEqual({
    present: [],
    absent: [{ id: away.id, reason: null }],
    takeOvers: [],
    arrivals: found,
  })
})

test('a line that moves to a box arrives there while the devices of this machine are unknown', () => {
  const moving = { ...LINE, movesTo: STUDIO }
  const found = [{ key: 'd', number: LINE.number, box: STUDIO }]

  const { takeOvers } = discoveryOf([moving], found, { ...HERE, isHereKnown: false })

  expect(takeOvers).toEqual([{ id: LINE.id, ...found[0] }] as typeof takeOvers)
})

test('one key on two machines is two devices', () => {
  const found = [
    { key: 'a', number: '+1' },
    { key: 'a', number: '+2', box: STUDIO },
  ]

  const discovery = discoveryOf([LINE], found, HERE)

  expect(discovery.present).toEqual([{ id: LINE.id, number: '+1', obstacle: null }])
  expect(discovery.arrivals).toEqual([{ key: 'a', number: '+2', box: STUDIO }])
})

test('a line of a box that is away keeps its place, and no other machine continues it', () => {
  const line = { ...LINE, box: STUDIO }
  const reason = OFFLINE_REASONS.box_unreachable
  const found = [{ key: 'b', number: '+1', box: ATTIC }]

  const discovery = discoveryOf([line], found, boxesWith({ [STUDIO]: reason }))

  expect(discovery.absent).toEqual([{ id: LINE.id, reason }])
  expect(discovery.arrivals).toEqual(found)
})

test('another machine continues the line of a removed box', () => {
  const line = { ...LINE, box: STUDIO }
  const found = { key: 'b', number: '+1', box: ATTIC }

  const discovery = discoveryOf(
    [line],
    [found],
    boxesWith({ [STUDIO]: OFFLINE_REASONS.box_removed }),
  )

  expect(discovery.takeOvers).toEqual([{ id: LINE.id, ...found }])
})

test('of two machines with one number, the newer line waits for its owner', () => {
  const newer = { ...LINE, id: 'line_b' as LineId, box: ATTIC } // Any id does.
  const found = [
    { key: 'a', number: '+1' },
    { key: 'a', number: '+1', box: ATTIC },
  ]

  const { present } = discoveryOf([LINE, newer], found, HERE)

  const obstacle = OFFLINE_REASONS.number_twice
  expect(present).toEqual([
    { id: LINE.id, number: '+1', obstacle: null },
    { id: newer.id, number: '+1', obstacle },
  ])
})

test('a line that moves waits for its number at the other machine, even while its device is there', () => {
  const line = { ...LINE, movesTo: STUDIO }
  const old = { key: 'a', number: '+1' }
  const elsewhere = { key: 'b', number: '+1', box: ATTIC }
  const arrived = { key: 'b', number: '+1', box: STUDIO }

  const waiting = discoveryOf([line], [old, elsewhere], HERE)
  const moved = discoveryOf([line], [old, arrived], HERE)

  expect(waiting.absent).toEqual([{ id: LINE.id, reason: OFFLINE_REASONS.line_moving }])
  expect(waiting.arrivals).toEqual([elsewhere])
  expect(moved.takeOvers).toEqual([{ id: LINE.id, ...arrived }])
  expect(moved.arrivals).toEqual([])
})

test('a line that moves to a machine comes before one of a removed box with its number', () => {
  const removed = { ...LINE, box: ATTIC }
  const moving = { ...LINE, id: 'line_b' as LineId, movesTo: STUDIO } // Any id does.
  const arrived = { key: 'b', number: '+1', box: STUDIO }

  const { takeOvers, arrivals } = discoveryOf(
    [removed, moving],
    [arrived],
    boxesWith({ [ATTIC]: OFFLINE_REASONS.box_removed }),
  )

  expect(takeOvers).toEqual([{ id: moving.id, ...arrived }])
  expect(arrivals).toEqual([])
})
