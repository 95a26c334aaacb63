// The run of one line: what drivers report and when, how failures are met, and what a stop leaves.

import { expect, test } from 'bun:test'

import type { IntakeEvent } from '../../src/lines/driver.ts'
import { NEVER } from '../../src/system/clock.ts'
import { CAPABILITIES, MisbehavingDriver } from '../support/misbehaving-driver.ts'
import { createRig, peek, startRig, type SupervisorRig } from './supervisor-rig.ts'

const checkpoint = (text: string): IntakeEvent => ({ type: 'checkpoint', checkpoint: text })

const textOf = (error: unknown) => (error instanceof Error ? error.message : '')

test('a running line is online, with what its driver says of it', async () => {
  await using rig = await startRig([new MisbehavingDriver()])

  const { state, isConfigured, capacity } = rig.line()

  expect({ state, isConfigured, capacity }).toEqual({
    state: { status: 'online', imessageActive: true, capabilities: CAPABILITIES },
    isConfigured: true,
    capacity: 2,
  })
})

test('a line is run again from the checkpoint that was stored last', async () => {
  const driver = new MisbehavingDriver()
  driver.attending = async (visit) => {
    if (driver.visits.length > 1) return driver.stayOnline(visit)
    await visit.listener.onEvent(checkpoint('seven'))
    throw new Error('unplugged')
  }
  await using rig = await startRig([driver])

  await rig.clock.advance(1_000)

  expect(driver.visits.map(({ line }) => line.checkpoint)).toEqual([null, 'seven'])
})

type Run = (count: number, rig: SupervisorRig) => Promise<void>

const CALLS: readonly (readonly [what: string, run: Run, at: readonly number[]])[] = [
  [
    'a driver that fails is called again after 1, 2, 4 … 60 seconds',
    () => Promise.reject(new Error('no device')),
    [0, 1, 3, 7, 15, 31, 63, 123, 183],
  ],
  [
    'a line that ran for a minute is called again after a second',
    async (count, { clock }) => {
      if (count === 4) await clock.sleep(60_000, NEVER)
    },
    [0, 1, 3, 7, 68, 70, 74, 82, 98, 130, 190],
  ],
]

for (const [what, run, at] of CALLS) {
  test(what, async () => {
    const driver = new MisbehavingDriver()
    await using rig = createRig([driver])
    const called: number[] = []
    driver.attending = () => run(called.push(rig.clock.monotonic() / 1_000), rig)
    await rig.start()

    await rig.clock.advance(190_000)

    expect(called).toEqual([...at])
    expect(rig.reason()).toBe('driver_failed')
  })
}

test('the log reports once when a line goes, once when it is back, and louder when it lasts', async () => {
  const driver = new MisbehavingDriver()
  driver.attending = async (visit) => {
    if (driver.visits.length < 9) throw new Error('no device')
    await driver.stayOnline(visit)
  }
  await using rig = await startRig([driver])

  await rig.clock.advance(190_000)

  expect(rig.logged.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'info: line found',
    'warn: line is offline',
    'error: line fails again and again',
    'info: line is online',
  ])
})

test('the reason that a driver gives stays until the line is back', async () => {
  const driver = new MisbehavingDriver()
  driver.attending = async (visit) => {
    if (driver.visits.length > 1) return driver.stayOnline(visit)
    await visit.listener.onEvent(driver.online(visit.line.number))
    await visit.listener.onEvent({ type: 'offline', reason: { code: 'asleep', hint: 'Wake it.' } })
  }
  await using rig = await startRig([driver])
  const reason = rig.reason()

  await rig.clock.advance(1_000)

  expect([reason, rig.reason()]).toEqual(['asleep', null])
})

test('an event that could not be made durable ends the run, and no later one is taken', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { listener, signal } = driver.visit()
  rig.gate.intake = () => Promise.reject(new Error('disk full'))

  const failed = await listener.onEvent(checkpoint('one')).catch(textOf)
  rig.gate.intake = async () => {}
  const refused = await listener.onEvent(checkpoint('two')).catch(textOf)

  expect([failed, refused]).toEqual(['disk full', 'This run of the line is over.'])
  expect([signal.aborted, rig.events(), rig.reason()]).toEqual([true, [], 'driver_failed'])
  await rig.clock.advance(1_000)
  expect(rig.reason()).toBeNull()
})

test('events reach the intake in order, and each resolves when it is durable', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const durable = Promise.withResolvers<void>()
  rig.gate.intake = () => durable.promise

  const told = ['one', 'two', 'three'].map((text) =>
    driver.visit().listener.onEvent(checkpoint(text)),
  )
  const before = await peek(Promise.race(told))
  durable.resolve()
  await Promise.all(told)

  expect(before).toBe('pending')
  expect(rig.events()).toEqual(['one', 'two', 'three'].map(checkpoint))
})

test('a driver that floods the relay without waiting is stopped', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { listener, signal } = driver.visit()
  const durable = Promise.withResolvers<void>()
  rig.gate.intake = () => durable.promise

  const flood = Array.from({ length: 5_000 }, (_, i) => listener.onEvent(checkpoint(String(i))))
  const results = Promise.allSettled(flood)
  durable.resolve()

  const taken = (await results).filter(({ status }) => status === 'fulfilled')
  expect([taken.length, rig.events().length, signal.aborted]).toEqual([1_000, 1_000, true])
})

test('a driver that does not return is not called a second time', async () => {
  const driver = new MisbehavingDriver()
  driver.attending = async (visit) => {
    await visit.listener.onEvent(driver.online(visit.line.number))
    await new Promise(() => {})
  }
  await using rig = await startRig([driver])
  rig.gate.intake = () => Promise.reject(new Error('disk full'))
  await driver
    .visit()
    .listener.onEvent(checkpoint('one'))
    .catch(() => {})

  await rig.clock.advance(600_000)

  expect([driver.visits.length, rig.line().state.status]).toEqual([1, 'offline'])
})

test('after a stop no line runs, and nothing is looked for or reported', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { listener } = driver.visit()

  await rig.stop()
  const { discoveries } = driver
  const told = await listener.onEvent(checkpoint('late')).catch(textOf)
  await rig.clock.advance(3_600_000)

  expect([driver.discoveries, driver.visits.length]).toEqual([discoveries, 1])
  expect(rig.reason()).toBe('stopping')
  expect([told, rig.events()]).toEqual(['This run of the line is over.', []])
})

test('listeners hear of a change of state, and the lines are the same array until then', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  let changes = 0
  rig.supervisor.onChange(() => {
    changes += 1
  })
  const before = rig.supervisor.lines()
  const isCached = rig.supervisor.lines() === before

  const reason = { code: 'asleep', hint: 'Wake it.' }
  await driver.visit().listener.onEvent({ type: 'offline', reason })
  await driver.visit().listener.onEvent({ type: 'offline', reason })

  expect([isCached, changes, rig.supervisor.lines() === before]).toEqual([true, 1, false])
})
