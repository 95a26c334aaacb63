import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Clock } from '../system/clock.ts'
import { defaultDataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { RunProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import { executableIn, makeBundle } from './app-bundle.ts'
import type { Signer } from './code-signing.ts'
import {
  executableAt,
  forgetInstallation,
  readInstallation,
  writeInstallation,
  type Installation,
} from './installation.ts'
import { Launchd } from './launchctl.ts'
import { BUNDLE_ID, launchAgentText } from './property-lists.ts'
import {
  SERVICE_ENVIRONMENT,
  type Installed,
  type ServiceHost,
  type ServiceOrder,
  type ServiceState,
} from './service-host.ts'
import { FileLog } from './service-log.ts'
import { localIdentity } from './signing-identity.ts'
import { tryTool } from './system-tool.ts'

export type LaunchdTools = {
  readonly run: RunProcess
  readonly clock: Clock
  readonly random: Random
  readonly home: string
  readonly uid: number
}

/** The file that takes what the relay logs as a service. */
export function macLogPath(home: string): string {
  return join(home, 'Library', 'Logs', 'Hookline', 'relay.log')
}

const OPEN = '/usr/bin/open'
const QUESTION_MS_MAX = 120_000

/**
 * A LaunchAgent that runs a signed bundle. Not a daemon: only in the session at the screen can Messages
 * be told what to do.
 */
export class LaunchdHost implements ServiceHost {
  readonly name = 'LaunchAgent'
  readonly log: FileLog
  readonly #tools: LaunchdTools
  readonly #bundle: string
  readonly #agentPath: string
  readonly #launchd: Launchd

  constructor(tools: LaunchdTools) {
    const { home, uid } = tools
    this.#tools = tools
    this.#bundle = join(home, 'Applications', 'Hookline.app')
    this.#agentPath = join(home, 'Library', 'LaunchAgents', `${BUNDLE_ID}.plist`)
    this.#launchd = new Launchd(tools, { label: BUNDLE_ID, uid, path: this.#agentPath })
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
      await makeBundle(this.#tools.run, made, signal)
    }
    const isWritten = this.#writeAgent(order.dataDir)
    writeInstallation(order.dataDir, after)
    return { isChanged: isMade || isWritten, warnings: [] }
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#launchd.start(signal)
  }

  stop(signal: AbortSignal): Promise<void> {
    return this.#launchd.stop(signal)
  }

  async uninstall(dataDir: string, signal: AbortSignal): Promise<void> {
    await this.#launchd.stop(signal)
    rmSync(this.#agentPath, { force: true })
    rmSync(this.#bundle, { recursive: true, force: true })
    forgetInstallation(dataDir)
  }

  /** `-n`: the relay of the service is an instance of the same app; `-W` waits for the end (open(1)). */
  async launchApp(args: readonly string[], signal: AbortSignal): Promise<void> {
    const order = { path: OPEN, args: ['-n', '-W', this.#bundle, '--args', ...args] }
    // Its owner may take a while to answer what macOS asks.
    await tryTool(this.#tools.run, { ...order, timeoutMs: QUESTION_MS_MAX }, signal)
  }

  async state(signal: AbortSignal): Promise<ServiceState> {
    const { isLoaded, pid } = await this.#launchd.look(signal)
    const loaded = pid === null ? 'starting' : 'running'
    const isInstalled = existsSync(this.#agentPath)
    return { isInstalled, activity: isLoaded ? loaded : 'stopped', pid }
  }

  async #planned(order: ServiceOrder, before: Installation | null): Promise<Installation> {
    const codesignIdentity = order.codesignIdentity ?? before?.codesignIdentity ?? null
    // The bundle itself was called: what it was made of is known, and nothing newer.
    const isOwn = order.executable === executableIn(this.#bundle)
    if (isOwn && before !== null) return { ...before, codesignIdentity }
    const source = await executableAt(order.executable)
    return { source, version: order.version, codesignIdentity }
  }

  /** Whether the bundle is already what is planned. */
  #holds(planned: Installation, before: Installation | null): boolean {
    const isSame = before?.source.sha256 === planned.source.sha256
    const isSameSigner = before?.codesignIdentity === planned.codesignIdentity
    return isSame && isSameSigner && existsSync(executableIn(this.#bundle))
  }

  async #signer(identity: string | null, signal: AbortSignal): Promise<Signer> {
    if (identity !== null) return { kind: 'given', name: identity }
    // The identity is the user's, whatever data directory the relay is given: there is one bundle.
    const data = defaultDataDirectory({ HOME: this.#tools.home }, 'darwin')
    const folder = join(data, 'signing')
    return { kind: 'local', identity: await localIdentity(this.#tools, folder, signal) }
  }

  /** True where it was not there as it is now. */
  #writeAgent(dataDir: string): boolean {
    const { home } = this.#tools
    const logPath = macLogPath(home)
    // launchd makes the file, and not its folder.
    mkdirSync(dirname(logPath), { recursive: true })
    const isDefault = dataDir === defaultDataDirectory({ HOME: home }, 'darwin')
    const place: Record<string, string> = isDefault ? {} : { HOOKLINE_DATA_DIR: dataDir }
    const environment = { ...SERVICE_ENVIRONMENT, ...place }
    const executable = executableIn(this.#bundle)
    const text = launchAgentText({ executable, environment, logPath })
    if (readTextOrNull(this.#agentPath) === text) return false
    mkdirSync(dirname(this.#agentPath), { recursive: true })
    writeFileAtomically(this.#agentPath, text)
    return true
  }
}
