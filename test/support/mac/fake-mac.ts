import { basename } from 'node:path'

import type { Clock } from '../../../src/system/clock.ts'
import type {
  ProcessEnd,
  ProcessOrder,
  RunProcess,
  StartProcess,
} from '../../../src/system/process.ts'
import type { MessagesModel } from './messages-model.ts'

export type FakeMacOptions = {
  readonly uid?: number | undefined
  /** Whether a child that hangs ends at SIGKILL only. */
  readonly ignoresTerm?: boolean | undefined
}

/** The child processes of a Mac, on the model's clock, without a process. */
export type FakeMac = {
  readonly run: RunProcess
  readonly start: StartProcess
  /** Whether a caffeinate is running. */
  readonly isKeptAwake: () => boolean
  /** Whether the user is logged in; false is a Mac that waits at its login window. */
  hasGuiSession: boolean
}

type Exit = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }
type Tool = (order: ProcessOrder) => Exit | 'hang' | Promise<Exit | 'hang'>

/** Any will do, but never that of a process of ours. */
const FIRST_PID = 4_000_001
const KILL_AFTER_ABORT_MS = 3_000
const PLATFORM_UUID = '01234567-89AB-CDEF-0123-456789ABCDEF'

export function fakeMac(model: MessagesModel, options: FakeMacOptions = {}): FakeMac {
  const { uid = 501, ignoresTerm = false } = options
  const { clock } = model
  const awake = new Set<number>()
  let pid = FIRST_PID
  const mac: FakeMac = {
    run: async (order, signal) => {
      if (signal.aborted) return { end: 'not_started', why: 'aborted' }
      const tool = tools[basename(order.path)]
      if (tool === undefined) return { end: 'not_started', why: 'ENOENT' }
      return ending(tool(order), { clock, order, signal, ignoresTerm })
    },
    start: ({ path }) => {
      if (basename(path) !== 'caffeinate') throw new Error('ENOENT')
      const own = (pid += 1)
      const { promise, resolve } = Promise.withResolvers<number | null>()
      awake.add(own)
      const kill = () => {
        awake.delete(own)
        resolve(null)
      }
      return { pid: own, ended: promise, kill }
    },
    isKeptAwake: () => awake.size > 0,
    hasGuiSession: true,
  }

  /** By their names, wherever they lie. */
  const tools: Readonly<Record<string, Tool>> = {
    osascript: ({ args, input = '' }) => model.handleScript(args, input),
    open: () => {
      if (!model.isRunning) pid += 1
      model.launch()
      return exit(0)
    },
    // pgrep(1) ends with 1 where it finds nobody.
    pgrep: () => (model.isRunning ? exit(0, `${pid}\n`) : exit(1)),
    kill: ({ args }) => {
      if (!model.isRunning || !args.includes(String(pid))) return exit(1)
      model.quit()
      return exit(0)
    },
    ioreg: () => exit(0, `  |   "IOPlatformUUID" = "${PLATFORM_UUID}"\n`),
    stat: () => exit(0, `${mac.hasGuiSession ? uid : 0}\n`),
    launchctl: () => exit(mac.hasGuiSession ? 0 : 113),
  }
  return mac
}

type Limits = {
  readonly clock: Clock
  readonly order: ProcessOrder
  readonly signal: AbortSignal
  readonly ignoresTerm: boolean
}

/** The end of a child: its own, that of its time, or that of an abort. */
async function ending(answer: ReturnType<Tool>, limits: Limits): Promise<ProcessEnd> {
  const { clock, order, signal, ignoresTerm } = limits
  const { promise, resolve } = Promise.withResolvers<ProcessEnd>()
  const kill = (why: 'timeout' | 'aborted') =>
    resolve({ end: 'killed', why, stdout: '', stderr: '' })
  const cancels = [
    clock.after(ignoresTerm ? order.killAfterMs : order.timeoutMs, () => kill('timeout')),
  ]
  const abort = () => {
    if (!ignoresTerm) return kill('aborted')
    cancels.push(clock.after(KILL_AFTER_ABORT_MS, () => kill('aborted')))
  }
  signal.addEventListener('abort', abort)
  const ended = async (): Promise<ProcessEnd> => {
    const exited = await answer
    return exited === 'hang' ? promise : { end: 'exited', ...exited }
  }
  const end = await Promise.race([promise, ended()])
  for (const cancel of cancels) cancel()
  signal.removeEventListener('abort', abort)
  return end
}

function exit(exitCode: number, stdout = ''): Exit {
  return { exitCode, stdout, stderr: '' }
}
