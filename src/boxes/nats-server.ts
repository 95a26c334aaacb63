// The nats-server that is installed on this machine, and a process of it.

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

/** The first version that speaks TLS from the first byte. */
const VERSION_MIN = [2, 10, 4] as const
const RELEASES = 'https://github.com/nats-io/nats-server/releases'
const VERSION_MS = 5_000
const TERM_MS = 3_000
const KILL_MS = 2_000
const POLL_MS = 50
const LINES_KEPT = 10
const LINE_LENGTH_MAX = 300

export type Program = { readonly path: string; readonly version: string }

export type ProgramTools = {
  readonly run: RunProcess
  readonly findTool: (name: string) => string | null
  readonly platform: string
}

/** The program at `wanted`, or the installed one; a finding where there is none that fits. */
export async function findNatsServer(
  wanted: string | null,
  { run, findTool, platform }: ProgramTools,
  signal: AbortSignal,
): Promise<Program | Finding> {
  const path = wanted ?? findTool('nats-server')
  if (path === null) return missing('It is not installed.', platform)
  const limits = { timeoutMs: VERSION_MS, killAfterMs: 2 * VERSION_MS }
  const end = await run({ path, args: ['--version'], ...limits }, signal)
  const output = end.end === 'exited' ? end.stdout + end.stderr : ''
  const found = /nats-server: v((\d+)\.(\d+)\.(\d+)\S*)/.exec(output)
  if (found === null) return missing(`${path} does not start, or is another program.`, platform)
  const [, version = '', ...numbers] = found
  if (isEnough(numbers.map(Number))) return { path, version }
  return {
    ...brokerFinding('broker_outdated'),
    title: 'nats-server is too old to connect other boxes',
    why: `${path} is version ${version}. Hookline needs 2.10.4 or later.`,
    fix: installWords(platform),
  }
}

function isEnough(version: readonly number[]): boolean {
  for (const [index, least] of VERSION_MIN.entries()) {
    const number = version[index] ?? 0
    if (number !== least) return number > least
  }
  return true
}

function missing(why: string, platform: string): Finding {
  const title = 'Other boxes can’t connect without nats-server'
  return { ...brokerFinding('broker_missing'), title, why, fix: installWords(platform) }
}

export function brokerFinding(
  code: string,
): Pick<Finding, 'code' | 'severity' | 'key' | 'depends_on'> {
  return { code, severity: 'error', key: null, depends_on: null }
}

function installWords(platform: string): string {
  if (platform === 'darwin') return 'Run: brew install nats-server'
  return (
    'On Debian 13, Ubuntu 24.04 and later, run: sudo apt install nats-server. Elsewhere, download it ' +
    `from ${RELEASES} and start the relay with --nats-server PATH.`
  )
}

/** One process of the program. It logs to its standard error, which is read here. */
export class ServerProcess {
  /** True once it listens. */
  isReady = false
  hasEnded = false
  /** Number of configurations that it has read since its start. */
  reloads = 0
  readonly #clock: Clock
  readonly #child: ReadProcess
  readonly #decoder = new TextDecoder()
  readonly #lines: string[] = []
  #rest = ''

  /** Throws where the program cannot be started. Calls `onChange` after each change of what is public. */
  constructor(
    tools: { readonly clock: Clock; readonly start: StartReadProcess },
    command: { readonly path: string; readonly args: readonly string[] },
    onChange: () => void,
  ) {
    this.#clock = tools.clock
    this.#child = tools.start({
      ...command,
      environment: {},
      onOutput: (chunk) => {
        if (this.#read(chunk)) onChange()
      },
    })
    void this.#awaitEnd().then(onChange)
  }

  get pid(): number {
    return this.#child.pid
  }

  /** The newest lines of its log, oldest first. */
  get lines(): readonly string[] {
    return this.#lines
  }

  reload(): void {
    this.#child.kill('SIGHUP')
  }

  /** Resolves when it has ended, by force after three seconds; after five it is left behind. */
  async end(): Promise<void> {
    if (this.hasEnded) return
    this.#child.kill('SIGTERM')
    const isLate = await withTimeout(this.#clock, TERM_MS, this.#child.ended, 'late')
    if (isLate !== 'late') return
    this.#child.kill('SIGKILL')
    await withTimeout(this.#clock, KILL_MS, this.#child.ended, null)
  }

  async #awaitEnd(): Promise<void> {
    await this.#child.ended
    await withTimeout(this.#clock, POLL_MS, this.#child.outputEnded, null)
    this.#child.closeOutput()
    this.hasEnded = true
  }

  /** Lines such as `[7] [INF] Listening for client connections on 0.0.0.0:4666`. */
  #read(chunk: Uint8Array): boolean {
    const before = [this.isReady, this.reloads]
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX)
    for (const line of lines) {
      if (line.includes('Listening for client connections on')) this.isReady = true
      if (line.includes('Reloaded server configuration')) this.reloads += 1
    }
    this.#lines.push(...lines.map((line) => line.slice(0, LINE_LENGTH_MAX)))
    this.#lines.splice(0, this.#lines.length - LINES_KEPT)
    return before[0] !== this.isReady || before[1] !== this.reloads
  }
}

/**
 * Ends the process that a head left behind when it was killed. The id in its file may be that of another
 * program by now: only one that was started with `configFile` is ended.
 */
export async function endOrphan(
  files: { readonly pid: string; readonly config: string },
  { run, clock }: { readonly run: RunProcess; readonly clock: Clock },
  signal: AbortSignal,
): Promise<number | null> {
  const pid = Number(/^\d{1,10}\s*$/.exec(readTextOrNull(files.pid) ?? '')?.[0] ?? 0)
  if (pid === 0) return null
  const isOurs = async () =>
    (await commandLineOf(pid, run, signal))?.endsWith(configArgs(files.config).join(' ')) === true
  if (!(await isOurs())) return null
  for (const [name, ms] of [
    ['SIGTERM', TERM_MS],
    ['SIGKILL', KILL_MS],
  ] as const) {
    signalProcess(pid, name)
    const until = clock.monotonic() + ms
    while (clock.monotonic() < until && !signal.aborted) {
      await clock.sleep(POLL_MS, signal)
      if (!(await isOurs())) return pid
    }
  }
  return pid
}

export function configArgs(configFile: string): readonly string[] {
  return ['--config', configFile]
}
