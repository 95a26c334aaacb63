// A box's side of an upgrade: the download, the start of the process that installs it, and what the next process
// of the box says of it, whichever version that is. The real process is in test/executable.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

import { BoxUpgrade, type SelfUpgrade } from '../../src/boxes/box-upgrade.ts'
import { LinkError } from '../../src/boxes/link.ts'
import { CHUNK_BYTES, type Chunk, type Request } from '../../src/boxes/wire.ts'
import { silentLog } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock, settle } from '../support/test-clock.ts'

const FILE = new Uint8Array(CHUNK_BYTES * 2 + 100).map((_, at) => at % 251)
const SHA256 = new Bun.CryptoHasher('sha256').update(FILE).digest('hex')
const NAME = 'hookline-linux-x64'
const SECOND = 1_000

const ORDER: Request<'upgrade'> = {
  order: '1.1',
  epoch: 7,
  to: '1.1.0',
  name: NAME,
  sha256: SHA256,
  size: FILE.length,
  sums: `${SHA256}  ${NAME}\n`,
  signature: 'signed',
  isUnverified: false,
  lines: [
    { kind: 'mac', key: 'one', name: 'Sales' },
    { kind: 'mac', key: 'two', name: '+12025550100' },
  ],
}

class Machine implements Disposable {
  readonly clock = new TestClock()
  readonly folder = new ScratchFolder()
  readonly installed: Parameters<SelfUpgrade['install']>[0][] = []
  readonly fetched: (readonly [offset: number, epoch: number])[] = []
  isWatched = false
  isHeadThere = true
  hasFile = true
  obstacle: string | null = null
  acceptsUnsigned = false
  installProblem: string | null = null
  /** Size from which the head gives nothing any more. */
  breaksAt = Infinity
  box: BoxUpgrade
  #stop = new AbortController()

  constructor() {
    this.box = this.start('1.0.0')
  }

  get path(): string {
    return this.folder.file('download')
  }

  /** Another process of the box, of this version, in place of the one before. */
  start(version: string): BoxUpgrade {
    this.#stop.abort()
    this.#stop = new AbortController()
    const self: SelfUpgrade = {
      obstacle: this.obstacle,
      acceptsUnsigned: this.acceptsUnsigned,
      install: async (order) => {
        if (this.installProblem !== null) throw new Error(this.installProblem)
        this.installed.push(order)
      },
      isWatched: () => this.isWatched,
    }
    this.box = new BoxUpgrade(self, {
      clock: this.clock,
      log: silentLog,
      folder: this.path,
      version,
      fetch: async ({ offset }, epoch) => this.#chunk(offset, epoch),
    })
    void this.box.run(this.#stop.signal)
    return this.box
  }

  /** Takes the order, and lets its download end. */
  async take(order: Partial<Request<'upgrade'>> = {}) {
    const answer = this.box.take({ ...ORDER, ...order })
    await settle()
    const isStuck = !this.isHeadThere || this.breaksAt < Infinity
    // Files are read and written meanwhile, in no time of the test.
    const isOver = () => (isStuck || this.box.report()?.state !== 'downloading' ? true : null)
    await eventually('the download has ended', isOver)
    await settle()
    return answer
  }

  result(...lines: readonly object[]): void {
    writeFileSync(`${this.path}/result.json`, lines.map((line) => JSON.stringify(line)).join('\n'))
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.folder[Symbol.dispose]()
  }

  #chunk(offset: number, epoch: number): Chunk {
    if (!this.isHeadThere || offset >= this.breaksAt) throw new LinkError('It is away.')
    if (!this.hasFile) return { isMissing: true }
    this.fetched.push([offset, epoch])
    const bytes = FILE.subarray(offset, offset + CHUNK_BYTES)
    return { data: bytes.toBase64(), isLast: bytes.length < CHUNK_BYTES }
  }
}

const said = (state: string, problem: string | null = null) => {
  return { order: '1.1', to: '1.1.0', state, problem } as never // As it is reported.
}

test('an order is downloaded, laid beside its signed sums, and installed by a process of its own', async () => {
  using machine = new Machine()

  const answer = machine.box.take(ORDER)
  const during = machine.box.report()
  await machine.take()

  expect([answer, during]).toEqual([{ isTaken: true }, said('downloading')])
  const file = `${machine.path}/${NAME}`
  const output = `${machine.path}/result.json`
  expect(machine.installed).toEqual([{ file, isUnverified: false, output }])
  expect(readFileSync(file)).toEqual(Buffer.from(FILE))
  expect(readFileSync(`${machine.path}/SHA256SUMS`, 'utf8')).toBe(ORDER.sums)
  expect(readFileSync(`${machine.path}/SHA256SUMS.minisig`, 'utf8')).toBe('signed')
  expect(machine.fetched.map(([offset]) => offset)).toEqual([0, CHUNK_BYTES, 2 * CHUNK_BYTES])
  expect(machine.box.report()).toEqual(said('installing'))
})

test('an order that is repeated is taken once, and another one waits until it is done', async () => {
  using machine = new Machine()
  await machine.take()

  const again = await machine.take()
  const other = await machine.take({ order: '2.1' })

  expect([again, other]).toEqual([{ isTaken: true }, null])
  expect(machine.installed.length).toBe(1)
})

test('a box that no service runs refuses', async () => {
  using machine = new Machine()
  machine.obstacle = 'By hand.'
  machine.start('1.0.0')

  expect(await machine.take()).toEqual({ refused: 'By hand.' })
  expect(machine.box.report()).toBeUndefined()
  expect(existsSync(machine.path)).toBe(false)
})

