// The commands that start the agent on a phone: the owner's own, or those of a preset. Only the start needs
// them; what the agent is asked later goes over the cable.

import { mkdirSync } from 'node:fs'

import { whenAborted, type Clock } from '../../../../system/clock.ts'
import type { Log } from '../../../../system/log.ts'
import type { ProcessEnd, RunProcess, StartReadProcess } from '../../../../system/process.ts'
import type { Service } from '../../../../system/service.ts'
import { isUdid } from '../udid.ts'
import { KeptProcess } from './kept-process.ts'
import {
  CALLED_OFF,
  endTrouble,
  knownCode,
  startTrouble,
  type LaunchTrouble,
  type LaunchTroubleCode,
} from './launch-trouble.ts'

/** The program by its absolute path, and its arguments; `{name}` stands for one of the values. */
type CommandLine = readonly string[]

export type AgentOptions = {
  readonly preset: 'attach' | 'go-ios' | 'xcodebuild'
  /** The owner's commands, in the place of the preset's. */
  readonly agentCommand: CommandLine | null
  readonly tunnelCommand: CommandLine | null
  /** `ios` of go-ios. */
  readonly goIosPath: string
  /** A folder of ours in which go-ios keeps its identity and the disk images; made where it is missing. */
  readonly folder: string
  readonly xcodebuildPath: string
  /** Made of WebDriverAgent by `xcodebuild build-for-testing`; null where the owner made none. */
  readonly xctestrunPath: string | null
  /** The runner's, as `com.example.WebDriverAgentRunner.xctrunner`. */
  readonly bundleId: string
  /** The port of the phone on which the agent listens. */
  readonly port: number
}

type AgentCommands = {
  /** A process for each phone, which runs as long as the agent does. */
  readonly agent: CommandLine
  /** A process for all phones, which runs beside the agents. */
  readonly tunnel: CommandLine | null
  /** Run to their ends for each phone before its agent is started. */
  readonly before: readonly { readonly command: CommandLine; readonly failsAs: LaunchTroubleCode }[]
}

/** The phone's id as Xcode writes it, and as usbmuxd does. */
export type LaunchPhone = { readonly udid: string; readonly serial: string }

