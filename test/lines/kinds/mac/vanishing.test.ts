// Sends that Messages takes and of which no row appears: the line stops before it has lost many, tries
// one message now and then, and is back as soon as a row is seen.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { VanishingSends } from '../../../../src/lines/kinds/mac/vanishing.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { runLine } from '../../../contract/line-rig.ts'
import { makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { writeOwn } from '../../../support/mac/own-rows.ts'
import type { Behaviour } from '../../../support/mac/script-behaviours.ts'
import { TestClock } from '../../../support/test-clock.ts'

const MINUTE_MS = 60_000
const REST_MS = 10 * MINUTE_MS
const VANISHED = { outcome: 'unknown', reason: 'no_row' } as const

type Attended = Awaited<ReturnType<typeof runLine>>

function statesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'offline') return [event.reason.code]
    return event.type === 'online' ? ['online'] : []
  })
}

/** One message after the other. */
async function sendEach(rig: MacRig, attended: Attended, behaviours: readonly Behaviour[]) {
  for (const [index, behaviour] of behaviours.entries()) {
    rig.model.nextSend(behaviour)
    await attended.send(`message ${index}`, async () => true)
    // Longer than Messages takes to be started again.
    await rig.clock.advance(21_000)
  }
}

async function findingsOf(rig: MacRig): Promise<readonly string[]> {
  return (await rig.driver.checkup(NEVER)).map(({ code, severity }) => `${severity} ${code}`)
}

const quits = (rig: MacRig) => rig.ran.filter((name) => name === 'kill').length

test('Messages is started again after the second, and the line is offline after the third', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)

  await sendEach(rig, attended, ['no_row'])
  const afterOne = [quits(rig), await findingsOf(rig)]
  await sendEach(rig, attended, ['ghost_row'])
  const afterTwo = [quits(rig), await findingsOf(rig)]
  rig.model.nextSend('no_row')
  const third = await attended.send('the third', async () => true)
  const states = statesOf(attended.events)

  expect(afterOne).toEqual([0, []])
  expect(afterTwo).toEqual([1, ['warning sends_vanish']])
  expect(third).toEqual({ outcome: 'unknown', reason: 'no_row' })
  expect(states).toEqual(['online', 'sends_vanish'])
  expect([quits(rig), await findingsOf(rig)]).toEqual([1, ['error sends_vanish']])
})

const ROWS: readonly Behaviour[] = ['happy', 'failed22_at_once', 'slow_sending', 'sms']

test.each(ROWS)('%s between them leaves a row, and the count begins anew', async (behaviour) => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  // Known before: nobody new is written to after failures.
  rig.model.receive(rig.recipient, 'hello')

  await sendEach(rig, attended, ['no_row', 'no_row', behaviour])

  expect(statesOf(attended.events)).toEqual(['online'])
  expect(await findingsOf(rig)).toEqual([])
})

test('a send that Messages did not answer neither adds to the count nor ends it', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)

  await sendEach(rig, attended, ['no_row', 'no_row', 'hang'])
  await rig.clock.advance(MINUTE_MS)
  const before = statesOf(attended.events)
  await sendEach(rig, attended, ['no_row'])

  expect(before).not.toContain('sends_vanish')
  expect(statesOf(attended.events).at(-1)).toBe('sends_vanish')
})

test('after ten minutes one message is tried, and where it vanishes too the line rests again', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)

  await sendEach(rig, attended, ['no_row', 'no_row', 'no_row'])
  await rig.clock.advance(REST_MS)
  const onTrial = await findingsOf(rig)
  await sendEach(rig, attended, ['no_row'])

  const states = ['online', 'sends_vanish', 'online', 'sends_vanish']
  expect(statesOf(attended.events)).toEqual(states)
  expect(onTrial).toEqual(['warning sends_vanish'])
})

test('each trial that vanishes doubles the rest, up to an hour, and Messages is started again once', async () => {
  const clock = new TestClock()
  let restarts = 0
  const sends = new VanishingSends(clock, () => (restarts += 1))
  for (let count = 0; count < 2; count += 1) sends.hear(VANISHED)

  const rests: unknown[] = []
  for (const minutes of [10, 20, 40, 60, 60]) {
    const isRestingBefore = sends.isResting
    sends.hear(VANISHED)
    await clock.advance(minutes * MINUTE_MS - 1)
    const isRestingLong = sends.isResting
    await clock.advance(1)
    rests.push([isRestingBefore, isRestingLong, sends.isResting])
  }

  expect(rests).toEqual(rests.map(() => [false, true, false]))
  expect(restarts).toBe(1)
})

test('a trial that leaves a row brings the line back for good', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)

  await sendEach(rig, attended, ['no_row', 'no_row', 'no_row'])
  await rig.clock.advance(REST_MS)
  await sendEach(rig, attended, ['happy', 'no_row'])

  expect(statesOf(attended.events)).toEqual(['online', 'sends_vanish', 'online'])
  expect(await findingsOf(rig)).toEqual([])
})

test('a row that comes late brings the line back at once', async () => {
  using rig = makeMacRig()
  await using attended = await runLine(rig, rig.driver)
  await sendEach(rig, attended, ['no_row', 'no_row', 'no_row'])
  const before = statesOf(attended.events)

  writeOwn(rig.model.file, { to: rig.recipient, text: 'message 2', at: rig.clock.now() })
  await rig.clock.advance(10_000)

  expect(before.at(-1)).toBe('sends_vanish')
  expect(statesOf(attended.events).at(-1)).toBe('online')
  expect(await findingsOf(rig)).toEqual([])
})
