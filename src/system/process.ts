// Starts child processes without a shell, with a limit for every wait, and with a clean environment.

import { closeSync, openSync } from 'node:fs'

import { withTimeout, type Clock } from './clock.ts'
import { readTextOrNull } from './files.ts'

/** A child process to run, with its time limits in milliseconds from its start. */
export type ProcessOrder = {
  /** Absolute path of the executable; PATH isn't searched. */
  readonly path: string
  readonly args: readonly string[]
  /** Standard input; empty by default. */
  readonly input?: string | undefined
  /** The time when SIGTERM is sent. */
  readonly timeoutMs: number
  /** The time when SIGKILL is sent. */
  readonly killAfterMs: number
  /** Most bytes kept of each output, from its beginning; 65,536 by default. */
  readonly outputBytesMax?: number | undefined
}

/** The end of a child process, with its output until then (UTF-8). */
export type ProcessEnd =
  | {
      readonly end: 'exited'
      readonly exitCode: number
      readonly stdout: string
      readonly stderr: string
    }
  /** Ended by a signal: another process's if `why` is `signal`, otherwise ours. */
  | {
      readonly end: 'killed'
      readonly why: 'timeout' | 'aborted' | 'signal'
      readonly stdout: string
      readonly stderr: string
    }
  /** Nothing ran. `why` is a code such as ENOENT, or `aborted`; never a part of the arguments. */
  | { readonly end: 'not_started'; readonly why: string }

/** Runs a child process to its end. An abort sends SIGTERM, and SIGKILL 3 s later. Never rejects. */
export type RunProcess = (order: ProcessOrder, signal: AbortSignal) => Promise<ProcessEnd>

type ChildSignal = 'SIGTERM' | 'SIGKILL' | 'SIGHUP'

/** A child process that keeps running. */
export type RunningProcess = {
  readonly pid: number
  /** The exit code; null if a signal ended it. Never rejects. */
  readonly ended: Promise<number | null>
  kill(signal: ChildSignal): void
}

/** Starts a child process without input or output; throws if it can't be started. */
export type StartProcess = (order: {
  readonly path: string
  readonly args: readonly string[]
}) => RunningProcess

/** A process that outlives this one. */
export type DetachedOrder = {
  readonly path: string
  readonly args: readonly string[]
  /** The file to which both outputs are written. */
  readonly output: string
}

/** Starts a process in a new session and process group; throws if it can't be started. */
export type StartDetached = (order: DetachedOrder) => void

/** A child process that keeps running and whose outputs are read. `kill` reaches all its descendants. */
export type ReadProcess = RunningProcess & {
  /** Resolves when both outputs have ended; a grandchild may hold them open. Never rejects. */
  readonly outputEnded: Promise<void>
  /** Stops reading the outputs. */
  closeOutput(): void
}

/** Starts a child process that keeps running, and passes its output on; throws if it can't be started. */
export type StartReadProcess = (order: {
  readonly path: string
  readonly args: readonly string[]
  /** Variables in addition to those of every child. */
  readonly environment: Readonly<Record<string, string>>
  readonly onOutput: (chunk: Uint8Array, from: 'stdout' | 'stderr') => void
}) => ReadProcess

export type OwnIds = Readonly<ReturnType<typeof ownIds>>

type Child = Bun.Subprocess<Uint8Array, 'pipe', 'pipe'>
type Why = Extract<ProcessEnd, { readonly end: 'killed' }>['why']
type Output = { text(): string; readonly ended: Promise<void>; close(): void }

const OUTPUT_BYTES_MAX = 65_536
const KILL_AFTER_ABORT_MS = 3_000
/** A grandchild that outlives the child keeps its pipes open, so the wait for their end is limited. */
const PIPE_WAIT_MS = 1_000
/** A process that even SIGKILL doesn't end, because a disk or driver doesn't answer, is left behind. */
const GIVE_UP_MS = 5_000

/** The real RunProcess, timed by `clock`. */
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

/** The real StartProcess. The child is in our process group and ends with it. */
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
    // In its own group: Ctrl+C in the terminal reaches only us, and we end the child.
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

/** The process and user id of this process. */
export function ownIds() {
  // Only Windows has no user ids.
  return { pid: process.pid, uid: process.getuid?.() ?? 0 }
}

/** The child, or an error code, because the error's message may quote an argument. */
function spawn({ path, args, input }: ProcessOrder): Child | string {
  try {
    return Bun.spawn([path, ...args], {
      cwd: '/',
      env: childEnvironment(),
      stdin: new TextEncoder().encode(input ?? ''),
      stdout: 'pipe',
      stderr: 'pipe',
      // In its own group: Ctrl+C in the terminal reaches only us, and a send runs to its end.
      detached: true,
    })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    return typeof code === 'string' ? code : 'unknown'
  }
}

/** Folders of tools that the PATH of a service doesn't have. */
const MORE_PATHS = ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin', '/usr/sbin']

/** The absolute path of an executable, or null. */
export function findTool(name: string): string | null {
  const paths = [process.env['PATH'] ?? '', ...MORE_PATHS]
  return Bun.which(name, { PATH: paths.join(':') })
}

/** The command line of any process, its arguments separated by spaces; null if there is none. */
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

/** Signals a process that isn't our child. */
export function signalProcess(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has just ended.
  }
}

/** The environment of a child, without our options and secrets. */
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

/** Sends the signals when they are due. `outlived` resolves if not even SIGKILL ended the child. */
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

/** Signals the child and its descendants, through their process group. */
function signalGroup(child: { readonly pid: number }, name: ChildSignal): void {
  try {
    process.kill(-child.pid, name)
  } catch {
    // The group has just ended.
  }
}

/** Reads all of a pipe, so that it never blocks the child, and keeps the first bytes. */
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
