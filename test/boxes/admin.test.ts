// Invitations and their use, as the head decides, and findings about boxes.

import { expect, test } from 'bun:test'

import { brokerUsersOf } from '../../src/boxes/admin.ts'
import { SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import type { WatchedBox } from '../../src/domain/box.ts'
import type { BoxId } from '../../src/domain/ids.ts'
import { OFFLINE_REASONS } from '../../src/domain/line.ts'
import { boxFindings } from '../../src/health/box-findings.ts'
import { listBoxes } from '../../src/storage/boxes.ts'
import { startWithBoxes, type BoxesRelay } from '../support/boxes-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { settle } from '../support/test-clock.ts'

async function ask({ network }: BoxesRelay, box: string, publicKey: string, name = '*') {
  const request = { name, public_key: publicKey, version: '0.1.0', platform: 'darwin' }
  const subject = SUBJECTS.join(`join-${box}`)
  return JSON.parse(await network.link().ask(subject, JSON.stringify(request), 1_000))
}

async function invited(stage: BoxesRelay, name: string): Promise<string> {
  const { body } = await stage.owner('POST', '/boxes', { name })
  await settle(20)
  return body.id
}

test('an invitation is good for one machine, which may ask again', async () => {
  await using stage = await startWithBoxes()
  const id = await invited(stage, 'attic')
  const [first, second] = [await makeKey(), await makeKey()]

  const joined = await ask(stage, id, first.publicKey)
  const again = await ask(stage, id, first.publicKey)
  const other = await ask(stage, id, second.publicKey)

  expect([joined, again]).toEqual([
    { box: id, head: expect.any(String), key: expect.any(String) },
    { box: id, head: expect.any(String), key: expect.any(String) },
  ])
  expect(other).toEqual({ refused: 'The invitation was used already. Create a new one.' })
  expect(listBoxes(stage.relay.db)).toMatchObject([{ id, publicKey: first.publicKey }])
})

test('an invitation ends after half an hour, and with its box', async () => {
  await using stage = await startWithBoxes()
  const [late, gone] = [await invited(stage, 'late'), await invited(stage, 'gone')]
  const { publicKey } = await makeKey()

  await stage.owner('DELETE', '/boxes/gone')
  await stage.clock.advance(29 * 60_000)
  const withdrawn = await ask(stage, gone, publicKey)
  await invited(stage, 'third')
  await stage.clock.advance(60_000)
  const expired = await ask(stage, late, publicKey)
  const { invitations } = brokerUsersOf(stage.relay.db, stage.clock.now())

  expect(withdrawn).toEqual({ refused: 'The invitation was withdrawn.' })
  expect(invitations).toHaveLength(1)
  expect(expired).toEqual({ refused: 'The invitation has expired. Create a new one.' })
})

test('a machine may join by another name, unless that is taken', async () => {
  await using stage = await startWithBoxes()
  const [one, two] = [await invited(stage, 'one'), await invited(stage, 'two')]

  const named = await ask(stage, one, (await makeKey()).publicKey, 'studio')
  const taken = await ask(stage, two, (await makeKey()).publicKey, 'studio')

  expect(named.box).toBe(one)
  expect(taken).toEqual({ refused: 'The name studio is in use, or no name of a box.' })
})

test('a line that moves to a box stays where it is when that box is removed', async () => {
  const here = new ScriptedDriver()
  here.add('+12025550101')
  await using stage = await startWithBoxes({ drivers: [here] })
  await stage.join('studio', [])
  const [line] = await stage.relay.lines()

  await stage.owner('POST', `/phone-lines/${line.id}/move`, { to: 'studio' })
  await stage.owner('DELETE', '/boxes/studio')
  await stage.clock.advance(5_000)
  const [after] = await stage.relay.lines()

  expect(after.moves_to).toBeUndefined()
  expect(after.status).toBe('online')
})

const BOX: WatchedBox = {
  id: 'box_a' as BoxId, // Any id does.
  name: 'attic',
  absence: null,
  silentMs: 0,
  version: '0.1.0',
  freeBytes: 50_000_000_000,
  isTwice: false,
  cutOffUntil: null,
  isUnsigned: false,
  refusedDevices: 0,
}

test('a box that works has no finding, and each trouble has one', () => {
  const { box_unreachable, box_outdated } = OFFLINE_REASONS
  const codesOf = (more: Partial<WatchedBox>) =>
    boxFindings([{ ...BOX, ...more }], null).map(({ code, severity }) => [code, severity])

  expect(codesOf({})).toEqual([])
  expect(codesOf({ absence: box_unreachable })).toEqual([['box_unreachable', 'warning']])
  expect(codesOf({ absence: box_unreachable, silentMs: 60_000 })).toEqual([
    ['box_unreachable', 'error'],
  ])
  expect(codesOf({ absence: box_outdated })).toEqual([['box_outdated', 'error']])
  expect(codesOf({ refusedDevices: 1 })).toEqual([['box_lines_full', 'warning']])
  expect(codesOf({ isTwice: true, freeBytes: 100 })).toEqual([
    ['box_twice', 'error'],
    ['box_storage_full', 'error'],
  ])
})

test('boxes that nobody can hear without a broker stand below its finding', () => {
  const away = { ...BOX, absence: OFFLINE_REASONS.box_unreachable }

  expect(boxFindings([away], 'broker_missing')).toMatchObject([{ depends_on: 'broker_missing' }])
})
