import type { LauncherProcesses } from './launcher-processes.ts'
import type { LaunchTrouble } from './launcher.ts'

/** From 1.3.1 on `image auto` takes an image that it has before it asks the network. */
const VERSION_MIN = '1.3.1'
const LIMITS = { timeoutMs: 10_000, killAfterMs: 15_000 }

/** Which go-ios it is: asked until it is new enough, and not again. */
export class GoIosVersion {
  readonly #processes: LauncherProcesses
  readonly #path: string
  #isNewEnough = false

  constructor(processes: LauncherProcesses, path: string) {
    this.#processes = processes
    this.#path = path
  }

  /** Null where it is new enough, where it was built by hand, and where it is not there at all. */
  async trouble(signal: AbortSignal): Promise<LaunchTrouble | null> {
    if (this.#isNewEnough) return null
    const order = { path: this.#path, args: ['version'], ...LIMITS }
    const end = await this.#processes.run(order, signal)
    const version = end.end === 'exited' ? versionIn(end.stdout) : null
    const isOld = version !== null && Bun.semver.order(version, VERSION_MIN) < 0
    if (isOld) return { code: 'launcher_too_old', why: `It is go-ios ${version}.` }
    this.#isNewEnough = version !== null
    return null
  }
}

/** go-ios prints `{"version":"1.3.2"}`, one that nobody released `local-build` (main.go). */
function versionIn(text: string): string | null {
  return /"version"\s*:\s*"v?(\d+\.\d+\.\d+)/.exec(text)?.[1] ?? null
}
