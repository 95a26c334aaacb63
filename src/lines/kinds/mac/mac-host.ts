// The Mac of a line: its user, Messages.app as a program, and keeping the Mac awake.

import { hostname } from 'node:os'

import { withTimeout, type Clock } from '../../../system/clock.ts'
import { readTextOrNull } from '../../../system/files.ts'
import type { ProcessEnd, RunningProcess } from '../../../system/process.ts'
import type { KindHost } from '../../line-kind.ts'
import type { ChatDb } from './chat-db.ts'
import type { MessagesScript } from './script-runner.ts'

export type Mac = {
  readonly user: ReturnType<typeof macUser>
  readonly app: MessagesApp
  readonly script: MessagesScript
  readonly chatDb: MessagesDb
  readonly stagingFolder: string
}

export type MessagesDb = { readonly path: string; open(): ChatDb }

/** See machine-id(5) of systemd. */
const MACHINE_ID_PATH = '/etc/machine-id'

const QUERY_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }

/** The driver also runs on other systems for tests, with a stand-in user. */
export function macUser({ run, platform, self: { uid } }: KindHost) {
  const isMac = platform === 'darwin'
  // For ioreg(8), stat(1) and launchctl(1).
  const ask = (path: string, args: readonly string[], signal: AbortSignal) =>
    run({ path, args, ...QUERY_LIMITS }, signal)
  let machine: string | null = null
  return {
    /** The machine's UUID and the user id; null if the UUID is unknown. */
    async deviceKey(signal: AbortSignal): Promise<string | null> {
      const args = ['-rd1', '-c', 'IOPlatformExpertDevice']
      machine ??= isMac ? platformUuid(await ask('/usr/sbin/ioreg', args, signal)) : machineId()
      return machine === null ? null : `${machine}:${uid}`
    },
    /**
     * True if the user is logged in to a graphical session, in front or in the background: without it
     * there are no Apple events. Null if unknown.
     */
    async hasGuiSession(signal: AbortSignal): Promise<boolean | null> {
      if (!isMac) return true
      const console = await ask('/usr/bin/stat', ['-f', '%u', '/dev/console'], signal)
      if (hasSucceeded(console) && console.stdout.trim() === String(uid)) return true
      // Fast user switching leaves sessions in the background, which launchd knows.
      const session = await ask('/bin/launchctl', ['print', `gui/${uid}`], signal)
      return session.end === 'exited' ? session.exitCode === 0 : null
    },
  }
}

function platformUuid(end: ProcessEnd): string | null {
  if (!hasSucceeded(end)) return null
  return /"IOPlatformUUID" = "([0-9A-F-]{36})"/i.exec(end.stdout)?.[1]?.toUpperCase() ?? null
}

/** In some containers the file is missing or empty. */
function machineId(): string {
  const id = readTextOrNull(MACHINE_ID_PATH)?.trim() ?? ''
  return id === '' ? hostname() : id
}

function hasSucceeded(end: ProcessEnd): end is Extract<ProcessEnd, { readonly end: 'exited' }> {
  return end.end === 'exited' && end.exitCode === 0
}

type ToolPaths = { readonly open: string; readonly pgrep: string; readonly caffeinate: string }

/** The same place on macOS and Linux. */
const KILL_PATH = '/bin/kill'

const TOOL_LIMITS = { timeoutMs: 10_000, killAfterMs: 12_000 }
const START_EVERY_MS = 10_000
const QUIT_MS = 10_000
const QUIT_CHECK_MS = 500
/** Until the system has noticed that an application quit, `open` believes that it is running (-600). */
const AFTER_QUIT_MS = 1_000
const AWAKE_AGAIN_MS = 10_000
const CAFFEINATE_END_MS = 3_000

export class MessagesApp {
  readonly #host: KindHost
  readonly #paths: ToolPaths
  #startedAt = -Infinity

  constructor(host: KindHost, paths: ToolPaths) {
    this.#host = host
    this.#paths = paths
  }

  /** Returns null if it is unknown. */
  async isRunning(signal: AbortSignal): Promise<boolean | null> {
    const pids = await this.#pids(signal)
    return pids === null ? null : pids.length > 0
  }

