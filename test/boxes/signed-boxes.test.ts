// A relay and its boxes insist on each other's signatures once they have shown them, whichever started earlier.

import { expect, test } from 'bun:test'

import { SUBJECTS } from '../../src/boxes/link.ts'
import { makeKey } from '../../src/boxes/nkeys.ts'
import { SignedLink } from '../../src/boxes/signed-link.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { startWithBoxes, type BoxesRelay } from '../support/boxes-rig.ts'

const NUMBER = '+12025550101'
const MINUTES = 60_000
const ASK_MS = 1_000

type Hello = { readonly refused?: string; readonly epoch?: number } | null

/** Answer to a hello of a stranger in the name of a box; null for none. */
async function helloOf(stage: BoxesRelay, id: string, own: 'unsigned' | 'signed'): Promise<Hello> {
  const { network, clock } = stage
  const request = {
    op: 'hello',
    protocol: 1,
    version: '9.9.9',
    platform: 'linux',
    boot: 'stranger',
    fence: 0,
    sessions: [],
    kinds: ['mac'],
    devices: [],
    health: {},
  }
  const trust = { peer: () => ({ key: null, mustSign: false }), insist() {} }
  const tools = { clock, random: systemRandom, log: silentLog }
  const plain = network.link()
  const link = own === 'unsigned' ? plain : new SignedLink(plain, await makeKey(), trust, tools)
  link.serve(SUBJECTS.to(id, 'stranger'), async () => '{}')
  const asked = link.ask(SUBJECTS.hello(id), JSON.stringify(request), ASK_MS).then(
    (answer): Hello => JSON.parse(answer),
    () => null,
  )
  await clock.advance(0)
  await clock.advance(ASK_MS)
  await link.close()
  return asked
}

/** The number of boxes that are online. */
async function onlineCount(stage: BoxesRelay): Promise<number> {
  const { body } = await stage.owner('GET', '/boxes')
  return body.data.filter((box: { readonly status: string }) => box.status === 'online').length
}

test('nobody speaks in the name of a box that has joined, after a restart of the head either', async () => {
  await using stage = await startWithBoxes()
  const box = await stage.join('studio', [NUMBER])

  const answers = [
    await helloOf(stage, box.id, 'unsigned'),
    await helloOf(stage, box.id, 'signed'),
    await helloOf(stage, 'box_nobody', 'unsigned'),
  ]
  await box.cut()
  await stage.clock.advance(10_000)
  // The true one is away, and cannot be asked.
  answers.push(await helloOf(stage, box.id, 'unsigned'), await helloOf(stage, box.id, 'signed'))

  expect(answers).toEqual([null, null, null, null, null])
  expect(await onlineCount(stage)).toBe(0)
  await box.start()
  expect(await onlineCount(stage)).toBe(1)
})

test('a box without signatures works until its upgrade has lasted, and only with them then', async () => {
  await using stage = await startWithBoxes()
  const box = await stage.join('studio', [NUMBER], false)
  const again = async (signs: boolean) => {
    await box.cut()
    box.signs = signs
    await box.start()
    await stage.clock.advance(8_000)
    return onlineCount(stage)
  }

  const [old, upgraded, takenBack] = [
    await onlineCount(stage),
    await again(true),
    await again(false),
  ]
  const lasting = await again(true)
  await stage.clock.advance(11 * MINUTES)
  const { headKey } = box
  const older = await again(false)
  const { body: health } = await stage.owner('GET', '/health')

  expect({ old, upgraded, takenBack, lasting }).toEqual({
    old: 1,
    upgraded: 1,
    takenBack: 1,
    lasting: 1,
  })
  expect(headKey).toStartWith('U')
  expect(older).toBe(0)
  expect(health.data[0]).toMatchObject({
    code: 'box_unreachable',
    why: expect.stringContaining('not signed with its key'),
    fix: expect.stringContaining('run on it: hookline upgrade'),
  })
  expect(await helloOf(stage, box.id, 'signed')).toBeNull()
  expect(await again(true)).toBe(1)
})
