import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { defaultDataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { RunProcess } from '../system/process.ts'
import {
  executableAt,
  forgetInstallation,
  readInstallation,
  writeInstallation,
} from './installation.ts'
import {
  SERVICE_ENVIRONMENT,
  STOP_MS_MAX,
  type Installed,
  type ServiceHost,
  type ServiceOrder,
  type ServiceState,
} from './service-host.ts'
import { JournalLog } from './service-log.ts'
import { HostingError, askTool, describeFailure, tryTool, type ToolAnswer } from './system-tool.ts'
import { UNIT, systemdUnit } from './systemd-unit.ts'

export type SystemdTools = {
  readonly run: RunProcess
  readonly home: string
  readonly uid: number
  readonly userName: string
  /** Where the user's service manager is reached, as XDG_RUNTIME_DIR says; null where it says nothing. */
  readonly runtimeDir: string | null
}

const ENV = '/usr/bin/env'
const SYSTEMCTL = '/usr/bin/systemctl'
const LOGINCTL = '/usr/bin/loginctl'
/** What env(1) ends with where the command does not exist. */
const NO_COMMAND = 127

/** A user unit of systemd: no root is needed, but for a user who may not linger. */
export class SystemdHost implements ServiceHost {
  readonly name = 'systemd user service'
  readonly log: JournalLog
  readonly #tools: SystemdTools
  readonly #unitPath: string

  constructor(tools: SystemdTools) {
    this.#tools = tools
    this.#unitPath = join(tools.home, '.config', 'systemd', 'user', UNIT)
    this.log = new JournalLog(tools.run)
  }

  async install(order: ServiceOrder, signal: AbortSignal): Promise<Installed> {
    const { dataDir, version } = order
    const source = await executableAt(order.executable)
    const before = readInstallation(dataDir)
    const isWritten = this.#writeUnit(order)
    const isLingering = await this.#linger(signal)
    await this.#use('take in the unit', ['daemon-reload'], signal)
    await this.#use('enable the service', ['enable', UNIT], signal)
    writeInstallation(dataDir, { source, version, codesignIdentity: null })
    const isChanged = isWritten || before?.source.sha256 !== source.sha256
    return { isChanged, warnings: isLingering ? [] : [this.#lingerWarning()] }
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#use('start the service', ['start', UNIT], signal)
  }

  async stop(signal: AbortSignal): Promise<void> {
    if (!existsSync(this.#unitPath)) return
    await this.#use('stop the service', ['stop', UNIT], signal)
  }

  async uninstall(dataDir: string, signal: AbortSignal): Promise<void> {
    if (existsSync(this.#unitPath)) {
      await this.#use('disable the service', ['disable', '--now', UNIT], signal)
      rmSync(this.#unitPath)
      await this.#use('forget the unit', ['daemon-reload'], signal)
    }
    forgetInstallation(dataDir)
  }

  async state(signal: AbortSignal): Promise<ServiceState> {
    const isInstalled = existsSync(this.#unitPath)
    const args = ['show', UNIT, '--property=ActiveState,MainPID']
    const answer = await tryTool(this.#tools.run, this.#order(args), signal)
    const values = new Map((answer?.stdout ?? '').split('\n').map(splitPair))
    const pid = Number(values.get('MainPID') ?? 0)
    return {
      isInstalled,
      activity: activityOf(values.get('ActiveState') ?? ''),
      pid: pid > 0 ? pid : null,
    }
  }

  /** True where it was not there as it is now. */
  #writeUnit({ executable, dataDir }: ServiceOrder): boolean {
    const { home } = this.#tools
    // The service does not know the shell's XDG_DATA_HOME.
    const isDefault = dataDir === defaultDataDirectory({ HOME: home }, 'linux')
    const place: Record<string, string> = isDefault ? {} : { HOOKLINE_DATA_DIR: dataDir }
    const text = systemdUnit({ executable, environment: { ...SERVICE_ENVIRONMENT, ...place } })
    if (readTextOrNull(this.#unitPath) === text) return false
    mkdirSync(dirname(this.#unitPath), { recursive: true })
    writeFileAtomically(this.#unitPath, text)
    return true
  }

  /** Without lingering, the user's services start at the first login and end with the last session. */
  async #linger(signal: AbortSignal): Promise<boolean> {
    const { run, uid } = this.#tools
    const order = { path: LOGINCTL, args: ['enable-linger', String(uid)] }
    const answer = await tryTool(run, order, signal)
    return answer?.exitCode === 0
  }

  #lingerWarning(): string {
    return (
      'The relay runs only while you are logged in. To have it start with the machine: ' +
      `sudo loginctl enable-linger ${this.#tools.userName}`
    )
  }

  async #use(purpose: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const answer = await askTool(this.#tools.run, this.#order(args), signal)
    if (answer.exitCode !== 0) throw new HostingError(`Cannot ${purpose}: ${explain(answer)}`)
  }

  /** Over su and some kinds of ssh the variable is missing, and systemctl finds no service manager. */
  #order(args: readonly string[]) {
    const runtimeDir = this.#tools.runtimeDir ?? `/run/user/${this.#tools.uid}`
    const call = [`XDG_RUNTIME_DIR=${runtimeDir}`, SYSTEMCTL, '--user', ...args]
    return { path: ENV, args: call, timeoutMs: STOP_MS_MAX }
  }
}

function explain(answer: ToolAnswer): string {
  if (answer.exitCode !== NO_COMMAND) return describeFailure(SYSTEMCTL, answer)
  return (
    'this machine has no systemd. Have "hookline serve" started by what looks after its programs, ' +
    'with HOOKLINE_SERVICE=1 in its environment.'
  )
}

/** The words of systemd(1) for the states of a unit. */
function activityOf(state: string): ServiceState['activity'] {
  if (state === 'active' || state === 'reloading') return 'running'
  return state === 'activating' ? 'starting' : 'stopped'
}

function splitPair(line: string): readonly [string, string] {
  const at = line.indexOf('=')
  return [line.slice(0, at), line.slice(at + 1)]
}
