// Findings about the machine of a service: what happens after a power cut, and a replaced executable.

import type { Finding } from '../domain/finding.ts'
import { hashFile } from '../system/hash.ts'
import type { RunProcess } from '../system/process.ts'
import { hasChanged, readInstallation, stampOf, type FileStamp } from './installation.ts'
import type { Machine } from './machine.ts'
import { tryTool, type ToolAnswer } from './system-tool.ts'

type Installed = {
  /** The path of this executable; null if the sources run. */
  readonly executable: string | null
  readonly dataDir: string
}

/** The file that the running executable came from, as it was then; `sha256` is null if it is unknown. */
type Source = FileStamp & { readonly path: string; readonly sha256: string | null }

/** The power settings of a Mac; a field is null if the Mac didn't report it. */
export type PowerFacts = {
  /** The user who is logged in after a start, or `nobody`. */
  readonly autoLogin: { readonly user: string } | 'nobody' | null
  readonly isFileVaultOn: boolean | null
  /** Idle minutes before it sleeps on mains power; 0 is never. */
  readonly sleepMinutes: number | null
  /** True if it starts when the power is back. A MacBook has no such setting. */
  readonly restartsItself: boolean | null
}

const MACHINE_CHECK_MS = 600_000
const LOGINCTL = '/usr/bin/loginctl'
const DEFAULTS = '/usr/bin/defaults'
const FDESETUP = '/usr/bin/fdesetup'
const PMSET = '/usr/bin/pmset'
const TOOL_MS_MAX = 10_000

const WARNING = { severity: 'warning', key: null, depends_on: null } as const

const FILE_VAULT_ON: Finding = {
  ...WARNING,
  code: 'filevault_on',
  title: 'This Mac waits for your password after a power cut',
  why: 'FileVault is on: nothing runs until someone unlocks the disk at this Mac.',
  fix:
    'Turn off FileVault in System Settings, Privacy & Security. Or use a battery backup (UPS) and have ' +
    'someone nearby who can unlock it.',
}

const AUTORESTART_OFF: Finding = {
  ...WARNING,
  code: 'autorestart_off',
  title: 'This Mac stays off after a power cut',
  why: 'It does not start up automatically when the power is back.',
  fix:
    'In System Settings, Energy, turn on "Start up automatically after a power failure", or run: ' +
    'sudo pmset -a autorestart 1',
}

export class HostChecks {
  readonly #machine: Machine
  readonly #source: Source | null
  #checked: { readonly at: number; readonly findings: Promise<readonly Finding[]> } | null = null
  #hashed: { readonly stamp: FileStamp; readonly hash: string } | null = null

  /** Called at the start, before the executable can be replaced. */
  constructor(machine: Machine, installed: Installed) {
    this.#machine = machine
    this.#source = sourceOf(machine, installed)
  }

  /** Checks the executable each time, and the machine at most every ten minutes. Never throws. */
  async findings(signal: AbortSignal): Promise<readonly Finding[]> {
    const now = this.#machine.clock.monotonic()
    if (this.#checked === null || now - this.#checked.at >= MACHINE_CHECK_MS) {
      this.#checked = { at: now, findings: this.#checkMachine(signal) }
    }
    const found = await Promise.all([this.#checked.findings, this.#checkExecutable()])
    return found.flat()
  }

  async #checkMachine(signal: AbortSignal): Promise<readonly Finding[]> {
    const { run, platform, userName } = this.#machine
    const findings =
      platform === 'darwin'
        ? powerFindings(await readPower(run, signal), userName)
        : await this.#checkLinger(signal)
    // The next call repeats an interrupted check.
    if (signal.aborted) this.#checked = null
    return findings
  }

  async #checkLinger(signal: AbortSignal): Promise<readonly Finding[]> {
    const { run, uid, userName } = this.#machine
    const args = ['show-user', String(uid), '--property=Linger']
    const answer = await tryTool(run, { path: LOGINCTL, args, timeoutMs: TOOL_MS_MAX }, signal)
    return answer?.stdout.trim() === 'Linger=no' ? [lingerOff(userName)] : []
  }

  async #checkExecutable(): Promise<readonly Finding[]> {
    const source = this.#source
    const now = source === null ? null : stampOf(source.path)
    if (source === null || now === null) return []
    const isOther =
      hasChanged(source, now) ?? (await this.#hash(source.path, now)) !== source.sha256
    return isOther ? [executableChanged(source.path)] : []
  }

  /** Reads the hundred megabytes again only after the file's size or date has changed. */
  async #hash(path: string, stamp: FileStamp): Promise<string> {
    if (this.#hashed === null || hasChanged(this.#hashed.stamp, stamp) !== false) {
      this.#hashed = { stamp, hash: await hashFile(path) }
    }
    return this.#hashed.hash
  }
}

