// The order in which boxes are upgraded, and what stops it. A box's own side is in box-upgrade.test.ts.

import { expect, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { updateBox } from '../../src/storage/boxes.ts'
import { Head, MINUTE, SECOND, type How } from './rollout-rig.ts'

const ORDERS: readonly (readonly [count: number, batches: readonly string[]])[] = [
  [1, ['01']],
  [12, ['01', '02 03', '04 05', '06 07', '08 09', '10 11', '12']],
]

for (const [count, batches] of ORDERS) {
  test(`${count} boxes are upgraded one first, then a tenth at a time, each as an entry of the audit trail`, async () => {
    using head = await Head.with(count)

    await head.start()
    const seen = await head.watch(5 * MINUTE)

    expect(seen).toEqual(batches)
    expect(head.boxes.map(({ version }) => version)).toEqual(Array(count).fill('1.1.0'))
    expect(head.rollouts.current()).toBeNull()
    expect(head.boxes.map(({ orders }) => orders.length)).toEqual(Array(count).fill(1))
    const fields = [{ version: '1.0.0' }, { version: '1.1.0' }]
    expect(head.audited).toEqual(head.boxes.map(({ id }) => [id, ...fields]))
  })
}

const FAILURES: readonly (readonly [how: How, why: string, afterMs: number])[] = [
  ['refuses', 'It runs in the foreground.', MINUTE],
  ['rolls back', 'It did not start.', MINUTE],
  ['says nothing', 'It has not been reached for 30 minutes.', 32 * MINUTE],
  ['loses its line', 'It has the new version, and is offline with +02.', 32 * MINUTE],
]

for (const [how, why, afterMs] of FAILURES) {
  test(`a box that ${how} pauses the rollout, and the owner reads why`, async () => {
    using head = await Head.with(4)
    head.box(2).how = how

    await head.upgrade(afterMs)

    expect(head.boxes.map(({ version }) => version === '1.1.0')).toEqual([
      true,
      how === 'loses its line',
      false,
      false,
    ])
    const title = 'The upgrade of the boxes to 1.1.0 is paused'
    expect(head.findings).toEqual([['rollout_paused', title, `${why} 1 of 4 boxes are upgraded.`]])
    expect(head.rollouts.current()).toMatchObject({
      status: 'paused',
      upgraded: 1,
      boxes: 4,
    })
  })
}

test('resumed, the box that failed has another turn, and then the others', async () => {
  using head = await Head.with(3)
  head.box(1).how = 'rolls back'
  await head.upgrade(MINUTE)
  head.box(1).how = 'works'

  await head.rollouts.resume(COMMAND_LINE)
  const seen = await head.watch(2 * MINUTE)

  expect(seen).toEqual(['01', '02', '03'])
  expect(head.box(1).orders.length).toBe(2)
  expect(head.findings).toEqual([])
})

test('canceled, no further box begins, and the executables go', async () => {
  using head = await Head.with(3)
  await head.upgrade(5 * SECOND)
  const { sha256 } = await hashOf(head)

  const before = await head.rollouts.chunk({ sha256, offset: 0 })
  const canceled = await head.rollouts.cancel(COMMAND_LINE)
  const after = await head.rollouts.chunk({ sha256, offset: 0 })
  await head.clock.advance(2 * MINUTE)

  expect(before).toMatchObject({ isLast: true })
  expect(canceled).toMatchObject({ version: '1.1.0', upgraded: 0, boxes: 3 })
  expect(after).toEqual({ isMissing: true })
  expect(head.boxes.map(({ orders }) => orders.length)).toEqual([1, 0, 0])
  expect(head.rollouts.current()).toBeNull()
  await expect(head.rollouts.resume(COMMAND_LINE)).rejects.toThrow(
    'No upgrade of boxes is under way.',
  )
})

test('a box that is away is passed over, and has its turn when it is back', async () => {
  using head = await Head.with(3)
  head.box(1).isReachable = false

  await head.start()
  const without = await head.watch(20 * MINUTE)
  const states = head.boxes.map(({ id }) => head.rollouts.upgradeOf(id)?.state ?? null)
  head.box(1).isReachable = true
  const back = await head.watch(MINUTE)

  expect(without).toEqual(['02', '03'])
  expect(states).toEqual(['waiting', null, null])
  expect(back).toEqual(['01'])
  expect(head.rollouts.current()).toBeNull()
})

test('a box that is away for 30 minutes of its turn pauses the rollout', async () => {
  using head = await Head.with(2)
  head.box(1).isReachable = false

  await head.upgrade(29 * MINUTE)
  const early = head.findings
  await head.clock.advance(2 * MINUTE)

  expect(early).toEqual([])
  expect(head.findings[0]?.[2]).toStartWith('It has not been reached for 30 minutes.')
})

for (const seconds of [1, 5, 15, 21, 40]) {
  test(`a head that restarts after ${seconds} s goes on where it was`, async () => {
    using head = await Head.with(3)
    await head.upgrade(seconds * SECOND)

    await head.restart()
    await head.clock.advance(3 * MINUTE)

    expect(head.boxes.map(({ version }) => version)).toEqual(['1.1.0', '1.1.0', '1.1.0'])
    expect(head.boxes.map(({ orders }) => orders.length)).toEqual([1, 1, 1])
    expect(head.audited.length).toBe(3)
    expect(head.rollouts.current()).toBeNull()
  })
}

test('a head that was off for an hour waits for its boxes as long as at first', async () => {
  using head = await Head.with(2)
  await head.upgrade(5 * SECOND)
  head.box(1).how = 'says nothing'

  await head.clock.advance(29 * MINUTE)
  await head.restart()
  await head.clock.advance(29 * MINUTE)
  const early = head.findings
  await head.clock.advance(2 * MINUTE)

  expect(early).toEqual([])
  expect(head.findings.length).toBe(1)
})

test('a box that was upgraded by hand is left alone, and one that was removed is left out', async () => {
  using head = await Head.with(3)
  head.box(1).version = '1.1.0'
  head.box(2).isRemoved = true
  await head.upgrade(2 * MINUTE)

  expect(head.boxes.map(({ orders }) => orders.length)).toEqual([0, 0, 1])
  expect(head.rollouts.current()).toBeNull()
  expect(head.audited.length).toBe(1)
})

test('what cannot be upgraded like this is refused before any box is asked', async () => {
  using head = await Head.with(2)
  const newer = head.start('1.2.0')
  await expect(newer).rejects.toThrow('This relay has 1.1.0. Upgrade it first: hookline upgrade')
  await expect(head.start('1.1.0', ['nowhere'])).rejects.toThrow('There is no box nowhere.')
  head.box(1).platform = 'darwin-x64'
  await expect(head.start()).rejects.toThrow('no executable for 01 (darwin-x64)')
  head.box(1).platform = head.box(2).platform
  await head.start()

  await expect(head.start()).rejects.toThrow('An upgrade of boxes is under way.')
})

test('a removed box does not take its failure with it', async () => {
  using head = await Head.with(2)
  const first = head.box(1)
  first.how = 'rolls back'
  await head.upgrade(MINUTE)

  await head.core.writer.write((tx) => updateBox(tx, first.id, { removedAt: timestamp(1) }))
  first.isRemoved = true
  await head.clock.advance(MINUTE)
  const paused = head.findings.length
  await head.rollouts.resume(COMMAND_LINE)
  await head.clock.advance(MINUTE)

  expect(paused).toBe(1)
  expect(head.box(2).version).toBe('1.1.0')
})

async function hashOf(head: Head) {
  const bytes = await Bun.file(`${head.release}/hookline-linux-x64`).bytes()
  return { sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex') }
}
