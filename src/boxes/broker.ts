// The head's own broker: a nats-server that runs while there are boxes or invitations, as a child.

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Finding } from '../domain/finding.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { Log } from '../system/log.ts'
import type { StartReadProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
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
  type Program,
  type ProgramTools,
} from './nats-server.ts'

export type BrokerTools = ProgramTools & {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly start: StartReadProcess
}

export type BrokerOptions = {
  /** Folder of its files, of mode 0700; made where it is missing. */
  readonly folder: string
  readonly port: number
  /** Path of the program; null for the installed one. */
  readonly program: string | null
  /** All that may connect now; read at each start and at each `apply`. */
  readonly users: () => BrokerUsers
}

const START_MS = 10_000
const RELOAD_MS = 3_000
const APPLY_MS = 15_000
const SEARCH_MS = 10_000
/** A server that listened this long is started again at once. */
const HEALTHY_MS = 1_000
const DELAY_MS_MIN = 250
const DELAY_MS_MAX = 10_000
/** One failure is mended by the next start. */
const FAILURES_SHOWN = 2
const PORT_TAKEN = /bind: address already in use/

type Waiter = { readonly version: number; readonly done: (isApplied: boolean) => void }

export class Broker implements Service {
  readonly name = 'broker'
  readonly #options: BrokerOptions
  readonly #tools: BrokerTools
  readonly #files: { readonly config: string; readonly pid: string; readonly seed: string }
  readonly #wake = new Signal()
  #waiters: Waiter[] = []
  /** Counts the calls of `apply`. */
  #version = 0
  #failures = 0
  #isListening = false
  #finding: Finding | null = null

  constructor(options: BrokerOptions, tools: BrokerTools) {
    this.#options = options
    this.#tools = tools
    const path = (name: string) => join(options.folder, name)
    this.#files = { config: path('nats.conf'), pid: path('nats.pid'), seed: path('head.seed') }
  }

  get isListening(): boolean {
    return this.#isListening
  }

  findings(): readonly Finding[] {
    return this.#finding === null ? [] : [this.#finding]
  }

