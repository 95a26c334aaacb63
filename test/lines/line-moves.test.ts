// A line that moves to another machine: the driver finds devices at both.

import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { BoxId } from '../../src/domain/ids.ts'
import { listLines } from '../../src/storage/lines.ts'
import { DEVICE, MisbehavingDriver } from '../support/misbehaving-driver.ts'
import { settle } from '../support/test-clock.ts'
import { startRig } from './supervisor-rig.ts'

const STUDIO = 'box_studio' as BoxId // Any id does.
const THERE = { key: 'other-mac', number: DEVICE.number, box: STUDIO }

test('a line that moves stops where it is, and continues at once on the machine that sees its number', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line

  await rig.supervisor.admin.move(id, STUDIO, COMMAND_LINE)
  await settle()
  const waiting = [rig.reason(), driver.visit().signal.aborted]
  driver.found = [THERE]
  await rig.clock.advance(5_000)

  expect(waiting).toEqual(['line_moving', true])
  expect(rig.line().line).toMatchObject({ id, key: 'other-mac', box: STUDIO, movesTo: null })
  expect(rig.reason()).toBeNull()
})

test('where the number is signed in already, the line there becomes the one that moves', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line
  driver.found = [DEVICE, THERE]
  await rig.clock.advance(5_000)
  const twins = rig.supervisor.lines().map(({ state }) => state)

  await rig.supervisor.admin.move(id, STUDIO, COMMAND_LINE)
  driver.found = [THERE]
  await rig.clock.advance(5_000)

  expect(twins).toMatchObject([{ status: 'online' }, { reason: { code: 'number_twice' } }])
  expect(listLines(rig.db)).toMatchObject([{ id, box: STUDIO, movesTo: null }])
  expect(rig.reason()).toBeNull()
})

test('a move that is canceled leaves the line where it is', async () => {
  const driver = new MisbehavingDriver()
  await using rig = await startRig([driver])
  const { id } = rig.line().line

  await rig.supervisor.admin.move(id, STUDIO, COMMAND_LINE)
  await rig.supervisor.admin.move(id, null, COMMAND_LINE)
  await rig.clock.advance(1_000)

  expect(rig.reason()).toBeNull()
  expect(rig.line().line).toMatchObject({ key: DEVICE.key, box: null, movesTo: null })
})

test('a line does not move to the machine that it is on', async () => {
  await using rig = await startRig([new MisbehavingDriver()])

  const refused = rig.supervisor.admin.move(rig.line().line.id, 'here', COMMAND_LINE)

  expect(refused).rejects.toThrow('is the machine that the line is on')
})
