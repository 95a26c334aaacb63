import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { readTextOrNull } from '../system/files.ts'
import type { DetachedOrder } from '../system/process.ts'
import {
  executableAt,
  forgetInstallation,
  readInstallation,
  writeInstallation,
} from './installation.ts'
import type { Machine } from './machine.ts'
import {
  serviceEnvironment,
  taskOf,
  writeIfChanged,
  STOP_MS_MAX,
  type Installed,
  type ServiceHost,
  type ServiceOrder,
  type ServiceState,
} from './service-host.ts'
import { JournalLog } from './service-log.ts'
import {
  HostingError,
  askTool,
  describeFailure,
  tryTool,
  useTool,
  type ToolAnswer,
} from './system-tool.ts'

export const UNIT = 'hookline.service'
/** Our Debian package brings this unit for every user. */
export const PACKAGED_UNIT = `/usr/lib/systemd/user/${UNIT}`
const SYSTEMCTL = '/usr/bin/systemctl'

/**
 * Denies rights that the relay and its children don't need, by system call filters and the cgroup, which work in
 * every user's manager. Left out on purpose: options that need a namespace (`ProtectSystem`, `PrivateTmp`), because
 * the unit wouldn't start if the kernel denies namespaces to users, and the user can write nowhere else anyway;
 * `MemoryDenyWriteExecute`, because Bun compiles at run time; `SystemCallArchitectures`, for 32-bit helpers.
 * Programs read the machine's addresses over Netlink.
 */
const HARDENING = [
  'NoNewPrivileges=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  '# Some twenty times what it needs; a fault must not take the machine with it.',
  'MemoryMax=2G',
]

/** A systemd user unit. Needs root only if the user isn't allowed to linger. */
export class SystemdHost implements ServiceHost {
  readonly name = 'systemd user service'
  readonly log: JournalLog
  readonly #machine: Machine
  readonly #packagedUnit: string
  readonly #unitPath: string
  /** This link makes the user's manager start the unit. */
  readonly #enabledPath: string

  constructor(machine: Machine, packagedUnit = PACKAGED_UNIT) {
    this.#machine = machine
    this.#packagedUnit = packagedUnit
    const folder = join(machine.home, '.config', 'systemd', 'user')
    this.#unitPath = join(folder, UNIT)
    this.#enabledPath = join(folder, 'default.target.wants', UNIT)
    this.log = new JournalLog(machine.run, UNIT)
  }

