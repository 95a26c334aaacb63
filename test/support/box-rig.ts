// A head's fleet and a box's agent with a link in memory between them, on the test clock.

import { Database } from 'bun:sqlite'

import { BoxAgent } from '../../src/boxes/box-agent.ts'
import { type BoxRecords, Fleet } from '../../src/boxes/fleet.ts'
import { createJoinedDriver } from '../../src/boxes/joined-driver.ts'
import { Journal } from '../../src/boxes/journal.ts'
import type { Link } from '../../src/boxes/link.ts'
import type { BoxId } from '../../src/domain/ids.ts'
import type { LineDriver } from '../../src/lines/driver.ts'
import type { Clock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { MemoryNetwork } from './memory-link.ts'
import { ScratchFolder } from './scratch-folder.ts'
import { settle, type TestClock } from './test-clock.ts'

export const BOX = 'box_00000000000000000000000000' as BoxId // A well-formed id.
const VERSION = '1.4.0'

export type BoxProcess = {
  readonly agent: BoxAgent
  readonly journal: Journal
  readonly link: Link
  /** Ends it as `kill -9` does: nothing that it says arrives any more. */
  readonly kill: () => void
  /** Stops it in order; resolves when it has ended. */
  readonly stop: () => Promise<void>
}

type Launch = {
  readonly boxId: string
  readonly link: Link
  readonly drivers: readonly LineDriver[]
  readonly journal: Journal
  readonly clock: Clock
  readonly folder: string
  readonly version: string
}

/** A box that is not upgraded. */
export const NO_UPGRADE = {
  take: () => ({ refused: 'Not in this test.' }),
  report: () => undefined,
}

/** Starts a process of a box. */
export function launchBox({ boxId: id, drivers, version, ...given }: Launch): BoxProcess {
  const { link, journal, clock, folder } = given
  const health = { freeBytes: 50_000_000_000 }
  const facts = () => ({ version, platform: 'darwin', health })
  const box = { id, link, journal, clock, log: silentLog, folder }
  const agent = new BoxAgent(box, { facts, drivers, upgrade: NO_UPGRADE })
  const controller = new AbortController()
  const ended = agent.run(controller.signal)
  const kill = () => {
    void link.close()
    controller.abort()
  }
  const stop = async () => {
    controller.abort()
    await ended
  }
  return { agent, journal, link, kill, stop }
}

export class BoxRig implements Disposable {
  readonly clock: TestClock
  readonly network: MemoryNetwork
  readonly fleet: Fleet
  readonly folder = new ScratchFolder()
  readonly heard: unknown[] = []
  /** Epochs that boxes were given for themselves. */
  readonly epochs = new Map<BoxId, number>()
  journalDatabase = new Database(':memory:', { strict: true })
  removedAt: ReturnType<BoxRecords['find']> = { removedAt: null }
  takesFile: Fleet['takesFile'] = async () => true
  /** More boxes that were invited. */
  readonly others = new Map<BoxId, { readonly removedAt: null }>()
  box: BoxProcess | null = null

  constructor(clock: TestClock) {
    this.clock = clock
    this.network = new MemoryNetwork(clock)
    this.fleet = new Fleet({
      clock,
      log: silentLog,
      version: VERSION,
      folder: this.folder.file('received'),
      records: {
        find: (id) => (id === BOX ? this.removedAt : (this.others.get(id) ?? null)),
        epochOf: (id) => this.epochs.get(id) ?? 0,
        raiseEpoch: async (id, above) => {
          const epoch = Math.max(this.epochs.get(id) ?? 0, above) + 1
          this.epochs.set(id, epoch)
          return epoch
        },
        heard: (id, facts) => this.heard.push([id, facts]),
      },
      takesFile: (size, others) => this.takesFile(size, others),
      releaseFile: () => ({ isMissing: true }),
    })
    this.fleet.attach(this.network.link(), 1)
  }

  /** Starts a process of the box with these drivers, and kills the one before. */
  start(
    drivers: readonly LineDriver[],
    more: { readonly version?: string; readonly machine?: string } = {},
  ): BoxProcess {
    this.box?.kill()
    this.box = this.launch(drivers, more)
    return this.box
  }

  /** Starts a process beside those that run. */
  launch(
    drivers: readonly LineDriver[],
    {
      version = VERSION,
      machine = 'machine',
      database = this.journalDatabase,
    }: { readonly version?: string; readonly machine?: string; readonly database?: Database } = {},
  ): BoxProcess {
    const { clock } = this
    const link = this.network.link()
    const journal = new Journal(database, { clock, random: systemRandom, machine })
    const folder = this.folder.file(`outgoing-${journal.boot}`)
    return launchBox({ link, clock, boxId: BOX, drivers, journal, version, folder })
  }

  /** Resolves when the head listens to the process, with all of its devices. */
  async heardFrom({ journal }: BoxProcess, kind: string): Promise<void> {
    for (let i = 0; i < 100; i += 1) {
      const isHeard = this.fleet.bootOf(BOX) === journal.boot
      if (isHeard && this.fleet.devices(kind).length > 0) return
      await settle(1)
    }
    throw new Error('The box was not heard.')
  }

  /** Folder of the box for files that are to be sent. */
  outgoingFolder(): string {
    return this.folder.file(`outgoing-${this.box?.journal.boot}`)
  }

  /** The journal is gone; the next process begins another one. */
  wipeJournal(): void {
    this.journalDatabase = new Database(':memory:', { strict: true })
  }

  joined(kind: string, local: LineDriver | null = null): LineDriver {
    return createJoinedDriver(local, kind, this.fleet)
  }

  [Symbol.dispose](): void {
    this.box?.kill()
    this.folder[Symbol.dispose]()
  }
}
