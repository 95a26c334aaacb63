import { withTimeout, type Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type {
  OwnIds,
  ProcessEnd,
  RunningProcess,
  RunProcess,
  StartProcess,
} from '../../../system/process.ts'

export type MessagesAppTools = {
  readonly run: RunProcess
  readonly start: StartProcess
  readonly clock: Clock
  readonly log: Log
  readonly self: OwnIds
  readonly paths: { readonly open: string; readonly pgrep: string; readonly caffeinate: string }
}

/** The same place on macOS and Linux. */
const KILL_PATH = '/bin/kill'

const TOOL_LIMITS = { timeoutMs: 10_000, killAfterMs: 12_000 }
const START_EVERY_MS = 10_000
const QUIT_MS = 10_000
const QUIT_LOOK_MS = 500
/** Until the system has noticed that an application ended, `open` takes it for running (-600). */
const AFTER_QUIT_MS = 1_000
const AWAKE_AGAIN_MS = 10_000
const CAFFEINATE_END_MS = 3_000

/** Messages.app of this user as a program: whether it runs, started, ended; and a Mac kept awake for it. */
export class MessagesApp {
  readonly #tools: MessagesAppTools
  #startedAt = -Infinity

  constructor(tools: MessagesAppTools) {
    this.#tools = tools
  }

  /** Null where it could not be asked. */
  async isRunning(signal: AbortSignal): Promise<boolean | null> {
    const pids = await this.#pids(signal)
    return pids === null ? null : pids.length > 0
  }

  /**
   * Opens Messages.app without its window: in a session in the background an open window keeps
   * messages from being told (BlueBubbles). False where that failed, and within 10 s of the last time.
   */
  async start(signal: AbortSignal): Promise<boolean> {
    const { clock, run, paths } = this.#tools
    if (this.#msUntilStart() > 0) return false
    this.#startedAt = clock.monotonic()
    const args = ['-gj', '-a', 'Messages']
    return hasSucceeded(await run({ path: paths.open, args, ...TOOL_LIMITS }, signal))
  }

  /**
   * Ends Messages.app, by force after 10 s, and starts it again. False where one of them failed; it
   * is then not started, and the next `start` does it.
   */
  async restart(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#tools
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

  /** Keeps the Mac from idle sleep, disk and system sleep (`-i -m -s`) until `signal` aborts. */
  async keepAwake(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#tools
    let isTold = false
    while (!signal.aborted) {
      const caffeinate = this.#startCaffeinate()
      if (caffeinate !== null) await untilEnd(caffeinate, clock, signal)
      if (signal.aborted) return
      if (!isTold) log.warn('caffeinate ended or cannot be started: the Mac may fall asleep')
      isTold = true
      await clock.sleep(AWAKE_AGAIN_MS, signal)
    }
  }

  #msUntilStart(): number {
    return Math.max(this.#startedAt + START_EVERY_MS - this.#tools.clock.monotonic(), 0)
  }

  /** Whether all of `pids` are gone. Only they are ended: one that starts meanwhile is left alone. */
  async #quit(pids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const left = await this.#end('-TERM', pids, signal)
    const forced = left.length === 0 ? left : await this.#end('-KILL', left, signal)
    return forced.length === 0
  }

  /** Sends a signal, and returns those that are still there 10 s later. */
  async #end(
    name: string,
    pids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { clock, run } = this.#tools
    const until = clock.monotonic() + QUIT_MS
    await run({ path: KILL_PATH, args: [name, ...pids], ...TOOL_LIMITS }, signal)
    let left = pids
    while (left.length > 0 && clock.monotonic() < until && !signal.aborted) {
      await clock.sleep(QUIT_LOOK_MS, signal)
      const found = await this.#pids(signal)
      if (found !== null) left = pids.filter((pid) => found.includes(pid))
    }
    return left
  }

  /** The processes of that exact name that are ours: another user's session may run Messages too. */
  async #pids(signal: AbortSignal): Promise<readonly string[] | null> {
    const { run, paths, self } = this.#tools
    const args = ['-U', String(self.uid), '-x', 'Messages']
    const end = await run({ path: paths.pgrep, args, ...TOOL_LIMITS }, signal)
    // Exit codes of pgrep(1): 1 is nobody found, 2 and 3 are failures.
    if (end.end !== 'exited' || end.exitCode > 1) return null
    return end.stdout.split('\n').filter((line) => /^\d+$/.test(line))
  }

  #startCaffeinate(): RunningProcess | null {
    const { start, paths, self } = this.#tools
    try {
      // With -w it ends when we do, whatever ends us.
      return start({ path: paths.caffeinate, args: ['-i', '-m', '-s', '-w', String(self.pid)] })
    } catch {
      return null
    }
  }
}

function hasSucceeded(end: ProcessEnd): boolean {
  return end.end === 'exited' && end.exitCode === 0
}

/** Resolves when `child` has ended, which an abort brings about. */
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
