// The upgrade of a box by its head: downloads the executable, and starts `hookline upgrade` as a process that goes on
// while the service stops. Its outcome lies in files, for whichever version starts next.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { SECOND_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { Log } from '../system/log.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { fetchFile } from './files.ts'
import { type Answer, askUntil, type Chunk, type Hello, type Request } from './wire.ts'

type Order = Request<'upgrade'>
type Report = NonNullable<Hello['upgrade']>
/** `from` is the version that took the order. */
type Installing = Order & { readonly from: string }

export type SelfUpgrade = {
  /** Reason why the box can't upgrade itself; null if it can, as a service. */
  readonly obstacle: string | null
  /** True if the owner lets it install executables without a release signature. */
  readonly acceptsUnsigned: boolean
  /** Starts the upgrade to `file` as a separate process, which writes its output to the file `output`. */
  readonly install: (order: {
    readonly file: string
    readonly isUnverified: boolean
    readonly output: string
  }) => Promise<void>
  /** True while an upgrade runs that waits for a start on this data directory. */
  readonly isWatched: () => boolean
}

/** Fetches a piece of the executable from the head of this epoch; rejects with a LinkError if none comes. */
type FetchPiece = (request: Request<'release_file'>, epoch: number) => Promise<Chunk>

/** Time for the started process to take its lock. */
const LAUNCH_MS = 30 * SECOND_MS
const IDLE_MS = 60 * SECOND_MS
const SUMS = 'SHA256SUMS'
const UNSIGNED =
  'It installs signed releases only. To change that, put HOOKLINE_ACCEPT_UNSIGNED=true into its hookline.env.'

export class BoxUpgrade implements Service {
  readonly name = 'upgrade'
  readonly #self: SelfUpgrade
  readonly #clock: Clock
  readonly #log: Log
  readonly #folder: string
  readonly #version: string
  readonly #fetch: FetchPiece
  readonly #wake = new Signal()
  #phase: 'none' | 'downloading' | 'installing' | 'failed' = 'none'
  #order: Order | null = null
  /** Version that took the order. */
  #from: string
  #problem: string | null = null
  #launchedAt = -Infinity
  #epoch = 0

