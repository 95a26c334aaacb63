// Child processes: without a shell, with a limit to every wait, and with a clean environment.

import { closeSync, openSync } from 'node:fs'

import { withTimeout, type Clock } from './clock.ts'
import { readTextOrNull } from './files.ts'

/** Child process with its time limits, in milliseconds from its start. */
export type ProcessOrder = {
  /** Absolute path of the executable; PATH is not searched. */
  readonly path: string
  readonly args: readonly string[]
  /** Standard input; empty by default. */
  readonly input?: string | undefined
  /** Time of SIGTERM. */
  readonly timeoutMs: number
  /** Time of SIGKILL. */
  readonly killAfterMs: number
  /** Limit of each kept output, from its beginning: 65,536 bytes by default. */
  readonly outputBytesMax?: number | undefined
}

/** End of a child process, with its output until then (UTF-8). */
export type ProcessEnd =
  | {
      readonly end: 'exited'
      readonly exitCode: number
      readonly stdout: string
      readonly stderr: string
    }
  /** Ended by a signal: ours, or (`signal`) that of another process. */
  | {
      readonly end: 'killed'
      readonly why: 'timeout' | 'aborted' | 'signal'
      readonly stdout: string
      readonly stderr: string
    }
  /** Nothing ran. `why` is a code such as ENOENT, or `aborted`; never a part of the arguments. */
  | { readonly end: 'not_started'; readonly why: string }

/** Runs a child process to its end. An abort is SIGTERM, then SIGKILL 3 s later. It never rejects. */
export type RunProcess = (order: ProcessOrder, signal: AbortSignal) => Promise<ProcessEnd>

type ChildSignal = 'SIGTERM' | 'SIGKILL' | 'SIGHUP'

/** Child process that keeps running. */
export type RunningProcess = {
  readonly pid: number
  /** The exit code; null where a signal ended it. It never rejects. */
  readonly ended: Promise<number | null>
  kill(signal: ChildSignal): void
}

/** Starts a child process that reads and writes nothing; throws where it cannot be started. */
export type StartProcess = (order: {
  readonly path: string
  readonly args: readonly string[]
}) => RunningProcess

/** Process that outlives this one. */
export type DetachedOrder = {
  readonly path: string
  readonly args: readonly string[]
  /** Path of the file that both its outputs are written to. */
  readonly output: string
}

/** Starts a process in a session and group of its own; throws where it cannot start. */
export type StartDetached = (order: DetachedOrder) => void

/** Child process that keeps running, with its outputs read. `kill` reaches all its descendants. */
export type ReadProcess = RunningProcess & {
  /** Resolves when both outputs have ended; a grandchild may hold them open. It never rejects. */
  readonly outputEnded: Promise<void>
  /** Reads no more of the outputs. */
  closeOutput(): void
}

/** Starts a child process that keeps running, and passes its output on; throws where it cannot start. */
export type StartReadProcess = (order: {
  readonly path: string
  readonly args: readonly string[]
  /** Variables beyond those of every child. */
  readonly environment: Readonly<Record<string, string>>
  readonly onOutput: (chunk: Uint8Array, from: 'stdout' | 'stderr') => void
}) => ReadProcess

/** Ids of this process. */
export type OwnIds = { readonly pid: number; readonly uid: number }

type Child = Bun.Subprocess<Uint8Array, 'pipe', 'pipe'>
type Why = Extract<ProcessEnd, { readonly end: 'killed' }>['why']
type Output = { text(): string; readonly ended: Promise<void>; close(): void }

const OUTPUT_BYTES_MAX = 65_536
const KILL_AFTER_ABORT_MS = 3_000
/** A grandchild that outlives the child keeps its pipes open, and would be waited for without end. */
const PIPE_WAIT_MS = 1_000
/** A process that the kernel cannot end, because a disk or a driver does not answer, is left behind. */
const GIVE_UP_MS = 5_000

/** The real RunProcess, its times measured on `clock`. */
export function processRunner(clock: Clock): RunProcess {
  return async (order, signal) => {
    if (signal.aborted) return { end: 'not_started', why: 'aborted' }
    const child = spawn(order)
    if (typeof child === 'string') return { end: 'not_started', why: child }
    const bytesMax = order.outputBytesMax ?? OUTPUT_BYTES_MAX
    const outputs = [keepStart(child.stdout, bytesMax), keepStart(child.stderr, bytesMax)] as const
    const limits = limit(clock, child, order, signal)
    await Promise.race([child.exited, limits.outlived])
    limits.clear()
    await withTimeout(clock, PIPE_WAIT_MS, Promise.all(outputs.map((output) => output.ended)), null)
    for (const output of outputs) output.close()
    const [stdout, stderr] = [outputs[0].text(), outputs[1].text()]
    const why = limits.why()
    if (why === null && child.exitCode !== null) {
      return { end: 'exited', exitCode: child.exitCode, stdout, stderr }
    }
    return { end: 'killed', why: why ?? 'signal', stdout, stderr }
  }
}

