// The commands that start the agent on a phone: the owner's own, or a preset. Only the start needs them; later
// requests to the agent go over the cable.

import { mkdirSync } from 'node:fs'

import type { OptionValues } from '../../../../domain/option.ts'
import { whenAborted } from '../../../../system/clock.ts'
import type { ProcessEnd } from '../../../../system/process.ts'
import type { Service } from '../../../../system/service.ts'
import type { KindHost } from '../../../line-kind.ts'
import type { IPHONE_OPTIONS } from '../options.ts'
import { isUdid } from '../udid.ts'
import { type KeptEnd, KeptProcess } from './kept-process.ts'

/** Known causes of a failed start, the same for every launch program: exit codes say only success or failure. */
export type LaunchTroubleCode =
  | 'launcher_absent'
  /** Apple's disk image could not be mounted, mostly because there is no internet. */
  | 'image_mount_failed'
  /** The agent ended after the tunnel command had ended. */
  | 'tunnel_failed'
  | 'launch_failed'

/** The reason why an agent could not be started; `why` has no handles, texts or secrets. */
export type LaunchTrouble = { readonly code: LaunchTroubleCode; readonly why: string }

/** The absolute path of a program, and its arguments; `{name}` stands for one of the values. */
type CommandLine = readonly string[]

export type AgentOptions = Omit<
  OptionValues<typeof IPHONE_OPTIONS>,
  'iphone' | 'iphoneLines' | 'usbmuxdAddress'
> & {
  /** The folder for go-ios's identity and disk images; created if it is missing. */
  readonly folder: string
}

type AgentCommands = {
  /** A process for each phone that runs as long as the agent. */
  readonly agent: CommandLine
  /** One process for all phones that runs while agents do. */
  readonly tunnel: CommandLine | null
  /** Renews the tunnel of one phone only. */
  readonly refresh: CommandLine | null
  /** Mounts Apple's image on each phone before its agent is started. */
  readonly image: CommandLine | null
}

/** The phone's id as Xcode writes it, and as usbmuxd writes it. */
export type LaunchPhone = { readonly udid: string; readonly serial: string }

/** An agent whose command runs: later the agent answers on its port, or the command ends. */
export type Launched = {
  /** Resolves when the command has ended; never rejects. */
  readonly ended: Promise<LaunchTrouble>
  /** Called when the agent answers: from then on its output may quote the screen, and is not read. */
  ignoreOutput(): void
  /** Ends the command; resolves when it has ended. */
  stop(): Promise<void>
}

/** WebDriverAgent's test bundle keeps its target's name, whatever id the app was signed with. */
const TEST_BUNDLE = 'WebDriverAgentRunner.xctest'
const IMAGE_LIMITS = { timeoutMs: 120_000, killAfterMs: 125_000 }
/** go-ios waits 30 seconds for the new tunnel (cmd_tunnel.go). */
const REFRESH_LIMITS = { timeoutMs: 35_000, killAfterMs: 40_000 }
/** Time that the tunnel gets before an agent is started; go-ios gives it ten seconds (tunnel_api.go). */
const HEAD_START_MS = 10_000
const DELAY_MS_MIN = 1_000
const DELAY_MS_MAX = 60_000
/** A tunnel command that ran at least this long worked. */
const GOOD_MS = 60_000
const LINES_QUOTED = 3
const LINE_LENGTH_MAX = 200
/** The result of an aborted start; never shown to the owner. */
const CALLED_OFF: LaunchTrouble = { code: 'launch_failed', why: 'It was called off.' }
const NO_UDID: LaunchTrouble = { code: 'launch_failed', why: 'The phone gives no valid UDID.' }
const ENDING: LaunchTrouble = { code: 'launch_failed', why: 'The relay is ending.' }

