// The order in which boxes are upgraded, and what stops it: a real head's rollout and database on the test clock,
// with boxes that behave as a test says. A box's own side is in box-upgrade.test.ts.

import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'

import { LinkError } from '../../src/boxes/link.ts'
import { Rollouts, type BoxView, type RolloutTools } from '../../src/boxes/rollout.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import type { Box } from '../../src/domain/box.ts'
import { timestamp, type BoxId, type LineId } from '../../src/domain/ids.ts'
import { createAudit, listAudit } from '../../src/storage/audit.ts'
import { insertBox, updateBox } from '../../src/storage/boxes.ts'
import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { silentLog } from '../../src/system/log.ts'
import { LogicalClock } from '../../src/system/logical-clock.ts'
import { systemRandom } from '../../src/system/random.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock, settle } from '../support/test-clock.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const PLATFORM = 'linux-x64'

/** Behaviour of a box that is ordered to upgrade. */
type How = 'works' | 'refuses' | 'rolls back' | 'says nothing' | 'loses its line'

class FakeBox {
  readonly id: BoxId
  readonly name: string
  how: How = 'works'
  isReachable = true
  version = '1.0.0'
  upgrade: BoxView['upgrade'] = null
  isOnline = true
  /** Every order that it took, once each. */
  readonly orders: string[] = []

  constructor(name: string) {
    this.name = name
    this.id = `box_${name.padStart(26, '0')}` as BoxId // A well-formed id.
  }

  view(): BoxView {
    const { isReachable, version, upgrade, isOnline } = this
    const id = `line_${this.name}` as LineId // Compared only.
    const line = {
      id,
      driver: 'mac',
      key: `key ${this.name}`,
      label: null,
      number: `+${this.name}`,
    }
    return { isReachable, version, upgrade, platform: PLATFORM, lines: [{ line, isOnline }] }
  }

  async take(clock: TestClock, request: Parameters<RolloutTools['order']>[1]) {
    if (!this.isReachable) throw new LinkError('It is away.')
    if (this.how === 'refuses') return { refused: 'It runs in the foreground.' }
    const { order, to } = request
    if (this.orders.at(-1) === order) return { isTaken: true as const }
    this.orders.push(order)
    const said = (state: 'downloading' | 'installing' | 'rolled_back', problem: string | null) => {
      this.upgrade = { order, to, state, problem }
    }
    said('downloading', null)
    clock.after(10 * SECOND, () => {
      said('installing', null)
      this.isReachable = false
      this.isOnline = false
    })
    clock.after(20 * SECOND, () => {
      if (this.how === 'says nothing') return
      this.isReachable = true
      if (this.how === 'rolls back') return said('rolled_back', 'It did not start.')
      this.version = to
      this.isOnline = this.how !== 'loses its line'
    })
    clock.after(22 * SECOND, () => {
      if (this.how === 'works' || this.how === 'loses its line') this.upgrade = null
    })
    return { isTaken: true as const }
  }
}

class Head {
  readonly clock = new TestClock()
  readonly folder = new ScratchFolder()
  readonly release = this.folder.file('rollout')
  readonly db = openDatabase(this.folder.file('hookline.db'), { version: 'test' }).db
  readonly writer = new Writer(this.db, () => {})
  readonly stamps = new LogicalClock(this.clock, systemRandom, 0)
  readonly boxes: readonly FakeBox[]
  rollouts: Rollouts
  #stop = new AbortController()

  constructor(count: number) {
    const numbers = Array.from({ length: count }, (_, at) => String(at + 1).padStart(2, '0'))
    this.boxes = numbers.map((number) => new FakeBox(number))
    this.publish()
    this.rollouts = this.#run()
  }

  static async with(count: number): Promise<Head> {
    const head = new Head(count)
    heads.push(head)
    await head.writer.write((tx) => {
      for (const { id, name } of head.boxes) insertBox(tx, { ...STORED, id, name, publicKey: id })
    })
    return head
  }

  publish(): void {
    mkdirSync(this.release, { recursive: true })
    writeFileSync(`${this.release}/hookline-linux-x64`, 'the next version')
    writeFileSync(`${this.release}/SHA256SUMS`, 'sums')
  }

  start(version = '1.1.0', boxes = this.boxes.map(({ id }) => id as string)) {
    const files = [{ name: 'hookline-linux-x64', platform: PLATFORM }]
    const wish = { version, boxes, files, is_unverified: false }
    return this.rollouts.actions.start(wish, COMMAND_LINE)
  }

  /** Names of the boxes that are being upgraded at once, one after the other. */
  async watch(ms: number): Promise<readonly string[]> {
    const seen: string[] = []
    for (let passed = 0; passed < ms; passed += SECOND) {
      await this.clock.advance(SECOND)
      const busy = this.boxes.filter(
        ({ upgrade }) => upgrade?.state === 'downloading' || upgrade?.state === 'installing',
      )
      const names = busy.map(({ name }) => name).join(' ')
      if (names !== '' && names !== seen.at(-1)) seen.push(names)
    }
    return seen
  }

