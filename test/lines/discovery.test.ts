// Which lines there are: what drivers find, what vanishes, what comes back as another device, and a
// number that changes.

import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { BoxId, LineId } from '../../src/domain/ids.ts'
import { OFFLINE_REASONS, type Line, type OfflineReason } from '../../src/domain/line.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { discoveryOf, type Discovery } from '../../src/lines/discovery.ts'
import { insertLine, listLines } from '../../src/storage/lines.ts'
import { DEVICE, MisbehavingDriver, untilAborted } from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'
import { createRig, LINE, peek, startRig, type SupervisorRig } from './supervisor-rig.ts'

const numbers = (rig: SupervisorRig) => rig.supervisor.lines().map(({ line }) => line.number)

const reasons = (rig: SupervisorRig) =>
  rig.supervisor
    .lines()
    .map(({ state }) => (state.status === 'offline' ? state.reason.code : 'online'))

test('a device that is found becomes a line with the usual settings', async () => {
  await using rig = await startRig([new MisbehavingDriver()])

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
})

test('a device whose number is not known yet is not listed until it is', async () => {
  const driver = new MisbehavingDriver('mac', [{ key: 'device-1', number: null }])
  await using rig = await startRig([driver])
  const before = numbers(rig)

  driver.found = [DEVICE]
  await rig.clock.advance(5_000)

  expect([before, numbers(rig)]).toEqual([[], ['+12025550111']])
})

test('lines are listed by creation, and a device that comes later is a line within five seconds', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])

  driver.found = [{ key: 'device-2', number: '+12025550122' }, DEVICE]
  await rig.clock.advance(5_000)

  expect(numbers(rig)).toEqual(['+12025550111', '+12025550122'])
})

test('a device that vanishes leaves its line offline, and takes it up again when it is back', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { signal } = driver.visit()

  driver.found = []
  await rig.clock.advance(5_000)
  const gone = { reason: rig.reason(), isAborted: signal.aborted }
  driver.found = [DEVICE]
  await rig.clock.advance(5_000)

  expect(gone).toEqual({ reason: 'device_absent', isAborted: true })
  expect([rig.reason(), driver.visits.length]).toEqual([null, 2])
})

test('a line whose driver is not there is absent; a simulated one is not configured', async () => {
  const storage = openTestStorage()
  const { ids } = storage
  await using rig = createRig([new MisbehavingDriver('simulated', [])], storage)
  await rig.writer.write((tx) => {
    const device = { key: '1', box: null, number: '+12025550101', dailyContactLimit: 50 }
    insertLine(tx, ids, { driver: 'mac', ...device })
    insertLine(tx, ids, { driver: 'simulated', ...device })
  })

  await using second = await startRig([new MisbehavingDriver('simulated', [])], storage)

  expect(reasons(second)).toEqual(['device_absent', 'not_configured'])
  expect(second.supervisor.lines().map(({ isConfigured }) => isConfigured)).toEqual([true, false])
})

test('a new device with the number of one vanished line takes it over', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line
  await driver.visit().listener.onEvent({ type: 'checkpoint', checkpoint: 'seven' })

  driver.found = [{ key: 'new-mac', number: '+12025550111' }]
  await rig.clock.advance(5_000)

  const { line } = rig.line()
  expect([line.id, line.key, line.checkpoint]).toEqual([id, 'new-mac', 'seven'])
  expect(driver.visit().line.key).toBe('new-mac')
  expect(rig.reason()).toBeNull()
})

test('a number that changes takes the line offline until the owner accepts it', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line

  driver.found = [{ key: 'device-1', number: '+12025550199' }]
  await rig.clock.advance(5_000)
  const before = { reason: rig.reason(), visits: driver.visits.length }
  await rig.supervisor.admin.adopt(id, id, COMMAND_LINE)
  await settle()

  expect(before).toEqual({ reason: 'number_changed', visits: 1 })
  expect([rig.line().line.number, rig.reason()]).toEqual(['+12025550199', null])
})

test('a session with another number is not used', async () => {
  const driver = new MisbehavingDriver('mac', [DEVICE])
  await using rig = createRig([driver])
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
})

test('a driver that hangs is asked once, and holds up no other', async () => {
  const hanging = new MisbehavingDriver('iphone')
  hanging.discovering = () => new Promise(() => {})
  await using rig = await startRig([hanging, new MisbehavingDriver()])
  const found = numbers(rig)

  await rig.clock.advance(60_000)

  expect([found, hanging.discoveries]).toEqual([['+12025550111'], 1])
  const findings = await rig.supervisor.checkup(new AbortController().signal)
  expect(findings.map(({ code, title }) => [code, title])).toEqual([
    ['driver_failed', 'The iphone driver cannot look for its devices'],
  ])
})

test('a driver that cannot look for devices loses none', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])

  driver.discovering = () => Promise.reject(new Error('usb is busy'))
  await rig.clock.advance(60_000)

  expect([rig.reason(), driver.visits.length]).toEqual([null, 1])
  expect(rig.logged.filter(({ level }) => level === 'warn').length).toBe(1)
})

test('a driver that reports its devices itself is still asked again soon after it failed', async () => {
  const driver = new MisbehavingDriver()
  const telling = Object.assign(driver, { discoverEveryMs: DAY_MS })
  driver.discovering = () => Promise.reject(new Error('the disk is full'))
  await using rig = await startRig([telling])

  driver.discovering = async () => driver.found
  await rig.clock.advance(5_000)
  const found = { numbers: numbers(rig), discoveries: driver.discoveries }
  await rig.clock.advance(60_000)

  expect(found).toEqual({ numbers: ['+12025550111'], discoveries: 2 })
  expect(driver.discoveries).toBe(2)
})

