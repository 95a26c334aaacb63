import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { defaultDataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { DetachedOrder, RunProcess } from '../system/process.ts'
import { type Signer, localIdentity, signBundle } from './code-signing.ts'
import {
  executableAt,
  forgetInstallation,
  readInstallation,
  writeInstallation,
  type Installation,
} from './installation.ts'
import type { Machine } from './machine.ts'
import { BUNDLE_ID, bundleInfoText, entitlementsText, launchAgentText } from './property-lists.ts'
import {
  serviceEnvironment,
  taskOf,
  writeIfChanged,
  type Installed,
  type ServiceHost,
  type ServiceOrder,
  type ServiceState,
  STOP_MS_MAX,
} from './service-host.ts'
import { FileLog } from './service-log.ts'
import {
  tryTool,
  HostingError,
  askTool,
  describeFailure,
  useTool,
  type ToolAnswer,
} from './system-tool.ts'

export function macLogPath(home: string): string {
  return join(home, 'Library', 'Logs', 'Hookline', 'relay.log')
}

const LAUNCHCTL = '/bin/launchctl'
const POLL_MS = 500
/**
 * "Input/output error" and "operation already in progress": launchd is still removing the previous
 * service, whose label stays taken for seconds after its process has ended (seen on macOS 26 and 27).
 */
const STILL_CLEARING: readonly number[] = [5, 37]
const BOOTSTRAP_TRIES = 5
const BOOTSTRAP_PAUSE_MS = 2_000
/** "No such process" and "operation now in progress": the service is gone or is going. */
const GONE_OR_GOING: readonly number[] = [3, 36]
const QUESTION_MS_MAX = 120_000

/**
 * A LaunchAgent that runs a signed bundle. Not a daemon, because Messages can be controlled only in the session at
 * the screen. The manual of launchctl(1) says not to rely on its output: we use its exit codes, which are its error
 * numbers, and only the process id from its output.
 */
export class LaunchdHost implements ServiceHost {
  readonly name = 'LaunchAgent'
  readonly log: FileLog
  readonly #machine: Machine
  readonly #bundle: string
  readonly #agentPath: string
  /** The session at the screen, and the service in it. */
  readonly #domain: string
  readonly #target: string

  constructor(machine: Machine) {
    const { home, uid } = machine
    this.#machine = machine
    this.#bundle = join(home, 'Applications', 'Hookline.app')
    this.#agentPath = join(home, 'Library', 'LaunchAgents', `${BUNDLE_ID}.plist`)
    this.#domain = `gui/${uid}`
    this.#target = `${this.#domain}/${BUNDLE_ID}`
    this.log = new FileLog(macLogPath(home))
  }

  async install(order: ServiceOrder, signal: AbortSignal): Promise<Installed> {
    const before = readInstallation(order.dataDir)
    const after = await this.#planned(order, before)
    const isMade = !this.#holds(after, before)
    if (isMade) {
      const signer = await this.#signer(after.codesignIdentity, signal)
      const { version } = after
      const made = { bundle: this.#bundle, source: order.executable, version, signer }
      await makeBundle(this.#machine.run, made, signal)
    }
    const isWritten = this.#writeAgent(order.dataDir)
    writeInstallation(order.dataDir, after)
    return { isChanged: isMade || isWritten, warnings: [] }
  }

  async isCurrent(_executable: string, dataDir: string): Promise<boolean> {
    const files = [executableIn(this.#bundle), dirname(macLogPath(this.#machine.home))]
    return readTextOrNull(this.#agentPath) === this.#agentText(dataDir) && files.every(existsSync)
  }

  /** Loads the service, which starts it, or starts it if it is loaded but not running. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#requireSession(signal)
    if ((await this.#query(signal)).isLoaded) {
      // `-k` would kill a send that is past its point of no return.
      const order = this.#order('kickstart', this.#target)
      await useTool(this.#machine.run, { ...order, purpose: 'start the service' }, signal)
      return
    }
    // It may have been disabled before.
    await tryTool(this.#machine.run, this.#order('enable', this.#target), signal)
    await this.#bootstrap(signal)
  }

  /** Unloads the service and waits for the end of its process, because launchctl doesn't wait. */
  async stop(signal: AbortSignal): Promise<void> {
    if (!(await this.#query(signal)).isLoaded) return
    const answer = await askTool(this.#machine.run, this.#order('bootout', this.#target), signal)
    const { exitCode } = answer
    if (exitCode !== 0 && !GONE_OR_GOING.includes(exitCode)) throw cannot('stop', answer)
    const until = this.#machine.clock.monotonic() + STOP_MS_MAX
    while ((await this.#query(signal)).isLoaded) {
      if (this.#machine.clock.monotonic() > until || signal.aborted) {
        throw new HostingError('The service did not stop in time. Check it with: hookline status')
      }
      await this.#machine.clock.sleep(POLL_MS, signal)
    }
  }

  async uninstall(dataDir: string, signal: AbortSignal): Promise<void> {
    await this.stop(signal)
    rmSync(this.#agentPath, { force: true })
    rmSync(this.#bundle, { recursive: true, force: true })
    forgetInstallation(dataDir)
  }

  /** A process group of its own is enough: launchd ends only the job's (launchd.plist(5), AbandonProcessGroup). */
  async startDetached(order: DetachedOrder): Promise<void> {
    this.#machine.startDetached(order)
  }

  /** `-n` because the service is an instance of the same app; `-W` waits for the end (open(1)). */
  async launchApp(args: readonly string[], signal: AbortSignal): Promise<void> {
    const order = { path: '/usr/bin/open', args: ['-n', '-W', this.#bundle, '--args', ...args] }
    // The owner may take a while to answer the dialog of macOS.
    await tryTool(this.#machine.run, { ...order, timeoutMs: QUESTION_MS_MAX }, signal)
  }

  async state(signal: AbortSignal): Promise<ServiceState> {
    const { isLoaded, pid } = await this.#query(signal)
    const loaded = pid === null ? 'starting' : 'running'
    const isInstalled = existsSync(this.#agentPath)
    return { isInstalled, activity: isLoaded ? loaded : 'stopped', pid }
  }

  async #planned(order: ServiceOrder, before: Installation | null): Promise<Installation> {
    const codesignIdentity = order.codesignIdentity ?? before?.codesignIdentity ?? null
    // This command runs in the bundle, so the bundle's record is still right.
    const isOwn = order.executable === executableIn(this.#bundle)
    if (isOwn && before !== null) return { ...before, codesignIdentity }
    const source = await executableAt(order.executable)
    return { source, version: order.version, codesignIdentity }
  }

  #holds(planned: Installation, before: Installation | null): boolean {
    const isSame = before?.source.sha256 === planned.source.sha256
    const isSameSigner = before?.codesignIdentity === planned.codesignIdentity
    return isSame && isSameSigner && existsSync(executableIn(this.#bundle))
  }

  async #signer(identity: string | null, signal: AbortSignal): Promise<Signer> {
    if (identity !== null) return { kind: 'given', name: identity }
    // There is one bundle per user, so there is one identity, whatever the data directory.
    const folder = join(defaultDataDirectory({ HOME: this.#machine.home }, 'darwin'), 'signing')
    return { kind: 'local', identity: await localIdentity(this.#machine, folder, signal) }
  }

  /** Returns whether the agent has changed. */
  #writeAgent(dataDir: string): boolean {
    // launchd creates the file but not its folder.
    mkdirSync(dirname(macLogPath(this.#machine.home)), { recursive: true })
    return writeIfChanged(this.#agentPath, this.#agentText(dataDir))
  }

  #agentText(dataDir: string): string {
    const { home } = this.#machine
    const environment = serviceEnvironment(dataDir, home, 'darwin')
    const executable = executableIn(this.#bundle)
    const order = { executable, task: taskOf(dataDir), environment }
    return launchAgentText({ ...order, logPath: macLogPath(home) })
  }

  /** Counts as not loaded if launchctl gives no answer. */
  async #query(
    signal: AbortSignal,
  ): Promise<{ readonly isLoaded: boolean; readonly pid: number | null }> {
    const answer = await tryTool(this.#machine.run, this.#order('print', this.#target), signal)
    if (answer?.exitCode !== 0) return { isLoaded: false, pid: null }
    const pid = /^\s*pid = (\d+)$/m.exec(answer.stdout)?.[1]
    return { isLoaded: true, pid: pid === undefined ? null : Number(pid) }
  }

  async #bootstrap(signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const order = this.#order('bootstrap', this.#domain, this.#agentPath)
      const answer = await askTool(this.#machine.run, order, signal)
      if (answer.exitCode === 0) return
      const mayPass = STILL_CLEARING.includes(answer.exitCode)
      if (!mayPass || tries === BOOTSTRAP_TRIES || signal.aborted) throw cannot('start', answer)
      await this.#machine.clock.sleep(BOOTSTRAP_PAUSE_MS, signal)
    }
  }

  /** Over ssh and at the login window there is no session, and launchd reports only a number. */
  async #requireSession(signal: AbortSignal): Promise<void> {
    const { exitCode } = await askTool(
      this.#machine.run,
      this.#order('print', this.#domain),
      signal,
    )
    if (exitCode === 0) return
    throw new HostingError(
      'No user is logged in at the screen of this Mac, which Messages needs. Log in as this user ' +
        '(screen sharing works too), then run: hookline up',
    )
  }

  #order(...args: readonly string[]) {
    return { path: LAUNCHCTL, args }
  }
}

function cannot(what: 'start' | 'stop', answer: ToolAnswer): HostingError {
  return new HostingError(`Cannot ${what} the service: ${describeFailure(LAUNCHCTL, answer)}`)
}

// The bundle around the executable: macOS gives permissions to an app with a name, and bare executables can no
// longer be added to Full Disk Access (reported for macOS 26).

function executableIn(bundle: string): string {
  return join(bundle, 'Contents', 'MacOS', 'hookline')
}

/**
 * Makes a new bundle in a staging folder and moves it into place once it is signed: macOS remembers the
 * signature of a file that has run, and kills a file that is overwritten in place.
 */
async function makeBundle(
  run: RunProcess,
  order: {
    /** Ends in `Hookline.app`. */
    readonly bundle: string
    /** The executable to copy. */
    readonly source: string
    readonly version: string
    readonly signer: Signer
  },
  signal: AbortSignal,
): Promise<void> {
  const { bundle, source, version, signer } = order
  const folder = dirname(bundle)
  const [staging, aside] = [join(folder, '.hookline-new'), join(folder, '.hookline-old')]
  const made = join(staging, 'Hookline.app')
  const entitlements = join(staging, 'entitlements.plist')
  for (const left of [staging, aside]) rmSync(left, { recursive: true, force: true })
  try {
    mkdirSync(dirname(executableIn(made)), { recursive: true })
    copyFileSync(source, executableIn(made))
    chmodSync(executableIn(made), 0o755)
    writeFileAtomically(join(made, 'Contents', 'Info.plist'), bundleInfoText(version))
    writeFileAtomically(entitlements, entitlementsText())
    // codesign refuses to sign files with the attributes of quarantine or Finder.
    const args = ['-cr', made]
    await useTool(run, { path: '/usr/bin/xattr', args, purpose: 'clean the bundle' }, signal)
    await signBundle(run, { bundle: made, entitlements, signer }, signal)
    mkdirSync(aside)
    exchange(bundle, made, join(aside, 'Hookline.app'))
  } finally {
    for (const left of [staging, aside]) rmSync(left, { recursive: true, force: true })
  }
}

/** Moves `bundle` to `aside` and `made` into its place; undoes that if it fails. */
function exchange(bundle: string, made: string, aside: string): void {
  if (existsSync(bundle)) renameSync(bundle, aside)
  try {
    renameSync(made, bundle)
  } catch (error) {
    if (existsSync(aside)) renameSync(aside, bundle)
    throw error
  }
}