/** Starts agents, and runs the tunnel command alongside once an agent is needed. */
export class Launcher implements Service {
  readonly name = 'iphone-agent-launcher'
  readonly #host: KindHost
  readonly #commands: AgentCommands
  readonly #options: AgentOptions
  readonly #over = new AbortController()
  readonly #running = new Set<KeptProcess>()
  readonly #isNeeded = Promise.withResolvers<null>()
  readonly #hasHeadStart = Promise.withResolvers<null>()
  /** The last renewal of each phone's tunnel, by serial. */
  readonly #renewedAt = new Map<string, number>()
  /** Tunnels are renewed one after another; resolves after the last. */
  #renewing: Promise<void> = Promise.resolve()
  #preparing: Promise<LaunchTrouble | null> | null = null
  #tunnel: KeptProcess | null = null
  /** The reason why the tunnel command last ended; null once it has worked again. */
  #tunnelTrouble: LaunchTrouble | null = null

  private constructor(host: KindHost, options: AgentOptions, commands: AgentCommands) {
    this.#host = host
    this.#options = options
    this.#commands = commands
  }

  /** The launcher; null if the owner starts the agents. */
  static of(host: KindHost, options: AgentOptions): Launcher | null {
    const commands = commandsOf(options)
    return commands === null ? null : new Launcher(host, options, commands)
  }