  constructor(
    self: SelfUpgrade,
    given: {
      readonly clock: Clock
      readonly log: Log
      readonly folder: string
      readonly version: string
      readonly fetch: FetchPiece
    },
  ) {
    this.#self = self
    this.#clock = given.clock
    this.#log = given.log
    this.#folder = given.folder
    this.#version = given.version
    this.#fetch = given.fetch
    this.#from = given.version
    const text = readTextOrNull(this.#path('order.json'))
    if (text === null) return
    const { from, ...order } = JSON.parse(text) as Installing // `#install` wrote it.
    this.#order = order
    this.#from = from
    this.#phase = 'installing'
  }

  /** Accepts or refuses an order, once. Null if that can't be decided yet; the head then asks again. */
  take(order: Order): Answer<'upgrade'> | null {
    if (this.#order?.order === order.order) {
      this.#epoch = order.epoch
      return { isTaken: true }
    }
    if (this.#self.obstacle !== null) return { refused: this.#self.obstacle }
    if (order.isUnverified && !this.#self.acceptsUnsigned) return { refused: UNSIGNED }
    if (this.report()?.state === 'installing') return null
    for (const name of ['order.json', 'result.json']) rmSync(this.#path(name), { force: true })
    this.#order = order
    this.#epoch = order.epoch
    this.#from = this.#version
    this.#phase = 'downloading'
    this.#wake.notify()
    return { isTaken: true }
  }

  /** The report to the head with each hello; undefined if no upgrade is under way or has failed. */
  report(): Report | undefined {
    if (this.#order === null) return undefined
    const { order, to } = this.#order
    const reportOf = (state: Report['state'], problem: string | null = null) => {
      return { order, to, state, problem: problem?.slice(0, 2_000) ?? null }
    }
    if (this.#phase === 'downloading') return reportOf('downloading')
    if (this.#phase === 'failed') return reportOf('failed', this.#problem)
    const isOld = this.#version === this.#from
    const result = isOld ? resultIn(readTextOrNull(this.#path('result.json'))) : null
    if (result !== null) return reportOf(result.state, result.problem)
    const isFresh = this.#clock.monotonic() - this.#launchedAt < LAUNCH_MS
    if (isFresh || this.#self.isWatched()) return reportOf('installing')
    if (isOld) return reportOf('failed', 'The upgrade was interrupted.')
    this.#order = null
    rmSync(this.#folder, { recursive: true, force: true })
    return undefined
  }

  /** Reason why the new version must not stay yet: lines that were online are offline. Null if it may stay. */
  notReady(isOnline: (kind: string, key: string) => boolean): string | null {
    if (this.#order === null || this.#from === this.#version) return null
    const offline = this.#order.lines.filter(({ kind, key }) => !isOnline(kind, key))
    const names = offline.map(({ name }) => name).join(', ')
    return names === '' ? null : `It is offline with ${names}.`
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const order = this.#order
      if (order !== null && this.#phase === 'downloading') {
        try {
          await this.#perform(order, signal)
        } catch (error) {
          this.#fail(order, error instanceof Error ? error.message : String(error))
        }
        continue
      }
      await this.#wake.wait(this.#clock, IDLE_MS, signal)
    }
  }

  async #perform(order: Order, signal: AbortSignal): Promise<void> {
    this.#log.info('an upgrade is downloaded', { to: order.to })
    const isFetched = await this.#download(order, signal)
    // After a restart the head asks again; a newer order begins again.
    if (signal.aborted || this.#order !== order) return
    if (!isFetched) return this.#fail(order, 'The new version could not be fetched from the head.')
    writeFileSync(this.#path(SUMS), order.sums)
    if (order.signature !== null) writeFileSync(this.#path(`${SUMS}.minisig`), order.signature)
    const stored: Installing = { ...order, from: this.#from }
    writeFileAtomically(this.#path('order.json'), JSON.stringify(stored))
    this.#phase = 'installing'
    this.#launchedAt = this.#clock.monotonic()
    this.#log.info('an upgrade is installed', { to: order.to })
    const { isUnverified } = order
    const [file, output] = [this.#path(order.name), this.#path('result.json')]
    await this.#self.install({ file, isUnverified, output })
  }

  /** Downloads the executable; a restart resumes the download. */
  async #download({ name, sha256, size }: Order, signal: AbortSignal): Promise<boolean> {
    const part = `${sha256}.part`
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    for (const left of readdirSync(this.#folder)) {
      if (left !== part) rmSync(join(this.#folder, left), { recursive: true })
    }
    const path = this.#path(part)
    const wanted = { path, size, sha256, isResumed: existsSync(path) }
    const isFetched = await fetchFile(wanted, (offset) =>
      askUntil(this.#clock, signal, () => this.#fetch({ sha256, offset }, this.#epoch)),
    )
    if (isFetched) renameSync(path, this.#path(name))
    else if (!signal.aborted) rmSync(path, { force: true })
    return isFetched
  }

  #fail(order: Order, problem: string): void {
    if (this.#order !== order) return
    this.#log.warn('the upgrade has failed', { to: order.to, problem })
    this.#phase = 'failed'
    this.#problem = problem
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }
}

/** The end of an upgrade by its output, which is lines of JSON; null before the end. */
function resultIn(output: string | null): Pick<Report, 'state' | 'problem'> | null {
  for (const line of output?.trim().split('\n') ?? []) {
    const end = parsed(line)
    const problem = [end.why, end.noWayBack, end.trouble].filter(Boolean).join(' ')
    if (end.outcome === 'rolled_back') return { state: 'rolled_back', problem }
    if (end.outcome === 'refused' || end.outcome === 'stuck') return { state: 'failed', problem }
    if (end.error !== undefined) return { state: 'failed', problem: end.error.message ?? '' }
  }
  return null
}

type PrintedEnd = {
  readonly outcome?: string
  readonly why?: string
  readonly noWayBack?: string
  readonly trouble?: string | null
  readonly error?: { readonly message?: string }
}

function parsed(line: string): PrintedEnd {
  try {
    return JSON.parse(line) as PrintedEnd // Our own command printed it; another text has no fields.
  } catch {
    return {}
  }
}