/** On a Mac, a bundle runs that was made from the recorded file. Elsewhere the file itself runs. */
function sourceOf({ platform }: Machine, { executable, dataDir }: Installed): Source | null {
  const installed = readInstallation(dataDir)?.source ?? null
  if (platform === 'darwin') return installed
  const stamp = executable === null ? null : stampOf(executable)
  if (executable === null || stamp === null) return null
  const isInstalled = installed !== null && hasChanged(installed, stamp) === false
  return { path: executable, ...stamp, sha256: isInstalled ? installed.sha256 : null }
}

function executableChanged(path: string): Finding {
  return {
    ...WARNING,
    severity: 'info',
    code: 'executable_changed',
    title: 'Another version of Hookline is ready to start',
    why: `${path} has changed since the relay was started from it. The previous version is still running.`,
    fix: 'Run: hookline up',
  }
}

function lingerOff(userName: string): Finding {
  return {
    ...WARNING,
    code: 'linger_off',
    title: 'The relay waits for a login when this machine starts',
    why: 'Without lingering, services of a user run only while that user is logged in.',
    fix: `Run: sudo loginctl enable-linger ${userName}`,
  }
}

/** Never throws. */
export async function readPower(run: RunProcess, signal: AbortSignal): Promise<PowerFacts> {
  const ask = (path: string, ...args: readonly string[]) =>
    tryTool(run, { path, args, timeoutMs: TOOL_MS_MAX }, signal)
  const login = ['read', '/Library/Preferences/com.apple.loginwindow', 'autoLoginUser']
  const [user, fileVault, power] = await Promise.all([
    ask(DEFAULTS, ...login),
    ask(FDESETUP, 'status'),
    ask(PMSET, '-g', 'custom'),
  ])
  const mains = mainsPower(power)
  const restart = mains.get('autorestart')
  return {
    autoLogin: autoLoginOf(user),
    isFileVaultOn: fileVaultOf(fileVault),
    sleepMinutes: mains.get('sleep') ?? null,
    restartsItself: restart === undefined ? null : restart !== 0,
  }
}

/** Settings that the owner should change; the relay runs in the session of `userName`. */
export function powerFindings(facts: PowerFacts, userName: string): readonly Finding[] {
  const { autoLogin, isFileVaultOn, sleepMinutes, restartsItself } = facts
  const isOurs = autoLogin !== 'nobody' && autoLogin?.user === userName
  return [
    ...(isFileVaultOn === true ? [FILE_VAULT_ON] : []),
    ...(autoLogin === null || isOurs ? [] : [autoLoginOff(userName, isFileVaultOn === true)]),
    ...(restartsItself === false ? [AUTORESTART_OFF] : []),
    ...(sleepMinutes === null || sleepMinutes === 0 ? [] : [sleepEnabled(sleepMinutes)]),
  ]
}

function autoLoginOff(userName: string, isFileVaultOn: boolean): Finding {
  return {
    ...WARNING,
    code: 'auto_login_off',
    title: 'No user is logged in when this Mac starts',
    why: 'Messages works only while its user is logged in. Until then no message is sent or received.',
    fix: `In System Settings, Users & Groups, set "Automatically log in as" to ${userName}.`,
    // macOS offers no automatic login while FileVault is on.
    depends_on: isFileVaultOn ? FILE_VAULT_ON.code : null,
  }
}

function sleepEnabled(minutes: number): Finding {
  return {
    ...WARNING,
    code: 'sleep_enabled',
    title: 'This Mac goes to sleep',
    why: `It sleeps after ${minutes} min without use, and then no message is sent or received.`,
    fix:
      'In System Settings, Energy, turn on "Prevent automatic sleeping when the display is off", or ' +
      'run: sudo pmset -a sleep 0',
  }
}

/** `defaults` prints the name, or exits with 1 if the key doesn't exist. */
function autoLoginOf(answer: ToolAnswer | null): PowerFacts['autoLogin'] {
  if (answer === null) return null
  const user = answer.stdout.trim()
  if (answer.exitCode === 0) return user === '' ? 'nobody' : { user }
  return answer.stderr.includes('does not exist') ? 'nobody' : null
}

/** The output is `FileVault is On.` or `FileVault is Off.`, with more lines while it encrypts. */
function fileVaultOf(answer: ToolAnswer | null): boolean | null {
  const word = /^FileVault is (On|Off)\b/m.exec(answer?.stdout ?? '')?.[1]
  return word === undefined ? null : word === 'On'
}

/** Reads the settings below `AC Power:`, each a name and a number. */
function mainsPower(answer: ToolAnswer | null): ReadonlyMap<string, number> {
  const text = answer?.stdout ?? ''
  const section = /^AC Power:\s*\n((?:[ \t]+.*(?:\n|$))*)/m.exec(text)?.[1] ?? ''
  const pairs = [...section.matchAll(/^\s+(\w+)\s+(\d+)\b/gm)]
  return new Map(pairs.map((pair) => [pair[1] ?? '', Number(pair[2])]))
}
