// Finds the nats-server of this machine, and runs a process of it.

import type { FindingCode } from '../domain/finding-codes.ts'
import type { Finding } from '../domain/finding.ts'
import { withTimeout, type Clock } from '../system/clock.ts'
import { readTextOrNull } from '../system/files.ts'
import {
  commandLineOf,
  signalProcess,
  type ReadProcess,
  type RunProcess,
  type StartReadProcess,
} from '../system/process.ts'
import type { ClockRandomLog } from './link.ts'

export type Program = { readonly path: string; readonly version: string }

/** The machine that the broker runs on. */
export type BrokerMachine = ClockRandomLog & {
  readonly run: RunProcess
  readonly start: StartReadProcess
  readonly findTool: (name: string) => string | null
  readonly platform: string
}

/** The first version that speaks TLS from the first byte. */
const VERSION_MIN = '2.10.4'
const RELEASES = 'https://github.com/nats-io/nats-server/releases'
const RUN_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }
const TERM_MS = 3_000
const KILL_MS = 2_000
const POLL_MS = 50
const LINES_KEPT = 10
const LINE_LENGTH_MAX = 300

/** The program at `wanted`, or the installed one; a finding if there is none that can be used. */
export async function findNatsServer(
  wanted: string | null,
  { run, findTool, platform }: BrokerMachine,
  signal: AbortSignal,
): Promise<Program | Finding> {
  const path = wanted ?? findTool('nats-server')
  if (path === null) return missing('It is not installed.', platform)
  const end = await run({ path, args: ['--version'], ...RUN_LIMITS }, signal)
  const output = end.end === 'exited' ? end.stdout + end.stderr : ''
  const version = /nats-server: v(\d+\.\d+\.\d+\S*)/.exec(output)?.[1]
  if (version === undefined) {
    return missing(`${path} does not start, or is another program.`, platform)
  }
  if (Bun.semver.order(version, VERSION_MIN) >= 0) return { path, version }
  return brokerFinding('broker_outdated', {
    title: 'nats-server is too old to connect other boxes',
    why: `${path} is version ${version}. Hookline needs ${VERSION_MIN} or later.`,
    fix: installWords(platform),
  })
}

function missing(why: string, platform: string): Finding {
  const title = 'Other boxes can’t connect without nats-server'
  return brokerFinding('broker_missing', { title, why, fix: installWords(platform) })
}

export function brokerFinding(
  code: FindingCode,
  words: Pick<Finding, 'title' | 'why' | 'fix'>,
): Finding {
  return { code, severity: 'error', ...words, key: null, depends_on: null }
}

function installWords(platform: string): string {
  if (platform === 'darwin') return 'Run: brew install nats-server'
  return (
    'On Debian 13, Ubuntu 24.04 and later, run: sudo apt install nats-server. Elsewhere, download it ' +
    `from ${RELEASES} and start the relay with --nats-server PATH.`
  )
}

/** Name and process id of the program that listens at `port`; null if lsof is missing or doesn't see it. */
export async function portHolder(
  port: number,
  { run, findTool }: BrokerMachine,
  signal: AbortSignal,
): Promise<string | null> {
  const path = findTool('lsof')
  if (path === null) return null
  const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']
  const end = await run({ path, args, ...RUN_LIMITS }, signal)
  const found = end.end === 'exited' ? /^p(\d+)\nc(.+)$/m.exec(end.stdout) : null
  return found === null ? null : `${found[2]} (process ${found[1]})`
}

export function configArgs(configFile: string): readonly string[] {
  return ['--config', configFile]
}

/**
 * Ends the process that a killed head left behind, and returns its id. Another program may have the id in `pidFile`
 * by now: only a process that was started with `configFile` is ended.
 */
export async function endOrphan(
  { pidFile, configFile }: { readonly pidFile: string; readonly configFile: string },
  { run, clock }: BrokerMachine,
  signal: AbortSignal,
): Promise<number | null> {
  const pid = Number(/^\d{1,10}\s*$/.exec(readTextOrNull(pidFile) ?? '')?.[0] ?? 0)
  const ours = configArgs(configFile).join(' ')
  const isOurs = async () =>
    pid > 0 && (await commandLineOf(pid, run, signal))?.endsWith(ours) === true
  if (!(await isOurs())) return null
  signalProcess(pid, 'SIGTERM')
  const until = clock.monotonic() + TERM_MS
  while (!signal.aborted && (await isOurs())) {
    if (clock.monotonic() > until) signalProcess(pid, 'SIGKILL')
    if (clock.monotonic() > until + KILL_MS) break
    await clock.sleep(POLL_MS, signal)
  }
  return pid
}

/** One process of the program, whose log (its standard error) is read. */
export class ServerProcess {
  isReady = false
  hasEnded = false
  /** Number of times that it has reloaded its configuration. */
  reloads = 0
  /** The newest lines of its log, oldest first. */
  readonly lines: string[] = []
  readonly #clock: Clock
  readonly #child: ReadProcess
  readonly #decoder = new TextDecoder()
  #rest = ''

  /** Throws if the program can't be started. Calls `onChange` when it is ready, reloaded or ended. */
  constructor(
    { clock, start }: BrokerMachine,
    command: { readonly path: string; readonly args: readonly string[] },
    onChange: () => void,
  ) {
    this.#clock = clock
    const onOutput = (chunk: Uint8Array) => {
      if (this.#read(chunk)) onChange()
    }
    this.#child = start({ ...command, environment: {}, onOutput })
    void this.#awaitEnd(onChange)
  }

  get pid(): number {
    return this.#child.pid
  }

  reload(): void {
    this.#child.kill('SIGHUP')
  }

  /** Resolves when it has ended, killed after three seconds; after five seconds it is left behind. */
  async end(): Promise<void> {
    if (this.hasEnded) return
    const { ended } = this.#child
    this.#child.kill('SIGTERM')
    if ((await withTimeout(this.#clock, TERM_MS, ended, 'late')) !== 'late') return
    this.#child.kill('SIGKILL')
    await withTimeout(this.#clock, KILL_MS, ended, null)
  }

  async #awaitEnd(onChange: () => void): Promise<void> {
    await this.#child.ended
    await withTimeout(this.#clock, POLL_MS, this.#child.outputEnded, null)
    this.#child.closeOutput()
    this.hasEnded = true
    onChange()
  }

  /** Reads lines such as `[7] [INF] Listening for client connections on 0.0.0.0:4666`. */
  #read(chunk: Uint8Array): boolean {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX)
    this.lines.push(...lines.map((line) => line.slice(0, LINE_LENGTH_MAX)))
    this.lines.splice(0, this.lines.length - LINES_KEPT)
    const listens = lines.some((line) => line.includes('Listening for client connections on'))
    const reloaded = lines.some((line) => line.includes('Reloaded server configuration'))
    if (listens) this.isReady = true
    if (reloaded) this.reloads += 1
    return listens || reloaded
  }
}
