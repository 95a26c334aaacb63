import type { Clock } from '../system/clock.ts'
import type { RunProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import { LaunchdHost } from './launchd.ts'
import type { ServiceHost } from './service-host.ts'
import { HostingError } from './system-tool.ts'
import { SystemdHost } from './systemd.ts'

/** The machine, and the user whose service it is. */
export type Machine = {
  readonly run: RunProcess
  readonly clock: Clock
  readonly random: Random
  /** As `os.platform()` says. */
  readonly platform: string
  readonly home: string
  readonly uid: number
  readonly userName: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What runs the relay as a service here; throws a HostingError on any other system. */
export function createServiceHost(machine: Machine): ServiceHost {
  if (machine.platform === 'darwin') return new LaunchdHost(machine)
  if (machine.platform === 'linux') {
    const runtimeDir = machine.environment['XDG_RUNTIME_DIR'] ?? ''
    return new SystemdHost({ ...machine, runtimeDir: runtimeDir === '' ? null : runtimeDir })
  }
  throw new HostingError('A service is installed on macOS and Linux only. Run: hookline serve')
}
