// A machine with a service on it, for upgrades: real files, a real database, and executables that are
// notes of how they behave. A relay that serves carries what is queued, so that whatever an upgrade
// would lose or repeat shows in `carried`.

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { minisign, minisignPublicKey } from '../../scripts/sign-release.ts'
import { upgrade } from '../../src/hosting/upgrade.ts'
import type {
  RelayState,
  UpgradeOrder,
  UpgradeResult,
  UpgradeStep,
  UpgradedMachine,
} from '../../src/hosting/upgraded-machine.ts'
import { backUpBeforeMigration } from '../../src/storage/backup.ts'
import { closeDatabase, openDatabase, type Db } from '../../src/storage/database.ts'
import { acceptMigration, MIGRATIONS, readSchemaState } from '../../src/storage/migrations.ts'
import type { Clock } from '../../src/system/clock.ts'
import { openDataDirectory, type DataDirectory } from '../../src/system/data-directory.ts'
import { takeInstanceLock, type InstanceLock } from '../../src/system/instance-lock.ts'
import { parseMinisignKey } from '../../src/system/minisign.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { TestClock } from '../support/test-clock.ts'
import { OLD, readBuild, runBuild, writeBuild, type Build } from './upgrade-builds.ts'

const ADDS = { name: '0001_adds.sql', sql: 'CREATE TABLE added (a INTEGER) STRICT' }
const TRIAL_MS = 100_000
const START_MS = 200_000

/** Releases are signed with this one. */
const RELEASE = generateKeyPairSync('ed25519').privateKey

type Relay = {
  readonly build: Build
  readonly db: Db
  readonly startedAt: number
  isServing: boolean
}

export class UpgradeWorld implements Disposable {
  readonly clock = new TestClock()
  readonly directory: DataDirectory
  readonly executable: string
  readonly file: string
  /** The id of each message that left, as often as it did. */
  readonly carried: string[] = []
  isHosted = true
  /** False for a build from a checkout that has no release key. */
  hasReleaseKey = true
  /** What a build that is silent says of why it is not ready. */
  why: string | undefined = undefined
  /** How many wait for the test's time to pass. */
  #sleeping = 0
  #relay: Relay | null = null
  #relayLock: InstanceLock | null = null
  #dataLock: InstanceLock | null = null
  readonly #folder = new ScratchFolder()

