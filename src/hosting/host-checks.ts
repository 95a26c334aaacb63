import type { Finding } from '../domain/finding.ts'
import type { Clock } from '../system/clock.ts'
import type { RunProcess } from '../system/process.ts'
import { hasChanged, hashFile, readInstallation, stampOf, type FileStamp } from './installation.ts'
import { askPower, powerFindings } from './power-checks.ts'
import { tryTool } from './system-tool.ts'

export type HostCheckTools = {
  readonly run: RunProcess
  readonly clock: Clock
  /** As `os.platform()` says. */
  readonly platform: string
  readonly uid: number
  readonly userName: string
  /** The path of this executable; null where the sources run. */
  readonly executable: string | null
  readonly dataDir: string
}

/** The file that what runs came from, as it was then; its hash where it was installed from there. */
type Source = FileStamp & { readonly path: string; readonly sha256: string | null }

/** The answers change only when a person changes settings. */
const ASK_AGAIN_MS = 600_000
const LOGINCTL = '/usr/bin/loginctl'
const TOOL_MS_MAX = 10_000

/**
 * What is wrong with the machine that a relay is a service on: whether it comes back after a power cut,
 * and whether it still is the executable that was installed.
 */
export class HostChecks {
  readonly #tools: HostCheckTools
  /** Null where nobody knows. */
  readonly #source: Source | null
  #asked: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | null = null
  #hashed: { readonly stamp: FileStamp; readonly hash: string } | null = null

  /** To be made at the start, before anybody replaces the executable. */
  constructor(tools: HostCheckTools) {
    this.#tools = tools
    this.#source = sourceOf(tools)
  }

  /** Looks at the executable each time, and at the machine every ten minutes at most. Never throws. */
  async findings(signal: AbortSignal): Promise<readonly Finding[]> {
    const [machine, executable] = await Promise.all([this.#machine(signal), this.#executable()])
    return [...machine, ...executable]
  }

  #machine(signal: AbortSignal): Promise<readonly Finding[]> {
    const now = this.#tools.clock.monotonic()
    if (this.#asked === null || now - this.#asked.at >= ASK_AGAIN_MS) {
      this.#asked = { at: now, findings: this.#askMachine(signal) }
    }
    return this.#asked.findings
  }

  async #askMachine(signal: AbortSignal): Promise<readonly Finding[]> {
    const { run, platform, userName } = this.#tools
    const isMac = platform === 'darwin'
    const findings = isMac
      ? powerFindings(await askPower(run, signal), userName)
      : await this.#askLinger(signal)
    // Who was interrupted knows nothing: the next one asks again.
    if (signal.aborted) this.#asked = null
    return findings
  }

  async #askLinger(signal: AbortSignal): Promise<readonly Finding[]> {
    const { run, uid, userName } = this.#tools
    const args = ['show-user', String(uid), '--property=Linger']
    const answer = await tryTool(run, { path: LOGINCTL, args, timeoutMs: TOOL_MS_MAX }, signal)
    return answer?.stdout.trim() === 'Linger=no' ? [lingerOff(userName)] : []
  }

  async #executable(): Promise<readonly Finding[]> {
    const source = this.#source
    const now = source === null ? null : stampOf(source.path)
    if (source === null || now === null) return []
    const isOther = hasChanged(source, now) ?? (await this.#hasOtherBytes(source, now))
    return isOther ? [executableChanged(source.path)] : []
  }

  async #hasOtherBytes({ path, sha256 }: Source, now: FileStamp): Promise<boolean> {
    return sha256 === null || (await this.#hash(path, now)) !== sha256
  }

  /** A hundred megabytes are read once for each date that the file has. */
  async #hash(path: string, stamp: FileStamp): Promise<string> {
    if (this.#hashed === null || hasChanged(this.#hashed.stamp, stamp) !== false) {
      this.#hashed = { stamp, hash: await hashFile(path) }
    }
    return this.#hashed.hash
  }
}

/**
 * On a Mac the bundle runs, and was made from the file that the record names. Elsewhere the file itself
 * runs, and is what it was at the start, whenever it was installed.
 */
function sourceOf({ platform, executable, dataDir }: HostCheckTools): Source | null {
  const installed = readInstallation(dataDir)?.source ?? null
  if (platform === 'darwin') return installed
  const stamp = executable === null ? null : stampOf(executable)
  if (executable === null || stamp === null) return null
  const isInstalled = installed !== null && hasChanged(installed, stamp) === false
  return { path: executable, ...stamp, sha256: isInstalled ? installed.sha256 : null }
}

/** A newer executable lies where the one that runs came from. */
function executableChanged(path: string): Finding {
  return {
    code: 'executable_changed',
    severity: 'info',
    title: 'Another version of Hookline waits',
    why: `${path} has changed since the relay was started from it; the one of before still runs.`,
    fix: 'Run: hookline up',
    key: null,
    depends_on: null,
  }
}

function lingerOff(userName: string): Finding {
  return {
    code: 'linger_off',
    severity: 'warning',
    title: 'After a start of this machine the relay waits for a login',
    why: 'The services of a user without lingering run only while that user is logged in.',
    fix: `Run: sudo loginctl enable-linger ${userName}`,
    key: null,
    depends_on: null,
  }
}