  /**
   * Opens Messages.app without its window: in a background session, an open window keeps Messages from
   * announcing messages (BlueBubbles). Returns false if that failed, or within 10 s of the last start.
   */
  async start(signal: AbortSignal): Promise<boolean> {
    const { clock, run } = this.#host
    if (this.#msUntilStart() > 0) return false
    this.#startedAt = clock.monotonic()
    const args = ['-gj', '-a', 'Messages']
    return hasSucceeded(await run({ path: this.#paths.open, args, ...TOOL_LIMITS }, signal))
  }

  /**
   * Quits Messages.app, by force after 10 s, and starts it again. Returns false if either failed; the next `start`
   * then starts it.
   */
  async restart(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#host
    const pids = await this.#pids(signal)
    if (pids === null) return false
    if (pids.length > 0) {
      if (!(await this.#quit(pids, signal))) return false
      await clock.sleep(AFTER_QUIT_MS, signal)
    }
    const waitMs = this.#msUntilStart()
    if (waitMs > 0) await clock.sleep(waitMs, signal)
    return signal.aborted ? false : this.start(signal)
  }

  /** Prevents idle, disk and system sleep (`-i -m -s`) until `signal` aborts. */
  async keepAwake(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#host
    let isLogged = false
    while (!signal.aborted) {
      const caffeinate = this.#startCaffeinate()
      if (caffeinate !== null) await untilEnd(caffeinate, clock, signal)
      if (signal.aborted) return
      if (!isLogged) log.warn('caffeinate ended or cannot be started: the Mac may fall asleep')
      isLogged = true
      await clock.sleep(AWAKE_AGAIN_MS, signal)
    }
  }

  #msUntilStart(): number {
    return Math.max(this.#startedAt + START_EVERY_MS - this.#host.clock.monotonic(), 0)
  }

  /** Returns true once all `pids` are gone. Leaves alone a process that starts meanwhile. */
  async #quit(pids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const left = await this.#end('-TERM', pids, signal)
    const forced = left.length === 0 ? left : await this.#end('-KILL', left, signal)
    return forced.length === 0
  }

  /** Returns the processes that still run 10 s after the signal. */
  async #end(
    name: string,
    pids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { clock, run } = this.#host
    const until = clock.monotonic() + QUIT_MS
    await run({ path: KILL_PATH, args: [name, ...pids], ...TOOL_LIMITS }, signal)
    let left = pids
    while (left.length > 0 && clock.monotonic() < until && !signal.aborted) {
      await clock.sleep(QUIT_CHECK_MS, signal)
      const found = await this.#pids(signal)
      if (found !== null) left = pids.filter((pid) => found.includes(pid))
    }
    return left
  }

  /** Processes with exactly that name of our user, because another user's session may run Messages too. */
  async #pids(signal: AbortSignal): Promise<readonly string[] | null> {
    const { run, self } = this.#host
    const args = ['-U', String(self.uid), '-x', 'Messages']
    const end = await run({ path: this.#paths.pgrep, args, ...TOOL_LIMITS }, signal)
    // Exit codes of pgrep(1): 1 for no match, 2 and 3 for failures.
    if (end.end !== 'exited' || end.exitCode > 1) return null
    return end.stdout.split('\n').filter((line) => /^\d+$/.test(line))
  }

  #startCaffeinate(): RunningProcess | null {
    const { start, self } = this.#host
    try {
      // With -w it ends when this process does, even if this process is killed.
      return start({
        path: this.#paths.caffeinate,
        args: ['-i', '-m', '-s', '-w', String(self.pid)],
      })
    } catch {
      return null
    }
  }
}

async function untilEnd(child: RunningProcess, clock: Clock, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.resolve()
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  await Promise.race([child.ended, aborted.promise])
  signal.removeEventListener('abort', abort)
  if (!signal.aborted) return
  child.kill('SIGTERM')
  const end = await withTimeout(clock, CAFFEINATE_END_MS, child.ended, 'late')
  if (end === 'late') child.kill('SIGKILL')
}
