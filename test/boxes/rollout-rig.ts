// A real head's rollout and database on the test clock, with boxes that behave as a test says.

import { mkdirSync, writeFileSync } from 'node:fs'

import { LinkError } from '../../src/boxes/link.ts'
import type { BoxView } from '../../src/boxes/rollout.ts'
import { Rollouts, type SendOrder } from '../../src/boxes/rollouts.ts'
import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { timestamp, type BoxId, type LineId } from '../../src/domain/ids.ts'
import { listAudit } from '../../src/storage/audit.ts'
import { insertBox, type Box } from '../../src/storage/boxes.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock, settle } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
const PLATFORM = 'linux-x64'

/** Behaviour of a box that is ordered to upgrade. */
export type How = 'works' | 'refuses' | 'rolls back' | 'says nothing' | 'loses its line'

export class FakeBox {
  readonly id: BoxId
  readonly name: string
  how: How = 'works'
  isReachable = true
  version = '1.0.0'
  upgrade: BoxView['upgrade'] = null
  isOnline = true
  /** Removed, it has no view. */
  isRemoved = false
  platform = PLATFORM
  /** Every order that it took, once each. */
  readonly orders: string[] = []

  constructor(name: string) {
    this.name = name
    this.id = `box_${name.padStart(26, '0')}` as BoxId // A well-formed id.
  }

  view(): BoxView | null {
    const { isReachable, version, upgrade, isOnline, platform } = this
    if (this.isRemoved) return null
    const id = `line_${this.name}` as LineId // Compared only.
    const line = {
      id,
      driver: 'mac',
      key: `key ${this.name}`,
      label: null,
      number: `+${this.name}`,
    }
    return { isReachable, version, upgrade, platform, lines: [{ line, isOnline }] }
  }

  async take(clock: TestClock, request: Parameters<SendOrder>[1]) {
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

/** A head, its database and its boxes. */
export class Head implements Disposable {
  readonly clock = new TestClock()
  readonly folder = new ScratchFolder()
  readonly release = this.folder.file('rollout')
  readonly core = openTestStorage(this.folder.file('hookline.db'), this.clock).core
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
    await head.core.writer.write((tx) => {
      for (const { id, name } of head.boxes) insertBox(tx, { ...STORED, id, name, publicKey: id })
    })
    return head
  }

  /** The box of this number, from 1 on. */
  box(number: number): FakeBox {
    const box = this.boxes[number - 1]
    if (box === undefined) throw new Error(`There is no box ${number}.`)
    return box
  }

  /** Upgrades all boxes, for so long. */
  async upgrade(ms: number): Promise<void> {
    await this.start()
    await this.clock.advance(ms)
  }

  publish(): void {
    mkdirSync(this.release, { recursive: true })
    writeFileSync(`${this.release}/hookline-linux-x64`, 'the next version')
    writeFileSync(`${this.release}/SHA256SUMS`, 'sums')
  }

  start(version = '1.1.0', boxes = this.boxes.map(({ id }) => id as string)) {
    const wish = { version, boxes, platforms: [PLATFORM], is_unverified: false }
    return this.rollouts.start(wish, COMMAND_LINE)
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
    const page = listAudit(this.core.db, { action: 'box.upgraded' }, { limit: 100, cursor: null })
    return page.data.map(({ about, before, after }) => [about.id, before, after]).toReversed()
  }

  get findings() {
    return this.rollouts.findings().map(({ code, title, why }) => [code, title, why])
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.folder[Symbol.dispose]()
  }

  #run(): Rollouts {
    const { clock } = this
    const find = (id: BoxId) => this.boxes.find((box) => box.id === id)
    const rollouts = new Rollouts(this.core, {
      folder: this.release,
      version: '1.1.0',
      changed: () => {},
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
