// The head's own broker: a nats-server that runs as a child while there are boxes or invitations.

import { join } from 'node:path'

import type { Finding } from '../domain/finding.ts'
import { DAY_MS, SECOND_MS } from '../domain/time.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { Service } from '../system/service.ts'
import { Signal } from '../system/signal.ts'
import { HEAD_INBOX, brokerConfig, type BrokerUsers } from './broker-config.ts'
import { BROKER_NAME, keepCertificates } from './certificates.ts'
import type { NatsOptions } from './nats-link.ts'
import {
  ServerProcess,
  brokerFinding,
  configArgs,
  endOrphan,
  findNatsServer,
  portHolder,
  type BrokerMachine,
  type Program,
} from './nats-server.ts'
import { makeKey, publicKeyOf } from './nkeys.ts'

export type BrokerOptions = {
  /** Paths of the broker's folder, which is made if it is missing, and of the authority and key that boxes trust. */
  readonly directory: Pick<DataDirectory, 'broker' | 'brokerAuthority' | 'brokerSeed'>
  readonly port: number
  /** Path of the program; null for the installed one. */
  readonly program: string | null
  /** All users that may connect now; called at each start and at each `apply`. */
  readonly users: () => BrokerUsers
}

const START_MS = 10 * SECOND_MS
const RELOAD_MS = 3 * SECOND_MS
const APPLY_MS = 15 * SECOND_MS
/** Time between two searches for a missing program. */
const SEARCH_MS = 10 * SECOND_MS
/** A server that listened for this long is restarted without a delay. */
const HEALTHY_MS = SECOND_MS
const DELAY_MS_MIN = 250
const DELAY_MS_MAX = 10 * SECOND_MS
const PORT_TAKEN = /bind: address already in use/

export class Broker implements Service {
  readonly name = 'broker'
  readonly #options: BrokerOptions
  readonly #machine: BrokerMachine
  readonly #configFile: string
  readonly #pidFile: string
  readonly #wake = new Signal()
  #waiters: { readonly version: number; readonly done: (isApplied: boolean) => void }[] = []
  #version = 0
  /** Number of times that the server ended since it was last healthy. */
  #failures = 0
  #isListening = false
  #finding: Finding | null = null

  constructor(options: BrokerOptions, machine: BrokerMachine) {
    this.#options = options
    this.#machine = machine
    this.#configFile = join(options.directory.broker, 'nats.conf')
    this.#pidFile = join(options.directory.broker, 'nats.pid')
  }

  findings(): readonly Finding[] {
    return this.#finding === null ? [] : [this.#finding]
  }

  get isListening(): boolean {
    return this.#isListening
  }