/** An agent whose command runs: it answers on its port some time later, or the command ends. */
export type Launched = {
  /** Resolves when the command has ended; never rejects. */
  readonly ended: Promise<LaunchTrouble>
  /** Called when the agent answers: from then on its output may quote the screen, and is not read. */
  ignoreOutput(): void
  /** Ends the command and resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

type LauncherTools = {
  readonly clock: Clock
  readonly log: Log
  readonly run: RunProcess
  readonly start: StartReadProcess
}

/** WebDriverAgent's test bundle keeps the name of its target, whatever id the app was signed with. */
const TEST_BUNDLE = 'WebDriverAgentRunner.xctest'
const BEFORE_LIMITS = { timeoutMs: 120_000, killAfterMs: 125_000 }
/** Head start of the tunnel: go-ios gives one ten seconds (tunnel_api.go). */
const HEAD_START_MS = 10_000
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** A tunnel command that ran for so long was a good one. */
const GOOD_MS = 60_000
const NO_UDID: LaunchTrouble = { code: 'launch_failed', why: 'The phone gives no valid UDID.' }
const ENDING: LaunchTrouble = { code: 'launch_failed', why: 'The relay is ending.' }

/** Starts agents, and keeps the tunnel command alive beside them from the first need on. */
export class Launcher implements Service {
  readonly name = 'iphone-agent-launcher'
  readonly #commands: AgentCommands
  readonly #options: AgentOptions
  readonly #tools: LauncherTools
  readonly #over = new AbortController()
  readonly #running = new Set<KeptProcess>()
  readonly #isNeeded = Promise.withResolvers<null>()
  readonly #hasHeadStart = Promise.withResolvers<null>()
  #preparing: Promise<LaunchTrouble | null> | null = null
  #tunnel: KeptProcess | null = null
  /** The cause of the tunnel command's last end, since it was good. */
  #tunnelTrouble: LaunchTrouble | null = null

  private constructor(commands: AgentCommands, options: AgentOptions, tools: LauncherTools) {
    this.#commands = commands
    this.#options = options
    this.#tools = tools
  }

  /** Null where the owner starts the agents. */
  static of(options: AgentOptions, tools: LauncherTools): Launcher | null {
    const commands = commandsOf(options)
    return commands === null ? null : new Launcher(commands, options, tools)
  }

  /** Runs what has to come before the agent; null once all of it is done. */
  async prepare(phone: LaunchPhone, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const trouble = isPhone(phone) ? this.#makeFolder() : NO_UDID
    if (trouble !== null) return trouble
    const until = AbortSignal.any([signal, this.#over.signal])
    this.#isNeeded.resolve(null)
    await Promise.race([this.#hasHeadStart.promise, whenAborted(until)])
    // Phones wait for each other: two downloads of the same image spoil each other (go-ios 1.3.2).
    while (this.#preparing !== null && !until.aborted) {
      await Promise.race([this.#preparing, whenAborted(until)])
    }
    if (until.aborted) return CALLED_OFF
    this.#preparing = this.#runBefore(phone, until).finally(() => {
      this.#preparing = null
    })
    return await this.#preparing
  }

  launch(phone: LaunchPhone): Launched | LaunchTrouble {
    if (!isPhone(phone)) return NO_UDID
    const process = this.#start(this.#commands.agent, phone)
    if (!(process instanceof KeptProcess)) return process
    return {
      ended: process.ended.then((end) => this.#withTunnel(endTrouble(end, 'launch_failed', phone))),
      ignoreOutput: () => process.ignoreOutput(),
      stop: () => process.stop(),
    }
  }

  /** Keeps the tunnel command alive until `signal` aborts, and leaves no process behind. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#isNeeded.promise, whenAborted(signal)])
    let delayMs = DELAY_MS_MIN
    const { tunnel } = this.#commands
    while (!signal.aborted) {
      if (tunnel === null) break
      if (await this.#runTunnel(tunnel, signal)) delayMs = DELAY_MS_MIN
      await this.#tools.clock.sleep(delayMs, signal)
      delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)
    }
    this.#hasHeadStart.resolve(null)
    await whenAborted(signal)
    this.#over.abort()
    await Promise.all([this.#preparing, ...[...this.#running].map((process) => process.stop())])
  }

  /** Runs the tunnel command from its start to its end; true if it ran for long enough to be good. */
  async #runTunnel(command: CommandLine, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#tools
    const startedAt = clock.monotonic()
    const cancelHeadStart = clock.after(HEAD_START_MS, () => this.#hasHeadStart.resolve(null))
    const cancelGood = clock.after(GOOD_MS, () => {
      if (this.#tunnelTrouble !== null) log.info('the tunnel command for iPhones runs again')
      this.#tunnelTrouble = null
    })
    const trouble = await this.#tunnelEnd(command, signal)
    cancelHeadStart()
    cancelGood()
    // The tunnel may be another program's: then this one ends at once, and agents start all the same.
    this.#hasHeadStart.resolve(null)
    if (trouble !== null && this.#tunnelTrouble === null) {
      log.warn('the tunnel command for iPhones ended', { why: trouble.why })
    }
    this.#tunnelTrouble = trouble
    return clock.monotonic() - startedAt >= GOOD_MS
  }

  /** The cause of its end; null where `signal` aborted. */
  async #tunnelEnd(command: CommandLine, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const process = this.#start(command, null)
    if (!(process instanceof KeptProcess)) return process
    this.#tunnel = process
    const end = await Promise.race([process.ended, whenAborted(signal)])
    this.#tunnel = null
    return end === null ? null : endTrouble(end, 'tunnel_failed', null)
  }

  async #runBefore(phone: LaunchPhone, signal: AbortSignal): Promise<LaunchTrouble | null> {
    for (const { command, failsAs } of this.#commands.before) {
      const [path = '', ...args] = this.#filled(command, phone)
      const end = await this.#tools.run({ path, args, ...BEFORE_LIMITS }, signal)
      const trouble = beforeTrouble(end, failsAs, phone)
      if (trouble !== null) return trouble
    }
    return null
  }

  /** Makes the folder where a command names it: go-ios keeps a private key there. */
  #makeFolder(): LaunchTrouble | null {
    if (!JSON.stringify(this.#commands).includes('{folder}')) return null
    try {
      mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 })
      return null
    } catch (error) {
      return { code: 'tunnel_failed', why: `Its folder cannot be made: ${codeOf(error)}.` }
    }
  }

  #start(command: CommandLine, phone: LaunchPhone | null): KeptProcess | LaunchTrouble {
    if (this.#over.signal.aborted) return ENDING
    const words = this.#filled(command, phone)
    const missing = words.map((word) => PLACEHOLDER.exec(word)?.[0]).find((name) => name)
    if (missing !== undefined) {
      return { code: 'launcher_absent', why: `No option gives a value for ${missing}.` }
    }
    try {
      const process = new KeptProcess(this.#tools, words, environmentOf(this.#options.port))
      this.#running.add(process)
      void process.ended.then(() => this.#running.delete(process))
      return process
    } catch (error) {
      return startTrouble(codeOf(error))
    }
  }

  #filled(command: CommandLine, phone: LaunchPhone | null): CommandLine {
    const { port, bundleId: bundle, folder, xctestrunPath: xctestrun } = this.#options
    const values: Values = { port: String(port), bundle, folder, xctestrun, ...phone }
    return command.map((word) =>
      word.replaceAll(PLACEHOLDERS, (whole, name: string) => values[name] ?? whole),
    )
  }

  /** Adds the end of the tunnel command to a trouble with the tunnel; one that stood for long is restarted. */
  #withTunnel(trouble: LaunchTrouble): LaunchTrouble {
    if (trouble.code !== 'tunnel_failed') return trouble
    const tunnel = this.#tunnel
    if (tunnel !== null && this.#tools.clock.monotonic() - tunnel.startedAt >= GOOD_MS) {
      void tunnel.stop()
    }
    const why = this.#tunnelTrouble === null ? '' : ` The tunnel: ${this.#tunnelTrouble.why}`
    return { ...trouble, why: `${trouble.why}${why}` }
  }
}

type Values = Readonly<Record<string, string | null>>

const PLACEHOLDERS = /\{(\w+)\}/g
const PLACEHOLDER = /\{\w+\}/

/** The commands of the owner, or of the preset; null where the owner starts the agents. */
function commandsOf(options: AgentOptions): AgentCommands | null {
  const { preset, agentCommand, tunnelCommand, goIosPath: ios, xcodebuildPath } = options
  if (agentCommand !== null) return { agent: agentCommand, tunnel: tunnelCommand, before: [] }
  switch (preset) {
    case 'attach':
      return null
    case 'go-ios':
      return goIosCommands(ios, tunnelCommand)
    case 'xcodebuild': {
      const what = ['-xctestrun', '{xctestrun}', '-destination', 'id={udid}']
      const agent = [xcodebuildPath, 'test-without-building', ...what]
      return { agent, tunnel: tunnelCommand, before: [] }
    }
  }
}

/** go-ios 1.3.2; it knows phones by the names that usbmuxd gives them (listdevices.go). */
function goIosCommands(ios: string, tunnelCommand: CommandLine | null): AgentCommands {
  return {
    // Without the folder go-ios keeps its identity where it was started.
    tunnel: tunnelCommand ?? [ios, 'tunnel', 'start', '--userspace', '--pair-record-path={folder}'],
    before: [
      { command: [ios, 'version'], failsAs: 'launch_failed' },
      {
        // A phone loses Apple's image for developers whenever it restarts.
        command: [ios, 'image', 'auto', '--udid={serial}', '--basedir={folder}/images'],
        failsAs: 'image_mount_failed',
      },
    ],
    agent: [
      ios,
      'runwda',
      '--udid={serial}',
      // The runner is also the app whose tests it runs (cmd_device_ui_run.go).
      '--bundleid={bundle}',
      '--testrunnerbundleid={bundle}',
      `--xctestconfig=${TEST_BUNDLE}`,
      // Otherwise the agent, which knows no password, listens to everybody on the phone's network.
      '--env=USE_IP=127.0.0.1',
      '--env=USE_PORT={port}',
    ],
  }
}

/** For xcodebuild: what begins with TEST_RUNNER_ goes on to the agent without that (xcodebuild(1)). */
function environmentOf(port: number): Readonly<Record<string, string>> {
  return { TEST_RUNNER_USE_IP: '127.0.0.1', TEST_RUNNER_USE_PORT: String(port) }
}

/** Only ids in the form of a UDID become arguments of a program. */
function isPhone({ udid, serial }: LaunchPhone): boolean {
  return isUdid(udid) && isUdid(serial)
}

function beforeTrouble(
  end: ProcessEnd,
  failsAs: LaunchTroubleCode,
  phone: LaunchPhone,
): LaunchTrouble | null {
  if (end.end === 'not_started') return startTrouble(end.why)
  if (end.end === 'killed' && end.why === 'aborted') return CALLED_OFF
  const lines = `${end.stdout}\n${end.stderr}`.split('\n').filter((line) => line.trim() !== '')
  const exitCode = end.end === 'exited' ? end.exitCode : null
  // By its exit code alone a failed download of go-ios is a success.
  if (exitCode === 0 && knownCode(lines) === null) return null
  return endTrouble({ exitCode, lines }, failsAs, phone)
}

/** The code of a failed start; its message may quote an argument. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'unknown'
}
