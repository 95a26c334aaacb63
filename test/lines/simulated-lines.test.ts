// The supervisor and the simulated driver together: what each promises the other.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { createSimulatedDriver } from '../../src/lines/kinds/simulated/kind.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { settle } from '../support/test-clock.ts'
import { createRig, grant, memory, messageOf, type SupervisorRig } from './supervisor-rig.ts'

function simulatedRig(folder: ScratchFolder, lineCount: number, db = memory()): SupervisorRig {
  const options = { lineCount, delayMs: 0, ledgerPath: folder.file('simulated.db') }
  return createRig((clock) => [createSimulatedDriver(options, { clock, random: systemRandom })], db)
}

test('simulated lines are online at once, and those not asked for again are not configured', async () => {
  using folder = new ScratchFolder()
  const first = simulatedRig(folder, 2)
  await first.start()
  const before = first.supervisor.lines().map(({ state }) => state.status)
  await first.stop()

  const second = simulatedRig(folder, 1, first.db)
  await second.start()

  const after = second.supervisor.lines().map(({ state, isConfigured }) => {
    return [state.status === 'offline' ? state.reason.code : state.status, isConfigured]
  })
  expect(before).toEqual(['online', 'online'])
  expect(after).toEqual([
    ['online', true],
    ['not_configured', false],
  ])
  await second.stop()
})

test('an outcome reaches the writer before the receipts that follow from it', async () => {
  using folder = new ScratchFolder()
  const rig = simulatedRig(folder, 1)
  await rig.start()
  const order: string[] = []
  rig.gate.intake = async ({ type }) => {
    if (type === 'receipt') order.push(type)
  }

  const text = Array.from({ length: 5 }, (_, i) => `hello ${i}`)
  const sends = text.map(async (one) => {
    await rig.send(one)
    await Promise.resolve()
    order.push('outcome')
  })
  await Promise.all(sends)
  await settle()

  const outcomes = Array.from({ length: 5 }, () => 'outcome')
  // Without delay, delivered and read are of one moment: one receipt says both.
  expect(order).toEqual([...outcomes, ...outcomes.map(() => 'receipt')])
  await rig.stop()
})

test('a message to the number that drops its line is told accepted before the line is offline', async () => {
  using folder = new ScratchFolder()
  const rig = simulatedRig(folder, 1)
  await rig.start()
  const { id } = rig.line().line
  const message = { ...messageOf('hello'), to: deviceHandle('+15550000197') }

  const answer = await rig.supervisor.send(id, message, grant)
  await settle()
  const during = rig.reason()
  await rig.clock.advance(5_000)

  expect([answer.outcome.outcome, answer.isSessionOver, during]).toEqual([
    'accepted',
    false,
    'simulated_outage',
  ])
  expect(rig.reason()).toBeNull()
  await rig.stop()
})