  /** The head's access to the broker. Makes the certificates and the head's key if they are missing. */
  async access(): Promise<Omit<NatsOptions, 'name'> & { readonly publicKey: string }> {
    const { directory, port } = this.#options
    const { ca } = keepCertificates(directory, this.#machine)
    const seedFile = directory.brokerSeed
    const fresh = readTextOrNull(seedFile) === null ? (await makeKey()).seed : ''
    // Another call may have made a key meanwhile.
    const seed = readTextOrNull(seedFile) ?? fresh
    if (seed === fresh) writeFileAtomically(seedFile, seed)
    const publicKey = await publicKeyOf(seed)
    const way = { servers: [`127.0.0.1:${port}`], serverName: BROKER_NAME, inboxPrefix: HEAD_INBOX }
    return { ...way, ca, seed, publicKey }
  }

  /**
   * Resolves with true once the broker has the current users and has cut off all others; with false if that fails, or
   * after 15 seconds.
   */
  apply(): Promise<boolean> {
    this.#version += 1
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = this.#machine.clock.after(APPLY_MS, () => resolve(false))
    const done = (isApplied: boolean) => {
      cancel()
      resolve(isApplied)
    }
    this.#waiters.push({ version: this.#version, done })
    this.#wake.notify()
    return promise
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#machine
    const files = { pidFile: this.#pidFile, configFile: this.#configFile }
    const orphan = await endOrphan(files, this.#machine, signal)
    if (orphan !== null) log.info('broker of an earlier start ended', { pid: orphan })
    let program: Program | null = null
    while (!signal.aborted) {
      if (!this.#isNeeded()) {
        this.#finding = null
        this.#settle(this.#version, true)
        await this.#wake.wait(clock, DAY_MS, signal)
        continue
      }
      // While boxes wait for a restart, the program isn't searched for again, unless it keeps failing.
      const known: Program | null = this.#failures > 1 ? null : program
      const found: Program | Finding =
        known ?? (await findNatsServer(this.#options.program, this.#machine, signal))
      if ('code' in found) {
        this.#finding = found
        await this.#wake.wait(clock, SEARCH_MS, signal)
      } else {
        program = found
        await this.#runServer(found, signal)
      }
    }
    this.#settle(this.#version, false)
  }

  #isNeeded(): boolean {
    const { boxes, invitations } = this.#options.users()
    return boxes.length + invitations.length > 0
  }

  /** Runs one process of the server, and waits afterwards if it failed. */
  async #runServer({ path, version }: Program, signal: AbortSignal): Promise<void> {
    const { log } = this.#machine
    const applied = this.#version
    await this.#configure()
    const command = { path, args: configArgs(this.#configFile) }
    const server = new ServerProcess(this.#machine, command, () => this.#wake.notify())
    try {
      if (await this.#until(server, () => server.isReady, START_MS, signal)) {
        log.info('broker started', { pid: server.pid, version })
        this.#isListening = true
        this.#settle(applied, true)
        await this.#keepApplied(server, applied, signal)
      }
    } finally {
      this.#isListening = false
      await server.end()
    }
    if (!signal.aborted && this.#isNeeded()) await this.#recover(server.lines, signal)
  }

  /** Returns when the server has ended, isn't needed any more, or didn't reload a change. */
  async #keepApplied(server: ServerProcess, from: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#machine
    const healthyAt = clock.monotonic() + HEALTHY_MS
    let applied = from
    for (;;) {
      const isHealthy = clock.monotonic() >= healthyAt
      if (isHealthy) {
        this.#failures = 0
        this.#finding = null
      }
      const waitMs = isHealthy ? DAY_MS : HEALTHY_MS
      if (applied === this.#version) await this.#wake.wait(clock, waitMs, signal)
      if (server.hasEnded || signal.aborted || !this.#isNeeded()) return
      applied = this.#version
      const { reloads } = server
      const isChanged = await this.#configure()
      if (isChanged) server.reload()
      const isTaken = () => !isChanged || server.reloads > reloads
      if (!(await this.#until(server, isTaken, RELOAD_MS, signal))) {
        // A restart applies the new rights for certain.
        return log.warn('broker did not reload', { lines: server.lines })
      }
      this.#settle(applied, true)
    }
  }

  async #recover(lines: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#machine
    this.#failures += 1
    const isFirst = this.#failures === 1
    const delayMs = Math.min(DELAY_MS_MIN * 2 ** (this.#failures - 2), DELAY_MS_MAX)
    log.warn('broker ended', { lines: lines.slice(-3), again_in_ms: isFirst ? 0 : delayMs })
    if (isFirst) return
    this.#finding = await this.#failed(lines, signal)
    await clock.sleep(delayMs, signal)
  }

  async #failed(lines: readonly string[], signal: AbortSignal): Promise<Finding> {
    const { port } = this.#options
    const title = 'Other boxes can’t connect: the broker keeps ending'
    if (lines.some((line) => PORT_TAKEN.test(line))) {
      const holder = (await portHolder(port, this.#machine, signal)) ?? 'Another program'
      const fix = 'End that program, or choose another --broker-port and add each box again.'
      return brokerFinding('broker_failed', { title, why: `${holder} uses port ${port}.`, fix })
    }
    const last = lines.findLast((line) => /\[(FTL|ERR)\]/.test(line)) ?? lines.at(-1)
    return brokerFinding('broker_failed', {
      title,
      why: last === undefined ? 'It ended without a message.' : `Its last message: ${last}`,
      fix: `Run it by hand to see more: nats-server ${configArgs(this.#configFile).join(' ')}`,
    })
  }

  /** Waits until `isTrue`; returns false if the server ends, or the time is over. */
  async #until(
    server: ServerProcess,
    isTrue: () => boolean,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock } = this.#machine
    const until = clock.monotonic() + ms
    while (!isTrue() && !server.hasEnded && !signal.aborted && clock.monotonic() < until) {
      await this.#wake.wait(clock, until - clock.monotonic(), signal)
    }
    return isTrue()
  }

  /** Writes the configuration with the current users; returns whether it has changed. */
  async #configure(): Promise<boolean> {
    const { directory, port, users } = this.#options
    const { publicKey } = await this.access()
    const { serverFile, serial } = keepCertificates(directory, this.#machine)
    const files = { server: serverFile, serial, pid: this.#pidFile }
    const text = brokerConfig({ ...users(), port, files, head: publicKey })
    if (readTextOrNull(this.#configFile) === text) return false
    writeFileAtomically(this.#configFile, text)
    return true
  }

  /** Ends the waits of all calls of `apply` up to `version`. */
  #settle(version: number, isApplied: boolean): void {
    const isDone = (waiter: { readonly version: number }) => waiter.version <= version
    for (const { done } of this.#waiters.filter(isDone)) done(isApplied)
    this.#waiters = this.#waiters.filter((waiter) => !isDone(waiter))
  }
}
