import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

import { dataDirectoryAt, defaultDataDirectory, isOfBox } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { DetachedOrder } from '../system/process.ts'
import type { ServiceLog } from './service-log.ts'

/** Service manager of the machine: a LaunchAgent on macOS, a systemd user unit on Linux. */
export type ServiceHost = {
  /** Name for people. */
  readonly name: string
  readonly log: ServiceLog
  /** Writes the files of the service, where they differ. Starts nothing. */
  install(order: ServiceOrder, signal: AbortSignal): Promise<Installed>
  /** False where `install` would write other files or enable it; the bytes of the executable do not count. */
  isCurrent(executable: string, dataDir: string, signal: AbortSignal): Promise<boolean>
  /** Starts it where it is not running; returns before the relay answers. */
  start(signal: AbortSignal): Promise<void>
  /** Stops it where it is running; returns when its process has ended, which may take 75 s. */
  stop(signal: AbortSignal): Promise<void>
  /** Stops it and removes the files of `install`; data, log and signing identity stay. */
  uninstall(dataDir: string, signal: AbortSignal): Promise<void>
  /** Starts a process that goes on while the service stops; returns once it runs. */
  startBeside(order: DetachedOrder, signal: AbortSignal): Promise<void>
  /** Runs another instance of the app at the screen with these arguments, and waits for its end. */
  launchApp?(args: readonly string[], signal: AbortSignal): Promise<void>
  /** Never throws: without an answer, nothing is running. */
  state(signal: AbortSignal): Promise<ServiceState>
}

export type ServiceOrder = {
  /** Executable that the service is made from. */
  readonly executable: string
  readonly dataDir: string
  readonly version: string
  /** The owner's identity for code signing on a Mac; null for the last used. */
  readonly codesignIdentity: string | null
}

export type Installed = {
  /** True where a running relay must restart to be the installed one. */
  readonly isChanged: boolean
  /** Sentences for the owner. */
  readonly warnings: readonly string[]
}

export type ServiceState = {
  readonly isInstalled: boolean
  /** `starting` is also the pause between two attempts. */
  readonly activity: 'running' | 'starting' | 'stopped'
  readonly pid: number | null
}

/** A stopping relay lets a send past its point of no return end first, for up to 75 s. */
export const STOP_MS_MAX = 90_000

/** Environment of every service: the relay is restarted when it ends, and has a database since its installation. */
export const SERVICE_ENVIRONMENT = { HOOKLINE_SERVICE: '1', HOOKLINE_EXPECTS_DATABASE: '1' }

/** The command of the service: a relay, or a box where the data are one's. */
export function taskOf(dataDir: string): 'serve' | 'box' {
  return isOfBox(dataDirectoryAt(dataDir)) ? 'box' : 'serve'
}

/** A service does not see the shell's XDG_DATA_HOME, so any other data directory is named. */
export function serviceEnvironment(
  dataDir: string,
  home: string,
  platform: 'darwin' | 'linux',
): Readonly<Record<string, string>> {
  const isDefault = dataDir === defaultDataDirectory({ HOME: home }, platform)
  return { ...SERVICE_ENVIRONMENT, ...(isDefault ? {} : { HOOKLINE_DATA_DIR: dataDir }) }
}

/** Writes the file and its folder; false where the file was so already. */
export function writeIfChanged(path: string, text: string): boolean {
  if (readTextOrNull(path) === text) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileAtomically(path, text)
  return true
}