  /** The head ends, and another process starts on its database. */
  async restart(): Promise<void> {
    this.#stop.abort()
    await settle()
    this.#stop = new AbortController()
    this.rollouts = this.#run()
  }

  get audited(): readonly unknown[] {
    const page = listAudit(this.db, { action: 'box.upgraded' }, { limit: 100, cursor: null })
    return page.data.map(({ about, before, after }) => [about.id, before, after]).toReversed()
  }

  get findings() {
    return this.rollouts.findings().map(({ code, title, why }) => [code, title, why])
  }

  end(): void {
    this.#stop.abort()
    this.folder[Symbol.dispose]()
  }

  #run(): Rollouts {
    const { clock, db, writer, stamps } = this
    const find = (id: BoxId) => this.boxes.find((box) => box.id === id)
    const rollouts = new Rollouts({
      ...{ clock, db, writer, stamps, folder: this.release, version: '1.1.0' },
      changed: () => {},
      audit: createAudit({ writer, stamps, log: silentLog }),
      viewOf: (id) => find(id)?.view() ?? null,
      order: async (id, request) => {
        const box = find(id)
        if (box === undefined) throw new LinkError('There is none.')
        return box.take(clock, request)
      },
    })
    void rollouts.run(this.#stop.signal)
    return rollouts
  }
}

const STORED: Omit<Box, 'id' | 'name' | 'publicKey'> = {
  invitationKey: null,
  invitedUntil: null,
  createdAt: timestamp(0),
  joinedAt: timestamp(0),
  removedAt: null,
  version: null,
  platform: PLATFORM,
  lastHeardAt: null,
}

const heads: Head[] = []
afterEach(() => {
  for (const head of heads.splice(0)) head.end()
})

const ORDERS: readonly (readonly [count: number, batches: readonly string[]])[] = [
  [1, ['01']],
  [3, ['01', '02', '03']],
  [12, ['01', '02 03', '04 05', '06 07', '08 09', '10 11', '12']],
]

for (const [count, batches] of ORDERS) {
  test(`${count} boxes are upgraded one first, then a tenth at a time`, async () => {
    const head = await Head.with(count)

    await head.start()
    const seen = await head.watch(5 * MINUTE)

    expect(seen).toEqual(batches)
    expect(head.boxes.map(({ version }) => version)).toEqual(Array(count).fill('1.1.0'))
    expect(head.rollouts.actions.current()).toBeNull()
    expect(head.boxes.map(({ orders }) => orders.length)).toEqual(Array(count).fill(1))
  })
}

test('each box is in the audit trail, as the order of the owner', async () => {
  const head = await Head.with(2)

  await head.start()
  await head.watch(2 * MINUTE)

  const ids = head.boxes.map(({ id }) => id)
  const fields = [{ version: '1.0.0' }, { version: '1.1.0' }]
  expect(head.audited).toEqual(ids.map((id) => [id, ...fields]))
})

const FAILURES: readonly (readonly [how: How, why: string, afterMs: number])[] = [
  ['refuses', '02: It runs in the foreground.', MINUTE],
  ['rolls back', '02: It did not start.', MINUTE],
  ['says nothing', '02: It has not been reached for 30 minutes.', 32 * MINUTE],
  ['loses its line', '02: It has the new version, and is offline with +02.', 32 * MINUTE],
]

for (const [how, why, afterMs] of FAILURES) {
  test(`a box that ${how} pauses the rollout, and the owner reads why`, async () => {
    const head = await Head.with(4)
    const [, second] = head.boxes
    if (second !== undefined) second.how = how

    await head.start()
    await head.watch(afterMs)

    expect(head.boxes.map(({ version }) => version === '1.1.0')).toEqual([
      true,
      how === 'loses its line',
      false,
      false,
    ])
    const title = 'The upgrade of the boxes to 1.1.0 is paused'
    expect(head.findings).toEqual([['rollout_paused', title, `${why} 1 of 4 boxes are upgraded.`]])
    expect(head.rollouts.actions.current()).toMatchObject({
      status: 'paused',
      upgraded: 1,
      boxes: 4,
    })
  })
}

test('resumed, the box that failed has another turn, and then the others', async () => {
  const head = await Head.with(3)
  const [first] = head.boxes
  if (first !== undefined) first.how = 'rolls back'
  await head.start()
  await head.watch(MINUTE)
  if (first !== undefined) first.how = 'works'

  await head.rollouts.actions.resume()
  const seen = await head.watch(2 * MINUTE)

  expect(seen).toEqual(['01', '02', '03'])
  expect(first?.orders.length).toBe(2)
  expect(head.findings).toEqual([])
})

