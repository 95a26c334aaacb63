// A relay in memory with simulated lines only, and what its tests move: its clock, its state, its life. A reset and a
// restart put another relay behind the same address.

import { accessSync, constants, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig, type Config } from '../config.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { Binding } from '../http/bind.ts'
import { isLoopbackName } from '../http/hosts.ts'
import { listen, type Listener } from '../http/listener.ts'
import type { Peer } from '../http/request-context.ts'
import type { Http } from '../http/server.ts'
import { SIMULATED_KIND } from '../lines/kinds/simulated/kind.ts'
import type { SimulatedNetwork } from '../lines/kinds/simulated/network.ts'
import { numberOfLine } from '../lines/kinds/simulated/people.ts'
import type { Db } from '../storage/database.ts'
import { systemClock } from '../system/clock.ts'
import { silentLog, type Log } from '../system/log.ts'
import { systemRandom } from '../system/random.ts'
import { REAL_TIME, SEEDED_START, type FakeClock } from './clock.ts'
import {
  addWebhook,
  beginLife,
  emptyRelay,
  endLife,
  imageOf,
  type Image,
  type Life,
  type Surroundings,
} from './life.ts'
import type { PeopleFile } from './people-file.ts'
import { FakeScript } from './script.ts'
import { Traffic } from './traffic.ts'

export type WorldOptions = {
  readonly host: string
  readonly port: number
  readonly lines: number
  /** With a seed, the clock stands still and all chance follows from it. */
  readonly seed: number | null
  /** The address that gets every event. */
  readonly webhook: string | null
  /** The file of people. */
  readonly people?: PeopleFile | undefined
  readonly log?: Log | undefined
  /** For files in place of a temporary one; null if there is no place. */
  readonly folder?: string | null | undefined
  /** The address for clients, if it isn't the one that it listens on. */
  readonly publicUrl?: string | undefined
  /** Replaces the port. It stays the same while the relay behind it changes. */
  readonly open?: ((http: Http) => Listener) | undefined
}

/** The name of the state in which a fake begins. */
export const START = 'start'

/** Each is a copy of the relay in memory. */
const SNAPSHOTS_MAX = 100

/** The longest that a call moves the clock, in real time. */
const MOVE_MS_MAX = 60_000

export class World implements Surroundings {
  readonly traffic: Traffic
  readonly script: FakeScript
  readonly listener: Listener
  readonly config: Config
  readonly log: Log
  readonly folder: string
  readonly bindings: readonly Binding[]
  readonly #options: WorldOptions
  readonly #snapshots = new Map<string, Image>()
  #life: Life | null = null
  /** Resolves when the present relay serves. */
  #ready: Promise<Life>
  /** The address by which a client called last. */
  #calledAt: string | null = null
  #moving: Promise<unknown> = Promise.resolve()

  /** `bindings` makes the handlers of the fake's own operations. */
  constructor(options: WorldOptions, bindings: (world: World) => readonly Binding[]) {
    this.script = new FakeScript(options.people ?? {}, options.lines)
    this.bindings = bindings(this)
    this.#options = options
    this.folder = (options.folder === undefined ? folderForFiles() : options.folder) ?? NO_FOLDER
    this.traffic = new Traffic({ isOrdered: options.seed !== null })
    this.config = configOf(options)
    this.log = options.log ?? silentLog
    const http: Http = {
      fetch: (request, peer) => this.fetch(request, peer),
      endStreams: () => this.#life?.app.http.endStreams(),
    }
    const { host, port } = this.config
    const open = options.open ?? ((it) => listen(it, { host, port, log: this.log }))
    this.listener = open(http)
    this.#ready = this.#start()
  }

  /** Resolves when it serves for the first time. */
  async start(): Promise<void> {
    await this.#ready
  }

  async stop(): Promise<void> {
    const life = await this.#ready
    await Promise.all([endLife(life), this.listener.stop(0)])
    if (this.hasRoomForFiles) rmSync(this.folder, { recursive: true, force: true })
  }

  get clock(): FakeClock {
    return this.#present().clock
  }

  get db(): Db {
    return this.#present().db
  }

  /** The simulated network of the present relay: what people have on their phones. */
  get network(): SimulatedNetwork {
    return this.#present().network()
  }

  /** Its address for clients. */
  readonly url = (): string => this.config.publicUrl ?? this.#calledAt ?? this.listener.localUrl