test('a download goes on behind what was there, also in another process and from another head', async () => {
  using machine = new Machine()
  machine.breaksAt = CHUNK_BYTES
  await machine.take()
  machine.start('1.0.0')
  machine.breaksAt = Infinity

  await machine.take({ epoch: 8 })

  expect(machine.fetched).toEqual([
    [0, 7],
    [CHUNK_BYTES, 8],
    [2 * CHUNK_BYTES, 8],
  ])
  expect(machine.installed.length).toBe(1)
  expect(readFileSync(`${machine.path}/${NAME}`)).toEqual(Buffer.from(FILE))
})

test('a head that is away is waited for', async () => {
  using machine = new Machine()
  machine.isHeadThere = false
  await machine.take()
  await machine.clock.advance(60 * SECOND)
  const during = machine.box.report()
  machine.isHeadThere = true
  machine.box.take({ ...ORDER, epoch: 9 })

  await machine.clock.advance(SECOND)
  await machine.take()

  expect(during).toEqual(said('downloading'))
  expect(machine.fetched[0]).toEqual([0, 9])
  expect(machine.installed.length).toBe(1)
})

test('a file that differs from its sum is not installed, nor one that the head does not have', async () => {
  using machine = new Machine()
  const problem = 'The new version could not be fetched from the head.'

  await machine.take({ sha256: SHA256.replace(/./g, '0') })
  const differs = machine.box.report()
  machine.hasFile = false
  await machine.take({ order: '1.2' })

  expect(differs).toEqual(said('failed', problem))
  expect(machine.box.report()).toMatchObject({ order: '1.2', state: 'failed', problem })
  expect(machine.installed).toEqual([])
  expect(readdirSync(machine.path)).toEqual([])
})

test('a process that cannot be started is a failure, and a later order begins again', async () => {
  using machine = new Machine()
  machine.installProblem = 'No unit today.'
  await machine.take()
  const failed = machine.box.report()
  machine.installProblem = null

  await machine.take({ order: '1.2' })

  expect(failed).toEqual(said('failed', 'No unit today.'))
  expect(machine.installed.length).toBe(1)
})

type Outcome = readonly [what: string, result: object | null, report: unknown]

const WHY = 'The new version did not start: it was not ready within 120 seconds.'
const OUTCOMES: readonly Outcome[] = [
  [
    'rolled back',
    { outcome: 'rolled_back', why: WHY, aside: null, trouble: null },
    said('rolled_back', WHY),
  ],
  ['refused', { outcome: 'refused', why: 'Not signed.' }, said('failed', 'Not signed.')],
  [
    'stuck',
    { outcome: 'stuck', why: 'Bad.', noWayBack: 'No way.' },
    said('failed', 'Bad. No way.'),
  ],
  ['never begun', { error: { code: 'failed', message: 'No.' } }, said('failed', 'No.')],
  ['interrupted', null, said('failed', 'The upgrade was interrupted.')],
]

for (const [what, result, report] of OUTCOMES) {
  test(`the old version says of an upgrade that was ${what}`, async () => {
    using machine = new Machine()
    await machine.take()
    machine.isWatched = true
    machine.start('1.0.0')
    const during = machine.box.report()

    if (result !== null) machine.result({ note: 'first' }, result)
    machine.isWatched = false

    expect(during).toEqual(said('installing'))
    expect(machine.box.report() as unknown).toEqual(report)
    machine.start('1.0.0')
    expect(machine.box.report() as unknown).toEqual(report)
  })
}

test('the process that was started has half a minute to say that it runs', async () => {
  using machine = new Machine()
  await machine.take()

  await machine.clock.advance(29 * SECOND)
  const early = machine.box.report()
  await machine.clock.advance(2 * SECOND)

  expect(early).toEqual(said('installing'))
  expect(machine.box.report()).toEqual(said('failed', 'The upgrade was interrupted.'))
})

test('the new version is done once nothing watches it, and leaves nothing behind', async () => {
  using machine = new Machine()
  await machine.take()
  machine.isWatched = true
  machine.start('1.1.0')
  const during = machine.box.report()
  machine.isWatched = false

  const done = machine.box.report()

  expect([during, done]).toEqual([said('installing'), undefined])
  expect(existsSync(machine.path)).toBe(false)
})

test('the new version is not ready before the lines of before are online', async () => {
  using machine = new Machine()
  await machine.take()
  const old = machine.box.notReady(() => false)
  machine.isWatched = true
  machine.start('1.1.0')

  expect(old).toBeNull()
  expect(machine.box.notReady(() => false)).toBe('It is offline with Sales, +12025550100.')
  expect(machine.box.notReady((_, key) => key === 'one')).toBe('It is offline with +12025550100.')
  expect(machine.box.notReady(() => true)).toBeNull()
})

test('a box takes an order without a signature only if its own start option allows it', async () => {
  using machine = new Machine()

  const refused = await machine.take({ isUnverified: true, signature: null })
  const left = [machine.box.report(), [...machine.fetched], [...machine.installed]]
  machine.acceptsUnsigned = true
  machine.start('1.0.0')
  const taken = await machine.take({ isUnverified: true, signature: null })

  expect(refused).toEqual({ refused: expect.stringContaining('HOOKLINE_ACCEPT_UNSIGNED=true') })
  expect(left).toEqual([undefined, [], []])
  expect(taken).toEqual({ isTaken: true })
  expect(machine.installed).toMatchObject([{ isUnverified: true }])
})