  /** The head's own way in. Makes the certificates and the head's key where they are missing. */
  async access(): Promise<Omit<NatsOptions, 'name'>> {
    const { files } = keepCertificates(this.#options.folder, this.#tools)
    return {
      servers: [`127.0.0.1:${this.#options.port}`],
      ca: readFileSync(files.ca, 'utf8'),
      serverName: BROKER_NAME,
      seed: await this.#headSeed(),
      inboxPrefix: HEAD_INBOX,
    }
  }

  /**
   * Resolves with true when the broker works with the users of now, and has cut off all others; with
   * false where it does not within 15 seconds.
   */
  apply(): Promise<boolean> {
    this.#version += 1
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = this.#tools.clock.after(APPLY_MS, () => resolve(false))
    const done = (isApplied: boolean) => {
      cancel()
      resolve(isApplied)
    }
    this.#waiters.push({ version: this.#version, done })
    this.#wake.notify()
    return promise
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools
    const orphan = await endOrphan(this.#files, this.#tools, signal)
    if (orphan !== null) log.info('broker of an earlier start ended', { pid: orphan })
    let program: Program | null = null
    while (!signal.aborted) {
      if (!this.#isNeeded()) {
        this.#finding = null
        this.#confirm(this.#version)
        await this.#wake.wait(clock, DAY_MS, signal)
        continue
      }
      // Asked for its version again only where it keeps failing: boxes wait for its restart.
      const known: Program | null = this.#failures > 1 ? null : program
      const found: Program | Finding =
        known ?? (await findNatsServer(this.#options.program, this.#tools, signal))
      program = 'code' in found ? null : found
      if ('code' in found) {
        this.#finding = found
        await this.#wake.wait(clock, SEARCH_MS, signal)
      } else {
        await this.#live(found, signal)
      }
    }
    this.#confirm(this.#version, false)
  }

  #isNeeded(): boolean {
    const { boxes, invitations } = this.#options.users()
    return boxes.length + invitations.length > 0
  }

  /** One process of the server, and the delay after it where it failed. */
  async #live(program: Program, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools
    const version = this.#version
    await this.#configure()
    const command = { path: program.path, args: configArgs(this.#files.config) }
    const server = new ServerProcess(this.#tools, command, () => this.#wake.notify())
    try {
      if (!(await this.#until(server, () => server.isReady, START_MS, signal))) return
      const startedAt = clock.monotonic()
      log.info('broker started', { pid: server.pid, version: program.version })
      this.#isListening = true
      this.#confirm(version)
      await this.#keepApplied(server, version, signal)
      if (clock.monotonic() - startedAt > HEALTHY_MS) this.#failures = 0
    } finally {
      this.#isListening = false
      await server.end()
      await this.#recover(server, signal)
    }
  }

  /** Returns when the server ended, is not needed any more, or did not take a change. */
  async #keepApplied(server: ServerProcess, from: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools
    const healthyAt = clock.monotonic() + HEALTHY_MS
    let version = from
    for (;;) {
      const isHealthy = clock.monotonic() >= healthyAt
      if (isHealthy) this.#finding = null
      if (version === this.#version) {
        await this.#wake.wait(clock, isHealthy ? DAY_MS : HEALTHY_MS, signal)
      }
      if (server.hasEnded || signal.aborted || !this.#isNeeded()) return
      const isRenewed = keepCertificates(this.#options.folder, this.#tools).isNew
      if (version === this.#version && !isRenewed) continue
      version = this.#version
      if (!(await this.#configure()) && !isRenewed) {
        this.#confirm(version)
        continue
      }
      const { reloads } = server
      server.reload()
      const isApplied = () => server.reloads > reloads
      if (!(await this.#until(server, isApplied, RELOAD_MS, signal))) {
        // Its next start has the new rights for certain.
        return log.warn('broker did not reload', { lines: server.lines })
      }
      this.#confirm(version)
    }
  }

  async #recover(server: ServerProcess, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !this.#isNeeded()) return
    const { clock, log } = this.#tools
    this.#failures += 1
    const delayMs =
      this.#failures === 1 ? 0 : Math.min(DELAY_MS_MIN * 2 ** (this.#failures - 2), DELAY_MS_MAX)
    log.warn('broker ended', { lines: server.lines.slice(-3), again_in_ms: delayMs })
    if (this.#failures >= FAILURES_SHOWN) this.#finding = await this.#failed(server.lines, signal)
    await clock.sleep(delayMs, signal)
  }

  async #failed(lines: readonly string[], signal: AbortSignal): Promise<Finding> {
    const { port } = this.#options
    const title = 'Other boxes can’t connect: the broker keeps ending'
    const common = { ...brokerFinding('broker_failed'), title }
    if (lines.some((line) => PORT_TAKEN.test(line))) {
      const holder = (await this.#portHolder(signal)) ?? 'Another program'
      return {
        ...common,
        why: `${holder} uses port ${port} already.`,
        fix: 'End that program, or start the relay with another --broker-port and add each box again.',
      }
    }
    const last = lines.findLast((line) => /\[(FTL|ERR)\]/.test(line)) ?? lines.at(-1)
    return {
      ...common,
      why: last === undefined ? 'It ended without a word.' : `Its last line: ${last}`,
      fix: `Run it by hand to see more: nats-server ${configArgs(this.#files.config).join(' ')}`,
    }
  }

  /** Name and process of the program that listens at our port, where lsof is installed and sees it. */
  async #portHolder(signal: AbortSignal): Promise<string | null> {
    const path = this.#tools.findTool('lsof')
    if (path === null) return null
    const args = ['-nP', `-iTCP:${this.#options.port}`, '-sTCP:LISTEN', '-Fpc']
    const limits = { timeoutMs: 3_000, killAfterMs: 4_000 }
    const end = await this.#tools.run({ path, args, ...limits }, signal)
    const found = end.end === 'exited' ? /^p(\d+)\nc(.+)$/m.exec(end.stdout) : null
    return found === null ? null : `${found[2]} (process ${found[1]})`
  }

  /** Waits until `isTrue`; returns false where the server ended, or the time is over. */
  async #until(
    server: ServerProcess,
    isTrue: () => boolean,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { clock } = this.#tools
    const until = clock.monotonic() + ms
    while (!isTrue() && !server.hasEnded && !signal.aborted && clock.monotonic() < until) {
      await this.#wake.wait(clock, until - clock.monotonic(), signal)
    }
    return isTrue()
  }

  /** Writes the configuration with the users of now; returns true where it changed. */
  async #configure(): Promise<boolean> {
    const { folder, port, users } = this.#options
    const { files } = keepCertificates(folder, this.#tools)
    const { nkeys } = await import('./nats-link.ts')
    const head = nkeys.fromSeed(Buffer.from(await this.#headSeed())).getPublicKey()
    const paths = { cert: files.cert, key: files.key, pid: this.#files.pid }
    const text = brokerConfig({ ...users(), port, files: paths, head })
    if (readTextOrNull(this.#files.config) === text) return false
    writeFileAtomically(this.#files.config, text)
    return true
  }

  async #headSeed(): Promise<string> {
    if (!existsSync(this.#files.seed)) {
      const { nkeys } = await import('./nats-link.ts')
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 })
      writeFileAtomically(this.#files.seed, nkeys.createUser().getSeed())
    }
    return readFileSync(this.#files.seed, 'utf8')
  }

  #confirm(version: number, isApplied = true): void {
    const done = this.#waiters.filter((waiter) => waiter.version <= version)
    this.#waiters = this.#waiters.filter((waiter) => waiter.version > version)
    for (const waiter of done) waiter.done(isApplied)
  }
}
