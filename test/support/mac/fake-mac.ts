import { basename } from 'node:path'

import type { LineDriver } from '../../../src/lines/driver.ts'
import { createMacDriver, type MacDriverOptions } from '../../../src/lines/kinds/mac/driver.ts'
import type { KindHost } from '../../../src/lines/line-kind.ts'
import type { Clock } from '../../../src/system/clock.ts'
import type {
  ProcessEnd,
  ProcessOrder,
  RunProcess,
  StartProcess,
} from '../../../src/system/process.ts'
import { testHost } from '../kind-host.ts'
import { seededRandom } from '../test-relay.ts'
import type { MessagesModel } from './messages-model.ts'
import { OWN_NUMBER } from './trace-steps.ts'

/** What a relay learns of its Mac, which a test may change. */
type DriverMore = Partial<KindHost> &
  Pick<MacDriverOptions, 'openChatDb'> & {
    /** Null where the number is read from the history of Messages. */
    readonly phoneNumber?: string | null | undefined
  }

/** The child processes of a Mac, on the model's clock, without a process. */
export type FakeMac = {
  readonly clock: Clock
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
const UID = 501
const PLATFORM_UUID = '01234567-89AB-CDEF-0123-456789ABCDEF'

export function fakeMac(model: MessagesModel): FakeMac {
  const { clock } = model
  const awake = new Set<number>()
  let pid = FIRST_PID
  const mac: FakeMac = {
    clock,
    run: async (order, signal) => {
      if (signal.aborted) return { end: 'not_started', why: 'aborted' }
      const tool = tools[basename(order.path)]
      if (tool === undefined) return { end: 'not_started', why: 'ENOENT' }
      return ending(tool(order), { clock, order, signal })
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
    // pgrep(1) ends with 1 if it finds nobody.
    pgrep: () => (model.isRunning ? exit(0, `${pid}\n`) : exit(1)),
    kill: ({ args }) => {
      if (!model.isRunning || !args.includes(String(pid))) return exit(1)
      model.quit()
      return exit(0)
    },
    ioreg: () => exit(0, `  |   "IOPlatformUUID" = "${PLATFORM_UUID}"\n`),
    stat: () => exit(0, `${mac.hasGuiSession ? UID : 0}\n`),
    launchctl: () => exit(mac.hasGuiSession ? 0 : 113),
  }
  return mac
}

/** A driver as each process of a relay makes it, on a Mac whose chat.db is at that path. */
export function driverOn(
  { run, start, clock }: FakeMac,
  macChatDb: string,
  { phoneNumber = OWN_NUMBER, openChatDb, ...more }: DriverMore = {},
): LineDriver {
  const self = { pid: 4711, uid: UID }
  return createMacDriver(
    testHost({ clock, random: seededRandom(1), run, start, self, ...more }),
    {
      macChatDb,
      macStaging: 'messages',
      macPhoneNumber: phoneNumber,
      macOsascript: '/usr/bin/osascript',
      macOpen: '/usr/bin/open',
      macPgrep: '/usr/bin/pgrep',
      macCaffeinate: '/usr/bin/caffeinate',
    },
    { openChatDb },
  )
}

type Limits = {
  readonly clock: Clock
  readonly order: ProcessOrder
  readonly signal: AbortSignal
}

/** The end of a child: its own, that of its time, or that of an abort. */
async function ending(answer: ReturnType<Tool>, limits: Limits): Promise<ProcessEnd> {
  const { clock, order, signal } = limits
  const { promise, resolve } = Promise.withResolvers<ProcessEnd>()
  const kill = (why: 'timeout' | 'aborted') =>
    resolve({ end: 'killed', why, stdout: '', stderr: '' })
  const cancel = clock.after(order.timeoutMs, () => kill('timeout'))
  const abort = () => kill('aborted')
  signal.addEventListener('abort', abort)
  const ended = async (): Promise<ProcessEnd> => {
    const exited = await answer
    return exited === 'hang' ? promise : { end: 'exited', ...exited }
  }
  const end = await Promise.race([promise, ended()])
  cancel()
  signal.removeEventListener('abort', abort)
  return end
}

function exit(exitCode: number, stdout = ''): Exit {
  return { exitCode, stdout, stderr: '' }
}
