// A launcher whose processes are played, and whose time is the test's. How real ones are started and ended
// is in the tests of src/system.

import { writeFileSync } from 'node:fs'

import {
  type AgentOptions,
  type Launched,
  Launcher,
  type LaunchTrouble,
} from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { whenAborted } from '../../../src/system/clock.ts'
import type {
  ProcessEnd,
  ReadProcess,
  RunProcess,
  StartReadProcess,
} from '../../../src/system/process.ts'
import { testHost } from '../kind-host.ts'
import { recordingLog } from '../recording-log.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { TestClock } from '../test-clock.ts'
import { OTHER_UDID, UDID } from './fake-phones.ts'
import { NEVER, run } from './ui-rig.ts'

export const BUNDLE = 'com.example.WebDriverAgentRunner.xctrunner'
export const SERIAL = UDID.replace('-', '')
export const PHONE = { udid: UDID, serial: SERIAL }
export const OTHER = { udid: OTHER_UDID, serial: OTHER_UDID }
/** Where no program is. */
export const NOWHERE = '/nowhere/tool'
const TOOL = '/opt/tool'
const ABSENT = Object.assign(new Error('It quotes its arguments.'), { code: 'ENOENT' })

type Order = Parameters<StartReadProcess>[0]

/** A process that runs until it is asked to end. */
export class PlayedProcess implements ReadProcess {
  readonly pid = 1
  readonly args: readonly string[]
  readonly environment: Order['environment']
  /** When it was started. */
  readonly at: number
  isAlive = true
  readonly outputEnded = Promise.resolve()
  readonly #end = Promise.withResolvers<number | null>()
  readonly ended = this.#end.promise
  readonly #onOutput: Order['onOutput']

  constructor({ args, environment, onOutput }: Order, at: number) {
    this.args = args
    this.environment = environment
    this.at = at
    this.#onOutput = onOutput
  }

  says(text: string, from: 'stdout' | 'stderr' = 'stdout'): void {
    this.#onOutput(new TextEncoder().encode(text), from)
  }

  exit(code: number | null): void {
    this.isAlive = false
    this.#end.resolve(code)
  }

  kill(): void {
    this.exit(null)
  }

  closeOutput(): void {}
}

export class LaunchRig implements AsyncDisposable {
  readonly folder = new ScratchFolder()
  readonly clock = new TestClock()
  readonly lines
  readonly launcher: Launcher
  /** The arguments of all commands, in the order in which they began. */
  readonly calls: (readonly string[])[] = []
  /** Those that run beside the relay. */
  readonly started: PlayedProcess[] = []
  /** What a process does when it is started. */
  onStart: (process: PlayedProcess) => void = () => {}
  /** How the mounting of an image ends. */
  mount: (signal: AbortSignal) => Promise<ProcessEnd> = async () => exited(0)
  /** The command that renews the tunnel of one phone; go-ios before 1.2.0 knows no such command. */
  refresh: () => ProcessEnd = () => exited(0)
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(preset: AgentOptions['iphoneAgent'], more: Partial<AgentOptions> = {}) {
    const { log, lines } = recordingLog()
    this.lines = lines
    writeFileSync(this.folder.file('wda.xctestrun'), '')
    const options: AgentOptions = {
      iphoneAgent: preset,
      iphoneAgentCommand: null,
      iphoneTunnelCommand: null,
      iphoneGoIos: TOOL,
      iphoneXcodebuild: TOOL,
      folder: this.folder.file('data/go-ios'),
      iphoneXctestrun: this.folder.file('wda.xctestrun'),
      iphoneAgentBundle: BUNDLE,
      iphoneAgentPort: 8_123,
      ...more,
    }
    const host = testHost({ clock: this.clock, log, run: this.#run, startRead: this.#start })
    const launcher = Launcher.of(host, options)
    if (launcher === null) throw new Error('There is no launcher.')
    this.launcher = launcher
    this.#running = launcher.run(this.#end.signal)
  }

  get tunnels(): readonly PlayedProcess[] {
    return this.started.filter(({ args }) => args[0] === 'tunnel')
  }

  get alive(): readonly PlayedProcess[] {
    return this.started.filter(({ isAlive }) => isAlive)
  }

  launch(phone = PHONE): Launched {
    const launched = this.launcher.launch(phone)
    if ('code' in launched) throw new Error(launched.why)
    return launched
  }

  /** How an agent ends by itself that was just started. */
  ended(): Promise<LaunchTrouble> {
    return run(this.clock, this.launch().ended)
  }

  /** Prepares a phone, while time goes by. */
  prepare(phone = PHONE, signal = NEVER): Promise<LaunchTrouble | null> {
    return run(this.clock, this.launcher.prepare(phone, signal))
  }

  async stop(): Promise<void> {
    this.#end.abort()
    await run(this.clock, this.#running)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    this.folder[Symbol.dispose]()
  }

  readonly #run: RunProcess = async ({ path, args }, signal) => {
    if (path === NOWHERE) return { end: 'not_started', why: 'ENOENT' }
    this.calls.push(args)
    return args[1] === 'refresh' ? this.refresh() : await this.mount(signal)
  }

  readonly #start: StartReadProcess = (order) => {
    if (order.path === NOWHERE) throw ABSENT
    this.calls.push(order.args)
    const process = new PlayedProcess(order, this.clock.monotonic())
    this.started.push(process)
    this.onStart(process)
    return process
  }
}

export function exited(exitCode: number, stderr = ''): ProcessEnd {
  return { end: 'exited', exitCode, stdout: '', stderr }
}

/** Runs until it is called off. */
export async function untilAborted(signal: AbortSignal): Promise<ProcessEnd> {
  await whenAborted(signal)
  return { end: 'killed', why: 'aborted', stdout: '', stderr: '' }
}