  constructor() {
    for (const name of ['bin', 'downloads']) mkdirSync(this.#folder.file(name))
    this.executable = this.#folder.file('bin/hookline')
    this.file = this.#folder.file('downloads/hookline-next')
    this.directory = openDataDirectory(join(this.#folder.path, 'data'))
    writeBuild(this.executable, OLD)
    this.boot()
    storeLine(this.#running().db.sqlite)
    this.accept('msg_before')
  }

  /** A release with its signed sums: of the right key, of another, or none. */
  publish(
    build: Build,
    { sum = '', signedBy = RELEASE }: { sum?: string; signedBy?: KeyObject } = {},
  ) {
    writeBuild(this.file, build)
    const real = new Bun.CryptoHasher('sha256').update(readFileSync(this.file)).digest('hex')
    const content = `${sum === '' ? real : sum}  hookline-next\n`
    writeFileSync(this.sums, content)
    writeFileSync(this.signature, minisign(signedBy, Buffer.from(content), 'hookline'))
  }

  get sums(): string {
    return join(this.file, '../SHA256SUMS')
  }

  get signature(): string {
    return `${this.sums}.minisig`
  }

  /** Runs an upgrade to its end, or until `stopAfter` is done: there its process is killed. */
  async upgrade(
    more: Partial<UpgradeOrder> = {},
    stopAfter: UpgradeStep | null = null,
  ): Promise<{ readonly steps: readonly UpgradeStep[]; readonly result: UpgradeResult | null }> {
    const { file, executable } = this
    const order = {
      file,
      executable,
      isUnverified: false,
      releaseKey: this.hasReleaseKey ? parseMinisignKey(minisignPublicKey(RELEASE)) : null,
      signal: new AbortController().signal,
      ...more,
    }
    const run = upgrade(this.#machine(), order)
    const steps: UpgradeStep[] = []
    for (;;) {
      const next = await this.#whileTimePasses(run.next())
      if (next.done === true) return { steps, result: next.value }
      steps.push(next.value)
      if (next.value === stopAfter) break
    }
    // The kernel lets go of its locks.
    this.#dataLock?.release()
    this.#dataLock = null
    return { steps, result: null }
  }

  /** The machine starts the service, as after a power cut; throws if that cannot be done. */
  boot(): void {
    if (this.#relay === null) this.#start()
    // Nobody watches: its own check lets it serve.
    this.#serve()
  }

  powerCut(): void {
    this.#stop()
  }

  /** Has the relay that serves accept a message, which waits until the next start. */
  accept(id: string): void {
    const relay = this.#running()
    if (!relay.isServing) throw new Error('The relay stands still.')
    storeMessages(relay.db.sqlite, [{ id, status: 'queued' }])
  }

  /** Who runs, and whether it serves. */
  get running(): string {
    if (this.#relay === null) return 'nobody'
    const { build, isServing } = this.#relay
    return `${build.version} ${isServing ? 'serves' : 'stands still'}`
  }

  /** The versions of the executable and the one before it, and every other name beside them. */
  get installed(): readonly string[] {
    const folder = join(this.executable, '..')
    return readdirSync(folder)
      .sort()
      .map((name) => `${name} ${readBuild(join(folder, name))?.version}`)
  }

  /** What is in the data directory that no relay made. */
  get leftovers(): readonly string[] {
    const own = /^(hookline\.(db|lock).*|secret\.key|backups|rolled-back-.*)$/
    const back = /^hookline-[^.]*\.db$/
    return [
      ...readdirSync(this.directory.path).filter((name) => !own.test(name)),
      ...readdirSync(this.directory.backups).filter((name) => !back.test(name)),
    ]
  }

  /** Every message with its status, as the database has it now. */
  get messages(): unknown {
    const { sqlite } = this.#running().db
    return sqlite.query('SELECT id, status FROM messages ORDER BY seq').values()
  }

  [Symbol.dispose](): void {
    this.#stop()
    this.#folder[Symbol.dispose]()
  }

  #machine(): UpgradedMachine {
    const clock = this.#watchedClock()
    return {
      clock,
      run: async (order, signal) => {
        const end = runBuild(order)
        if (readBuild(order.path)?.how === 'is slow') await clock.sleep(TRIAL_MS, signal)
        return end
      },
      directory: this.directory,
      relay: {
        state: async () => this.#state(),
        confirmHealthy: async () => {
          if (this.#running().build.how === 'is deaf') throw new Error('no')
          this.#serve()
        },
      },
      service: this.isHosted
        ? { start: async () => this.#start(), stop: async () => this.#stop() }
        : null,
      holdData: () => (this.#dataLock = this.#lock()),
      readyMs: 60_000,
      isSignedHere: false,
    }
  }

  /** The clock, and a count of who sleeps on it. */
  #watchedClock(): Clock {
    const { clock } = this
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      uptime: () => clock.uptime(),
      after: (ms, act) => clock.after(ms, act),
      sleep: async (ms, signal) => {
        this.#sleeping += 1
        await clock.sleep(ms, signal)
        this.#sleeping -= 1
      },
    }
  }

  /** Lets the test's time pass while a person sleeps; reading a file takes none of it. */
  async #whileTimePasses<T>(work: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const watched = work.finally(() => {
      state.isOver = true
    })
    while (!state.isOver) await this.clock.advance(this.#sleeping > 0 ? 250 : 0)
    return watched
  }

  #state(): RelayState {
    if (this.#relay === null) return { is: 'absent' }
    const { how } = this.#relay.build
    const isStarting = this.clock.monotonic() - this.#relay.startedAt < START_MS
    if (how === 'is silent' || (how === 'is slow' && isStarting)) {
      return { is: 'starting', why: this.why }
    }
    return how === 'is in safe mode' ? { is: 'safe_mode', reason: 'It is so.' } : { is: 'ready' }
  }

  #start(): void {
    const build = readBuild(this.executable)
    if (build === null || build.how === 'does not start') throw new Error('It does not start.')
    this.#relayLock = this.#lock()
    const { db } = openDatabase(this.directory.database, {
      version: build.version,
      migrations: build.schema > MIGRATIONS.length ? [...MIGRATIONS, ADDS] : MIGRATIONS,
      backUp: backUpBeforeMigration(this.directory, this.clock.now()),
    })
    if (build.usableFrom > 1) {
      db.sqlite.run(`UPDATE about SET value = '${build.usableFrom}' WHERE name = 'usable_from'`)
    }
    this.#relay = { build, db, isServing: false, startedAt: this.clock.monotonic() }
    const { version, uncheckedFrom } = readSchemaState(db.sqlite)
    const isChecked = uncheckedFrom === null || version > build.schema
    if (isChecked && build.how === 'works') this.#serve()
  }

  #stop(): void {
    if (this.#relay !== null) closeDatabase(this.#relay.db)
    this.#relayLock?.release()
    this.#relay = null
    this.#relayLock = null
  }

  #serve(): void {
    const relay = this.#running()
    relay.isServing = true
    acceptMigration(relay.db.sqlite)
    const queued = relay.db.sqlite.query<{ id: string }, []>(
      "UPDATE messages SET status = 'sent' WHERE status = 'queued' RETURNING id",
    )
    this.carried.push(...queued.all().map(({ id }) => id))
  }

  #running(): Relay {
    if (this.#relay === null) throw new Error('No relay is running.')
    return this.#relay
  }

  #lock(): InstanceLock {
    const holder = { since: this.clock.now(), task: 'relay', address: null }
    return takeInstanceLock(this.directory.lock, holder)
  }
}