test('the supervisor is ready when every line has reported its state, or after five seconds', async () => {
  const driver = new MisbehavingDriver()
  const silent = new MisbehavingDriver('iphone', [{ key: 'phone', number: '+12025550133' }])
  silent.attending = ({ signal }) => untilAborted(signal)
  await using quick = await startRig([driver])
  await using slow = await startRig([new MisbehavingDriver(), silent])

  await quick.supervisor.whenReady()
  const ready = slow.supervisor.whenReady().then(() => 'ready')
  await slow.clock.advance(4_999)
  const before = await peek(ready)
  await slow.clock.advance(1)

  expect([before, await ready]).toEqual(['pending', 'ready'])
})

const [STUDIO, ATTIC] = ['box_studio', 'box_attic'] as unknown as readonly [BoxId, BoxId] // Any ids do.
const NUMBER = LINE.number
const OTHER = { ...LINE, id: 'line_b' as LineId, key: 'b' } // Any id does.
const { box_removed, box_unreachable, line_moving, number_twice } = OFFLINE_REASONS

const present = ({ id, number }: Line, obstacle: OfflineReason | null = null) => {
  return { id, number, obstacle }
}
const absent = ({ id }: Line, reason: OfflineReason | null = null) => ({ id, reason })
const deviceAt = (box: BoxId | null, key = 'd', number = NUMBER) => ({ key, number, box })

type Case = readonly [
  what: string,
  known: readonly Line[],
  found: Discovery['newDevices'],
  discovery: Partial<Discovery>,
  places?: { readonly reasons?: Readonly<Record<string, OfflineReason>>; isHereKnown?: boolean },
]

const MOVING = { ...LINE, movesTo: STUDIO }
const AT_STUDIO = { ...LINE, box: STUDIO }
const CASES: readonly Case[] = [
  [
    'a number that two vanished lines have makes a new line of its device',
    [LINE, OTHER],
    [deviceAt(null, 'c')],
    { absent: [absent(LINE), absent(OTHER)], newDevices: [deviceAt(null, 'c')] },
  ],
  [
    'a device that is listed twice is one line',
    [],
    [deviceAt(null), deviceAt(null)],
    { newDevices: [deviceAt(null)] },
  ],
  [
    'while the devices of this machine are unknown, its lines stay as they are, and those of boxes go on',
    [LINE, { ...OTHER, number: '+3', box: ATTIC }],
    [deviceAt(STUDIO, 'c', '+2'), deviceAt(STUDIO)],
    { absent: [absent(OTHER)], newDevices: [deviceAt(STUDIO, 'c', '+2'), deviceAt(STUDIO)] },
    { isHereKnown: false },
  ],
  [
    'a line that moves to a box arrives there while the devices of this machine are unknown',
    [MOVING],
    [deviceAt(STUDIO)],
    { movedLines: [{ id: LINE.id, ...deviceAt(STUDIO) }] },
    { isHereKnown: false },
  ],
  [
    'one key on two machines is two devices',
    [LINE],
    [deviceAt(null, LINE.key), deviceAt(STUDIO, LINE.key, '+2')],
    { present: [present(LINE)], newDevices: [deviceAt(STUDIO, LINE.key, '+2')] },
  ],
  [
    'a line of a box that is away keeps its place, and no other machine continues it',
    [AT_STUDIO],
    [deviceAt(ATTIC)],
    { absent: [absent(AT_STUDIO, box_unreachable)], newDevices: [deviceAt(ATTIC)] },
    { reasons: { [STUDIO]: box_unreachable } },
  ],
  [
    'another machine continues the line of a removed box',
    [AT_STUDIO],
    [deviceAt(ATTIC)],
    { movedLines: [{ id: LINE.id, ...deviceAt(ATTIC) }] },
    { reasons: { [STUDIO]: box_removed } },
  ],
  [
    'of two machines with one number, the newer line waits for its owner',
    [LINE, { ...OTHER, box: ATTIC }],
    [deviceAt(null, LINE.key), deviceAt(ATTIC, OTHER.key)],
    { present: [present(LINE), present(OTHER, number_twice)] },
  ],
  [
    'a line that moves waits for its number at the other machine, even while its device is there',
    [MOVING],
    [deviceAt(null, LINE.key), deviceAt(ATTIC)],
    { absent: [absent(MOVING, line_moving)], newDevices: [deviceAt(ATTIC)] },
  ],
  [
    'a line that moves continues where its number is seen, even while its device is there',
    [MOVING],
    [deviceAt(null, LINE.key), deviceAt(STUDIO)],
    { movedLines: [{ id: LINE.id, ...deviceAt(STUDIO) }] },
  ],
  [
    'a line that moves to a machine comes before one of a removed box with its number',
    [
      { ...LINE, box: ATTIC },
      { ...OTHER, movesTo: STUDIO },
    ],
    [deviceAt(STUDIO)],
    { absent: [absent(LINE, box_removed)], movedLines: [{ id: OTHER.id, ...deviceAt(STUDIO) }] },
    { reasons: { [ATTIC]: box_removed } },
  ],
]

for (const [what, known, found, discovery, { reasons = {}, isHereKnown = true } = {}] of CASES) {
  test(what, () => {
    const places = { boxAbsence: (box: BoxId) => reasons[box] ?? null, isReal: true, isHereKnown }

    const devices = found.map(({ box, ...here }) => (box === null ? here : { ...here, box }))
    const nothing = { present: [], absent: [], movedLines: [], newDevices: [] }
    expect(discoveryOf(known, devices, places)).toEqual({ ...nothing, ...discovery })
  })
}