  async install(order: ServiceOrder, signal: AbortSignal): Promise<Installed> {
    const { dataDir, version } = order
    const source = await executableAt(order.executable)
    const before = readInstallation(dataDir)
    const text = this.#unitText(order.executable, dataDir)
    const isWritten = await this.#placeUnit(text, signal)
    const isLingering = await this.#linger(signal)
    await this.#use('load the unit', ['daemon-reload'], signal)
    await this.#use('enable the service', ['enable', UNIT], signal)
    writeInstallation(dataDir, { source, version, codesignIdentity: null })
    const isChanged = isWritten || before?.source.sha256 !== source.sha256
    return { isChanged, warnings: isLingering ? [] : [this.#lingerWarning()] }
  }

  async isCurrent(executable: string, dataDir: string, signal: AbortSignal): Promise<boolean> {
    const text = readTextOrNull(this.#unitPath) ?? this.#packagedText()
    if (text !== this.#unitText(executable, dataDir)) return false
    const args = ['show', UNIT, '--property=UnitFileState']
    const answer = await tryTool(this.#machine.run, this.#order(args), signal)
    return answer?.stdout.trim() !== 'UnitFileState=disabled'
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#use('start the service', ['start', UNIT], signal)
  }

  async stop(signal: AbortSignal): Promise<void> {
    if (!this.#isInstalled) return
    await this.#use('stop the service', ['stop', UNIT], signal)
  }

  /**
   * Starts another unit, because a stop of the service ends every process in its control group (systemd.kill(5)).
   * The fixed name prevents a second one.
   */
  async startDetached({ path, args, output }: DetachedOrder, signal: AbortSignal): Promise<void> {
    const outputs = [`StandardOutput=file:${output}`, 'StandardError=inherit']
    const properties = outputs.map((property) => `--property=${property}`)
    const unit = ['--collect', '--quiet', '--unit=hookline-upgrade.service', ...properties]
    const order = this.#order([...unit, '--', path, ...args], '/usr/bin/systemd-run')
    await useTool(this.#machine.run, { ...order, purpose: 'start the upgrade' }, signal)
  }

  async uninstall(dataDir: string, signal: AbortSignal): Promise<void> {
    if (this.#isInstalled) {
      await this.#use('disable the service', ['disable', '--now', UNIT], signal)
      rmSync(this.#unitPath, { force: true })
      await this.#use('unload the unit', ['daemon-reload'], signal)
    }
    forgetInstallation(dataDir)
  }

  async state(signal: AbortSignal): Promise<ServiceState> {
    const args = ['show', UNIT, '--property=ActiveState,MainPID']
    const answer = await tryTool(this.#machine.run, this.#order(args), signal)
    const values = new Map((answer?.stdout ?? '').split('\n').map(splitPair))
    const pid = Number(values.get('MainPID') ?? 0)
    return {
      isInstalled: this.#isInstalled,
      activity: activityOf(values.get('ActiveState') ?? ''),
      pid: pid > 0 ? pid : null,
    }
  }

  /** A package's unit doesn't count unless it is enabled; it goes with the package. */
  get #isInstalled(): boolean {
    return existsSync(this.#unitPath) || existsSync(this.#enabledPath)
  }

  /** Writes the unit unless a package brings the same one; returns whether that changed something. */
  async #placeUnit(text: string, signal: AbortSignal): Promise<boolean> {
    if (this.#packagedText() !== text) return writeIfChanged(this.#unitPath, text)
    if (!existsSync(this.#unitPath)) return false
    await this.#use('disable the earlier service', ['disable', UNIT], signal)
    rmSync(this.#unitPath)
    return true
  }

  #packagedText(): string | null {
    return readTextOrNull(this.#packagedUnit)
  }

  #unitText(executable: string, dataDir: string): string {
    const environment = serviceEnvironment(dataDir, this.#machine.home, 'linux')
    return systemdUnit({ executable, task: taskOf(dataDir), environment })
  }

  /** Without lingering, the user's services start at the first login and end with the last session. */
  async #linger(signal: AbortSignal): Promise<boolean> {
    const { run, uid } = this.#machine
    const order = { path: '/usr/bin/loginctl', args: ['enable-linger', String(uid)] }
    const answer = await tryTool(run, order, signal)
    return answer?.exitCode === 0
  }

  #lingerWarning(): string {
    return (
      'The relay runs only while you are logged in. To start it with the machine, run: ' +
      `sudo loginctl enable-linger ${this.#machine.userName}`
    )
  }

  async #use(purpose: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const answer = await askTool(this.#machine.run, this.#order(args), signal)
    if (answer.exitCode !== 0) throw new HostingError(`Cannot ${purpose}: ${explain(answer)}`)
  }

  /** With su and some kinds of ssh the variable is missing, and systemctl finds no service manager. */
  #order(args: readonly string[], tool = SYSTEMCTL) {
    const { environment, uid } = this.#machine
    const runtimeDir = environment['XDG_RUNTIME_DIR'] || `/run/user/${uid}`
    const call = [`XDG_RUNTIME_DIR=${runtimeDir}`, tool, '--user', ...args]
    return { path: '/usr/bin/env', args: call, timeoutMs: STOP_MS_MAX }
  }
}

function explain(answer: ToolAnswer): string {
  // env(1) exits with 127 if the command doesn't exist.
  if (answer.exitCode !== 127) return describeFailure(SYSTEMCTL, answer)
  return (
    'this machine has no systemd. Run "hookline serve" under its own service manager, with ' +
    'HOOKLINE_SERVICE=1 in the environment.'
  )
}

/** `state` is a unit's ActiveState, as systemd(1) names it. */
function activityOf(state: string): ServiceState['activity'] {
  if (state === 'active' || state === 'reloading') return 'running'
  return state === 'activating' ? 'starting' : 'stopped'
}

function splitPair(line: string): readonly [string, string] {
  const at = line.indexOf('=')
  return [line.slice(0, at), line.slice(at + 1)]
}

export function systemdUnit({
  executable,
  task = 'serve',
  environment,
}: {
  readonly executable: string
  readonly task?: string | undefined
  readonly environment: Readonly<Record<string, string>>
}): string {
  const variables = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  )
  return [
    '[Unit]',
    'Description=Hookline, an iMessage relay',
    '# However often it fails, it is started again.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${quoted(executable)} ${task}`,
    ...variables,
    'Restart=always',
    'RestartSec=5',
    '# 78 means that a person is needed: starting again would not help.',
    'RestartPreventExitStatus=78',
    '# A send past its point of no return gets 60 s to end.',
    'TimeoutStopSec=75',
    'KillMode=mixed',
    'UMask=0077',
    ...HARDENING,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n')
}

/** Quotes a text for systemd (systemd.syntax(7), systemd.unit(5)): `%` begins a specifier. */
function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%')
  return `"${escaped}"`
}
