import type { ServiceLog } from './service-log.ts'

/** What starts the relay with the machine: a LaunchAgent on macOS, a systemd user unit on Linux. */
export type ServiceHost = {
  /** What it is called in front of people. */
  readonly name: string
  readonly log: ServiceLog
  /** Writes what starts the relay, and starts nothing. What is right already stays as it is. */
  install(order: ServiceOrder, signal: AbortSignal): Promise<Installed>
  /** Starts it where it does not run; returns before the relay answers. */
  start(signal: AbortSignal): Promise<void>
  /** Stops it where it runs; returns when its process has ended, which may take 75 s. */
  stop(signal: AbortSignal): Promise<void>
  /** Stops it and removes what `install` wrote; data, log and signing identity stay. */
  uninstall(dataDir: string, signal: AbortSignal): Promise<void>
  /** Launches the app at the screen with these arguments, beside the service, and waits for its end. */
  launchApp?(args: readonly string[], signal: AbortSignal): Promise<void>
  /** Never throws: where nobody can be asked, nothing runs. */
  state(signal: AbortSignal): Promise<ServiceState>
}

export type ServiceOrder = {
  /** The executable that the service is made from. */
  readonly executable: string
  readonly dataDir: string
  /** Of that executable. */
  readonly version: string
  /** The owner's own identity for code signing on a Mac; null for the one that was used last. */
  readonly codesignIdentity: string | null
}

export type Installed = {
  /** Whether a relay that runs must be started again to be what is installed now. */
  readonly isChanged: boolean
  /** What the owner should know, a sentence each. */
  readonly warnings: readonly string[]
}

export type ServiceState = {
  readonly isInstalled: boolean
  /** `starting` is also the pause between two tries. */
  readonly activity: 'running' | 'starting' | 'stopped'
  readonly pid: number | null
}

/** What every service is started with: the relay knows by it that somebody starts it again. */
export const SERVICE_ENVIRONMENT: Readonly<Record<string, string>> = { HOOKLINE_SERVICE: '1' }

/** A relay that ends lets a send past its point of no return end first; a little more than its 75 s. */
export const STOP_MS_MAX = 90_000