  /** Does everything that must happen before the agent starts; returns null once that is done. */
  async prepare(phone: LaunchPhone, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const trouble = isPhone(phone) ? this.#makeFolder() : NO_UDID
    if (trouble !== null) return trouble
    const until = AbortSignal.any([signal, this.#over.signal])
    this.#isNeeded.resolve(null)
    await Promise.race([this.#hasHeadStart.promise, whenAborted(until)])
    // One phone at a time: two downloads of the same image corrupt each other (go-ios 1.3.2).
    while (this.#preparing !== null && !until.aborted) {
      await Promise.race([this.#preparing, whenAborted(until)])
    }
    if (until.aborted) return CALLED_OFF
    this.#preparing = this.#mountImage(phone, until).finally(() => {
      this.#preparing = null
    })
    return await this.#preparing
  }

  launch(phone: LaunchPhone): Launched | LaunchTrouble {
    if (!isPhone(phone)) return NO_UDID
    const process = this.#start(this.#commands.agent, phone)
    if (!(process instanceof KeptProcess)) return process
    let hasAnswered = false
    const ended = process.ended.then(async (end) => {
      const trouble = this.#agentTrouble(end, phone)
      if (end.exitCode !== null && !hasAnswered) {
        this.#renewing = this.#renewing.then(() => this.#renewTunnel(phone))
        await this.#renewing
      }
      return trouble
    })
    return {
      ended,
      ignoreOutput() {
        hasAnswered = true
        process.ignoreOutput()
      },
      stop: () => process.stop(),
    }
  }

  /** Keeps the tunnel command alive until `signal` aborts; leaves no process behind. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#isNeeded.promise, whenAborted(signal)])
    let delayMs = DELAY_MS_MIN
    const { tunnel } = this.#commands
    while (!signal.aborted) {
      if (tunnel === null) break
      if (await this.#runTunnel(tunnel, signal)) delayMs = DELAY_MS_MIN
      await this.#host.clock.sleep(delayMs, signal)
      delayMs = Math.min(delayMs * 2, DELAY_MS_MAX)
    }
    this.#hasHeadStart.resolve(null)
    await whenAborted(signal)
    this.#over.abort()
    await Promise.all([
      this.#preparing,
      this.#renewing,
      ...[...this.#running].map((process) => process.stop()),
    ])
  }

  /** Runs the tunnel command until it ends; returns whether it ran long enough to have worked. */
  async #runTunnel(command: CommandLine, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#host
    const startedAt = clock.monotonic()
    const cancelHeadStart = clock.after(HEAD_START_MS, () => this.#hasHeadStart.resolve(null))
    const cancelGood = clock.after(GOOD_MS, () => {
      if (this.#tunnelTrouble !== null) log.info('the tunnel command for iPhones runs again')
      this.#tunnelTrouble = null
    })
    const trouble = await this.#tunnelEnd(command, signal)
    cancelHeadStart()
    cancelGood()
    // Another program may own the tunnel: then this command ends at once, but agents still start.
    this.#hasHeadStart.resolve(null)
    if (trouble !== null && this.#tunnelTrouble === null) {
      log.warn('the tunnel command for iPhones ended', { why: trouble.why })
    }
    this.#tunnelTrouble = trouble
    return clock.monotonic() - startedAt >= GOOD_MS
  }

  /** The reason why the tunnel command ended; null after an abort or for a renewal. */
  async #tunnelEnd(command: CommandLine, signal: AbortSignal): Promise<LaunchTrouble | null> {
    const process = this.#start(command, null)
    if (!(process instanceof KeptProcess)) return process
    this.#tunnel = process
    const end = await Promise.race([process.ended, whenAborted(signal)])
    const isRenewed = this.#tunnel === null
    this.#tunnel = null
    return end === null || isRenewed ? null : endTrouble(end, 'tunnel_failed', null)
  }

  /**
   * Renews the tunnel of a phone if it is not new and the agent never answered: a phone that was restarted may leave
   * a dead tunnel. If the program can't renew one phone's tunnel, as go-ios before 1.2.0, the tunnel command is
   * restarted for all phones, unless another phone uses it.
   */
  async #renewTunnel(phone: LaunchPhone): Promise<void> {
    const now = this.#host.clock.monotonic()
    const renewedAt = this.#renewedAt.get(phone.serial) ?? -Infinity
    const since = Math.max(renewedAt, this.#tunnel?.startedAt ?? -Infinity)
    if (now - since < GOOD_MS || this.#over.signal.aborted) return
    this.#renewedAt.set(phone.serial, now)
    if (await this.#refreshTunnel(phone)) return
    const tunnel = this.#tunnel
    const isAlone = [...this.#running].every((process) => process === tunnel)
    if (tunnel === null || !isAlone) return
    this.#tunnel = null
    void tunnel.stop()
  }

  async #refreshTunnel(phone: LaunchPhone): Promise<boolean> {
    if (this.#commands.refresh === null) return false
    const [path = '', ...args] = this.#filled(this.#commands.refresh, phone)
    const end = await this.#host.run({ path, args, ...REFRESH_LIMITS }, this.#over.signal)
    return end.end === 'exited' && end.exitCode === 0
  }

  #agentTrouble(end: KeptEnd, phone: LaunchPhone): LaunchTrouble {
    const trouble = endTrouble(end, 'launch_failed', phone)
    if (this.#tunnelTrouble === null) return trouble
    return { code: 'tunnel_failed', why: `${trouble.why} The tunnel: ${this.#tunnelTrouble.why}` }
  }

  async #mountImage(phone: LaunchPhone, signal: AbortSignal): Promise<LaunchTrouble | null> {
    if (this.#commands.image === null) return null
    const [path = '', ...args] = this.#filled(this.#commands.image, phone)
    const end = await this.#host.run({ path, args, ...IMAGE_LIMITS }, signal)
    return imageTrouble(end, phone)
  }

  /** Creates the folder if a command names it: go-ios keeps a private key there. */
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
    const port = String(this.#options.iphoneAgentPort)
    const missing = words.map((word) => PLACEHOLDER.exec(word)?.[0]).find((name) => name)
    if (missing !== undefined) {
      return { code: 'launcher_absent', why: `No option gives a value for ${missing}.` }
    }
    try {
      const process = new KeptProcess(
        this.#host,
        words,
        // xcodebuild passes variables that begin with TEST_RUNNER_ to the agent, without that prefix (xcodebuild(1)).
        { TEST_RUNNER_USE_IP: '127.0.0.1', TEST_RUNNER_USE_PORT: port },
      )
      this.#running.add(process)
      void process.ended.then(() => this.#running.delete(process))
      return process
    } catch (error) {
      return startTrouble(codeOf(error))
    }
  }

  #filled(command: CommandLine, phone: LaunchPhone | null): CommandLine {
    const { iphoneAgentBundle: bundle, iphoneXctestrun: xctestrun, folder } = this.#options
    const port = String(this.#options.iphoneAgentPort)
    const values: Readonly<Record<string, string | null>> = {
      port,
      bundle,
      folder,
      xctestrun,
      ...phone,
    }
    return command.map((word) =>
      word.replaceAll(PLACEHOLDERS, (whole, name: string) => values[name] ?? whole),
    )
  }
}

const PLACEHOLDERS = /\{(\w+)\}/g
const PLACEHOLDER = /\{\w+\}/

/** The commands of the owner or of the preset; null if the owner starts the agents. */
function commandsOf(options: AgentOptions): AgentCommands | null {
  const { iphoneAgentCommand: agent, iphoneTunnelCommand: tunnel } = options
  if (agent !== null) return { agent, tunnel, refresh: null, image: null }
  switch (options.iphoneAgent) {
    case 'attach':
      return null
    case 'go-ios':
      return goIosCommands(options.iphoneGoIos, tunnel)
    case 'xcodebuild': {
      const what = ['-xctestrun', '{xctestrun}', '-destination', 'id={udid}']
      const command = [options.iphoneXcodebuild, 'test-without-building', ...what]
      return { agent: command, tunnel, refresh: null, image: null }
    }
  }
}

/** The commands of go-ios 1.3.2, which names phones as usbmuxd does (listdevices.go). */
function goIosCommands(ios: string, tunnelCommand: CommandLine | null): AgentCommands {
  return {
    // Without this folder, go-ios keeps its identity in the current directory.
    tunnel: tunnelCommand ?? [ios, 'tunnel', 'start', '--userspace', '--pair-record-path={folder}'],
    refresh: [ios, 'tunnel', 'refresh', '--udid={serial}'],
    // A phone loses Apple's developer disk image whenever it restarts.
    image: [ios, 'image', 'auto', '--udid={serial}', '--basedir={folder}/images'],
    agent: [
      ios,
      'runwda',
      '--udid={serial}',
      // The runner is also the app whose tests it runs (cmd_device_ui_run.go).
      '--bundleid={bundle}',
      '--testrunnerbundleid={bundle}',
      `--xctestconfig=${TEST_BUNDLE}`,
      // Otherwise the agent, which has no password, listens to everybody on the phone's network.
      '--env=USE_IP=127.0.0.1',
      '--env=USE_PORT={port}',
    ],
  }
}

/** Only ids in the form of a UDID become arguments of a program. */
function isPhone({ udid, serial }: LaunchPhone): boolean {
  return isUdid(udid) && isUdid(serial)
}

/** The trouble of a mount. Null also if go-ios reports success for a failed download: the agent then ends. */
function imageTrouble(end: ProcessEnd, phone: LaunchPhone): LaunchTrouble | null {
  if (end.end === 'not_started') return startTrouble(end.why)
  if (end.end === 'killed' && end.why === 'aborted') return CALLED_OFF
  const lines = `${end.stdout}\n${end.stderr}`.split('\n').filter((line) => line.trim() !== '')
  const exitCode = end.end === 'exited' ? end.exitCode : null
  return exitCode === 0 ? null : endTrouble({ exitCode, lines }, 'image_mount_failed', phone)
}

/** The reason why a command ended, with its last lines. The phone's ids are masked. */
function endTrouble(
  { exitCode, lines }: KeptEnd,
  code: LaunchTroubleCode,
  phone: LaunchPhone | null,
): LaunchTrouble {
  const how = exitCode === null ? 'A signal ended it.' : `It ended with exit code ${exitCode}.`
  const last = lines.slice(-LINES_QUOTED).map((line) => {
    const ids = phone === null ? [] : [phone.udid, phone.serial]
    const clean = ids.reduce((text, id) => text.replaceAll(id, '…'), line.trim())
    return clean.slice(0, LINE_LENGTH_MAX)
  })
  return { code, why: last.length === 0 ? how : `${how} Its last lines: ${last.join(' | ')}` }
}

/** The reason why a start failed; `code` is an error code of the system, or `aborted`. */
function startTrouble(code: string): LaunchTrouble {
  if (code === 'aborted') return CALLED_OFF
  const isAbsent = code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR'
  const why = `The program cannot be started: ${code}.`
  return { code: isAbsent ? 'launcher_absent' : 'launch_failed', why }
}

/** The code of a failed start, because the message may quote an argument. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : 'unknown'
}