/** The real StartProcess. The child is of our process group, and goes with it. */
export const startProcess: StartProcess = ({ path, args }) => {
  const child = Bun.spawn([path, ...args], {
    cwd: '/',
    env: childEnvironment(),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return {
    pid: child.pid,
    ended: child.exited.then(() => child.exitCode),
    kill: (signal) => child.kill(signal),
  }
}

/** The real StartDetached: `detached` is setsid(2). */
export const startDetached: StartDetached = ({ path, args, output }) => {
  const file = openSync(output, 'w', 0o600)
  try {
    const outputs = { stdin: 'ignore', stdout: file, stderr: file } as const
    const child = { cwd: '/', env: childEnvironment(), ...outputs, detached: true }
    Bun.spawn([path, ...args], child).unref()
  } finally {
    closeSync(file)
  }
}

/** The real StartReadProcess. */
export const startReadProcess: StartReadProcess = ({ path, args, environment, onOutput }) => {
  const child = Bun.spawn([path, ...args], {
    cwd: '/',
    env: { ...childEnvironment(), ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    // In a group of its own: Ctrl+C at the terminal is for us, and we end the child.
    detached: true,
  })
  const stdout = readEach(child.stdout, (chunk) => onOutput(chunk, 'stdout'))
  const stderr = readEach(child.stderr, (chunk) => onOutput(chunk, 'stderr'))
  return {
    pid: child.pid,
    ended: child.exited.then(() => child.exitCode),
    kill: (signal) => signalGroup(child, signal),
    outputEnded: Promise.all([stdout.ended, stderr.ended]).then(() => undefined),
    closeOutput() {
      stdout.close()
      stderr.close()
    },
  }
}

export function ownIds(): OwnIds {
  // Windows alone has no user ids.
  return { pid: process.pid, uid: process.getuid?.() ?? 0 }
}

/** The child, or an error code: the message of that error may quote an argument. */
function spawn({ path, args, input }: ProcessOrder): Child | string {
  try {
    return Bun.spawn([path, ...args], {
      cwd: '/',
      env: childEnvironment(),
      stdin: new TextEncoder().encode(input ?? ''),
      stdout: 'pipe',
      stderr: 'pipe',
      // In a group of its own: Ctrl+C at the terminal is for us, and a send runs to its end.
      detached: true,
    })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    return typeof code === 'string' ? code : 'unknown'
  }
}

/** Places of tools that the PATH of a service does not have. */
const MORE_PATHS = ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin', '/usr/sbin']

/** The absolute path of an executable, or null. */
export function findTool(name: string): string | null {
  const paths = [process.env['PATH'] ?? '', ...MORE_PATHS]
  return Bun.which(name, { PATH: paths.join(':') })
}

/** Command line of any process, its arguments with spaces between; null where there is none. */
export async function commandLineOf(
  pid: number,
  run: RunProcess,
  signal: AbortSignal,
): Promise<string | null> {
  const linux = readTextOrNull(`/proc/${pid}/cmdline`)
  if (linux !== null) return linux.replaceAll('\0', ' ').trim()
  const args = ['-ww', '-o', 'args=', '-p', String(pid)]
  const end = await run({ path: '/bin/ps', args, timeoutMs: 2_000, killAfterMs: 3_000 }, signal)
  return end.end === 'exited' && end.exitCode === 0 ? end.stdout.trim() : null
}

/** Signals a process that is no child of ours. */
export function signalProcess(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has just ended.
  }
}

/** No option or secret of ours reaches a child. */
function childEnvironment(): Record<string, string> {
  const known: Record<string, string> = {
    PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
    // Without a UTF-8 locale, tools of macOS and Linux read their arguments as ASCII.
    LANG: 'en_US.UTF-8',
  }
  // systemctl finds the user's service manager by XDG_RUNTIME_DIR, a browser its screen by the last ones.
  const screen = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS']
  for (const name of ['PATH', 'HOME', 'USER', 'TMPDIR', 'XDG_RUNTIME_DIR', ...screen]) {
    const value = process.env[name]
    if (value !== undefined) known[name] = value
  }
  return known
}

/** Sends the signals when they are due. `outlived` resolves where not even SIGKILL ended the child. */
function limit(
  clock: Clock,
  child: Child,
  order: ProcessOrder,
  signal: AbortSignal,
): { readonly outlived: Promise<void>; why(): Why | null; clear(): void } {
  const outlived = Promise.withResolvers<void>()
  const cancels: (() => void)[] = []
  let why: Why | null = null
  const plan = (ms: number, act: () => void) => void cancels.push(clock.after(ms, act))
  const end = (reason: Why, name: 'SIGTERM' | 'SIGKILL') => {
    why ??= reason
    signalGroup(child, name)
    if (name === 'SIGKILL') plan(GIVE_UP_MS, outlived.resolve)
  }
  const abort = () => {
    end('aborted', 'SIGTERM')
    plan(KILL_AFTER_ABORT_MS, () => end('aborted', 'SIGKILL'))
  }
  plan(order.timeoutMs, () => end('timeout', 'SIGTERM'))
  plan(order.killAfterMs, () => end('timeout', 'SIGKILL'))
  signal.addEventListener('abort', abort)
  const clear = () => {
    for (const cancel of cancels) cancel()
    signal.removeEventListener('abort', abort)
  }
  return { outlived: outlived.promise, why: () => why, clear }
}

/** Signals the child and its descendants, which are in its group. */
function signalGroup(child: { readonly pid: number }, name: ChildSignal): void {
  try {
    process.kill(-child.pid, name)
  } catch {
    // The group has just ended.
  }
}

/** Reads all of a pipe, so that the child is never held up by it, and keeps its first bytes. */
function keepStart(stream: ReadableStream<Uint8Array>, bytesMax: number): Output {
  const kept = new Uint8Array(bytesMax)
  let length = 0
  const reading = readEach(stream, (chunk) => {
    const part = chunk.subarray(0, bytesMax - length)
    kept.set(part, length)
    length += part.length
  })
  return { ...reading, text: () => new TextDecoder().decode(kept.subarray(0, length)) }
}

/** Reads all of a pipe. */
function readEach(
  stream: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): Omit<Output, 'text'> {
  const reader = stream.getReader()
  const readAll = async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onChunk(value)
    }
  }
  // A pipe that breaks has ended.
  return { ended: readAll().catch(() => {}), close: () => void reader.cancel().catch(() => {}) }
}