  get lineNumbers(): readonly string[] {
    return Array.from({ length: this.#options.lines }, (_, index) => numberOfLine(index + 1))
  }

  /** True if files can be kept. */
  get hasRoomForFiles(): boolean {
    return this.folder !== NO_FOLDER
  }

  /**
   * Answers a request. If the clock stands still, the answer waits until everything that the request began is done, so
   * that a client that awaits each answer always meets the same state. A request by the receiver of a webhook can't
   * wait for that webhook.
   */
  async fetch(request: Request, peer: Peer): Promise<Response> {
    const { app, clock } = await this.#ready
    this.#noteAddress(request.url)
    const isNested = this.traffic.inFlight().length > 0
    const response = await app.http.fetch(request, peer)
    if (clock.isFrozen && !isNested) await this.traffic.settle()
    return response
  }

  /** Moves the clock on, once earlier moves are over. */
  async advance(ms: number): Promise<void> {
    await this.#alone(async () => {
      const until = systemClock.monotonic() + MOVE_MS_MAX
      await this.clock.advanceUntil(() => systemClock.monotonic() > until, ms)
    })
  }

  /** Keeps the present state under a name. Throws `invalid_request` if there are too many others. */
  async snapshot(name: string): Promise<void> {
    if (!this.#snapshots.has(name) && this.#snapshots.size >= SNAPSHOTS_MAX) {
      const message = `is one too many: a fake keeps ${SNAPSHOTS_MAX}. Use the name of one again`
      throw invalidRequest({ path: 'name', message })
    }
    await this.#alone(async () => {
      this.#snapshots.set(name, imageOf(this.#present()))
    })
  }

  /** Goes back to a snapshot; false if there is none with this name. */
  async reset(name: string): Promise<boolean> {
    const image = this.#snapshots.get(name)
    if (image !== undefined) await this.#replace(() => image)
    return image !== undefined
  }

  /** Another relay goes on with what was committed, and people keep what they got on their phones. */
  async restart(): Promise<void> {
    await this.#replace((before) => {
      const image = imageOf(before)
      return { ...image, network: () => before.network().image(), script: null }
    })
  }

  /** The state is chosen before the present relay ends: what that still writes is lost, as in a crash. */
  async #replace(imageFor: (before: Life) => Image): Promise<void> {
    await this.#alone(async () => {
      const before = this.#present()
      const next = Promise.withResolvers<Life>()
      this.#ready = next.promise
      const image = imageFor(before)
      await endLife(before)
      this.#life = await beginLife(image, this)
      next.resolve(this.#life)
    })
  }

  async #start(): Promise<Life> {
    const { seed, webhook } = this.#options
    const isSeeded = seed !== null
    this.#life = await beginLife(
      {
        relay: await emptyRelay(),
        network: () => null,
        clock: isSeeded ? { isFrozen: true, ms: SEEDED_START } : REAL_TIME,
        script: null,
        random: seed,
      },
      this,
    )
    if (webhook !== null) await addWebhook(this.#life, webhook)
    this.script.begin(this.network)
    await this.traffic.settle()
    this.#snapshots.set(START, imageOf(this.#life))
    return this.#life
  }

  /** A container doesn't know to which port its own is mapped, but its clients do. Its health check is none of them. */
  #noteAddress(url: string): void {
    const { origin, pathname } = new URL(url)
    const isMapped = !isLoopbackName(this.config.host) && !PROBES.includes(pathname)
    if (isMapped) this.#calledAt = origin
  }

  #present(): Life {
    if (this.#life === null) throw new Error('The fake has not started.')
    return this.#life
  }

  /** Runs `act` once earlier calls of this are over. */
  async #alone(act: () => Promise<void>): Promise<void> {
    const done = this.#moving.then(act)
    this.#moving = done.catch(() => {})
    await done
  }
}

function configOf({ host, port, lines, publicUrl }: WorldOptions): Config {
  const flags = { host, port: String(port), simulatedLines: String(lines), publicUrl }
  // Neither the environment nor a file has a say: options and secrets of a real relay may be there.
  const nowhere = { environment: {}, defaultDataDir: NO_FOLDER, folder: '/', readText: () => null }
  return loadConfig({ ...nowhere, flags }, [SIMULATED_KIND]).config
}

const PROBES = ['/healthz', '/readyz']

/** Nobody can make a folder there. */
const NO_FOLDER = '/dev/null/nowhere'

/** A folder for the files of messages, which the first file makes; null if this machine has no place for one. */
function folderForFiles(): string | null {
  const place = [tmpdir(), '/dev/shm'].find((folder) => {
    try {
      accessSync(folder, constants.W_OK)
      return true
    } catch {
      return false
    }
  })
  const name = Buffer.from(systemRandom.bytes(8)).toString('hex')
  return place === undefined ? null : join(place, `hookline-fake-${name}`)
}