test('canceled, no further box begins, and the executables go', async () => {
  const head = await Head.with(3)
  await head.start()
  await head.watch(5 * SECOND)
  const { sha256 } = await hashOf(head)

  const before = await head.rollouts.chunk({ sha256, offset: 0 })
  const canceled = await head.rollouts.actions.cancel()
  const after = await head.rollouts.chunk({ sha256, offset: 0 })
  await head.watch(2 * MINUTE)

  expect(before).toMatchObject({ isLast: true })
  expect(canceled).toMatchObject({ version: '1.1.0', upgraded: 0, boxes: 3 })
  expect(after).toEqual({ isMissing: true })
  expect(head.boxes.map(({ orders }) => orders.length)).toEqual([1, 0, 0])
  expect(head.rollouts.actions.current()).toBeNull()
  await expect(head.rollouts.actions.resume()).rejects.toThrow('No upgrade of boxes is under way.')
})

test('a box that is away is passed over, and has its turn when it is back', async () => {
  const head = await Head.with(3)
  const [first] = head.boxes
  if (first !== undefined) first.isReachable = false

  await head.start()
  const without = await head.watch(20 * MINUTE)
  const states = head.boxes.map(({ id }) => head.rollouts.upgradeOf(id)?.state ?? null)
  if (first !== undefined) first.isReachable = true
  const back = await head.watch(MINUTE)

  expect(without).toEqual(['02', '03'])
  expect(states).toEqual(['waiting', null, null])
  expect(back).toEqual(['01'])
  expect(head.rollouts.actions.current()).toBeNull()
})

test('a box that is away for 30 minutes of its turn pauses the rollout', async () => {
  const head = await Head.with(2)
  const [first] = head.boxes
  if (first !== undefined) first.isReachable = false

  await head.start()
  await head.watch(29 * MINUTE)
  const early = head.findings
  await head.watch(2 * MINUTE)

  expect(early).toEqual([])
  expect(head.findings[0]?.[2]).toStartWith('01: It has not been reached for 30 minutes.')
})

for (const seconds of [1, 5, 15, 21, 40]) {
  test(`a head that restarts after ${seconds} s goes on where it was`, async () => {
    const head = await Head.with(3)
    await head.start()
    await head.watch(seconds * SECOND)

    await head.restart()
    await head.watch(3 * MINUTE)

    expect(head.boxes.map(({ version }) => version)).toEqual(['1.1.0', '1.1.0', '1.1.0'])
    expect(head.boxes.map(({ orders }) => orders.length)).toEqual([1, 1, 1])
    expect(head.audited.length).toBe(3)
    expect(head.rollouts.actions.current()).toBeNull()
  })
}

test('a head that was off for an hour waits for its boxes anew', async () => {
  const head = await Head.with(2)
  const [first] = head.boxes
  await head.start()
  await head.watch(5 * SECOND)
  if (first !== undefined) first.how = 'says nothing'

  await head.watch(29 * MINUTE)
  await head.restart()
  await head.watch(29 * MINUTE)
  const early = head.findings
  await head.watch(2 * MINUTE)

  expect(early).toEqual([])
  expect(head.findings.length).toBe(1)
})

test('a box that was upgraded by hand is left alone, and one that was removed is left out', async () => {
  const head = await Head.with(3)
  const [first, second] = head.boxes
  if (first !== undefined) first.version = '1.1.0'
  if (second !== undefined) second.view = () => null as unknown as BoxView // As of a removed box.
  await head.start()

  await head.watch(2 * MINUTE)

  expect(head.boxes.map(({ orders }) => orders.length)).toEqual([0, 0, 1])
  expect(head.rollouts.actions.current()).toBeNull()
  expect(head.audited.length).toBe(1)
})

test('what cannot be upgraded like this is refused before any box is asked', async () => {
  const head = await Head.with(2)
  const [first] = head.boxes
  const newer = head.start('1.2.0')
  await expect(newer).rejects.toThrow('This relay has 1.1.0. Upgrade it first: hookline upgrade')
  await expect(head.start('1.1.0', ['nowhere'])).rejects.toThrow('There is no box nowhere.')
  if (first !== undefined)
    first.view = () => ({ ...new FakeBox('01').view(), platform: 'darwin-x64' })
  await expect(head.start()).rejects.toThrow('no executable for 01 (darwin-x64)')
  if (first !== undefined) first.view = () => new FakeBox('01').view()
  await head.start()

  await expect(head.start()).rejects.toThrow('An upgrade of boxes is under way.')
})

test('a removed box does not take its failure with it', async () => {
  const head = await Head.with(2)
  const [first] = head.boxes
  if (first === undefined) throw new Error('There are two.')
  first.how = 'rolls back'
  await head.start()
  await head.watch(MINUTE)

  await head.writer.write((tx) => updateBox(tx, first.id, { removedAt: timestamp(1) }))
  first.view = () => null as unknown as BoxView // As of a removed box.
  await head.watch(MINUTE)
  const paused = head.findings.length
  await head.rollouts.actions.resume()
  await head.watch(MINUTE)

  expect(paused).toBe(1)
  expect(head.boxes[1]?.version).toBe('1.1.0')
})

async function hashOf(head: Head) {
  const bytes = await Bun.file(`${head.release}/hookline-linux-x64`).bytes()
  return { sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex') }
}
