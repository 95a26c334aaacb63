import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

import { dataDirectoryAt, defaultDataDirectory, isOfBox } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { DetachedOrder } from '../system/process.ts'
import type { ServiceLog } from './service-log.ts'

/** The service manager of the machine: LaunchAgents on macOS, systemd user units on Linux. */
export type ServiceHost = {
  /** The name for people. */
  readonly name: string
  readonly log: ServiceLog
  /** Writes the files of the service that differ. Starts nothing. */
  install(order: ServiceOrder, signal: AbortSignal): Promise<Installed>
  /** True if `install` would change nothing; the bytes of the executable don't count. */
  isCurrent(executable: string, dataDir: string, signal: AbortSignal): Promise<boolean>
  /** Starts the service if it isn't running; returns before the relay answers. */
  start(signal: AbortSignal): Promise<void>
  /** Stops the service if it is running; returns when its process has ended, which may take 75 s. */
  stop(signal: AbortSignal): Promise<void>
  /** Stops the service and removes the files of `install`; data, log and signing identity stay. */
  uninstall(dataDir: string, signal: AbortSignal): Promise<void>
  /** Starts a process that goes on while the service stops; returns once it runs. */
  startDetached(order: DetachedOrder, signal: AbortSignal): Promise<void>
  /** Runs another instance of the app at the screen with these arguments, and waits for its end. */
  launchApp?(args: readonly string[], signal: AbortSignal): Promise<void>
  /** Never throws: without an answer, nothing is running. */
  state(signal: AbortSignal): Promise<ServiceState>
}

export type ServiceOrder = {
  /** The executable that the service is made from. */
  readonly executable: string
  readonly dataDir: string
  readonly version: string
  /** The owner's identity for code signing on a Mac; null for the one used last. */
  readonly codesignIdentity: string | null
}

export type Installed = {
  /** True if a running relay must restart to become the installed one. */
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

/** The relay is restarted when it ends, and has had a database since its installation. */
export const SERVICE_ENVIRONMENT = { HOOKLINE_SERVICE: '1', HOOKLINE_EXPECTS_DATABASE: '1' }

/** The command of the service: `box` if the data directory is a box's, else `serve`. */
export function taskOf(dataDir: string): 'serve' | 'box' {
  return isOfBox(dataDirectoryAt(dataDir)) ? 'box' : 'serve'
}

/** Names the data directory unless it is the default, because a service doesn't see the shell's XDG_DATA_HOME. */
export function serviceEnvironment(
  dataDir: string,
  home: string,
  platform: 'darwin' | 'linux',
): Readonly<Record<string, string>> {
  const isDefault = dataDir === defaultDataDirectory({ HOME: home }, platform)
  return { ...SERVICE_ENVIRONMENT, ...(isDefault ? {} : { HOOKLINE_DATA_DIR: dataDir }) }
}

/** Writes the file and its folder; returns false if the file has this text already. */
export function writeIfChanged(path: string, text: string): boolean {
  if (readTextOrNull(path) === text) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileAtomically(path, text)
  return true
}
