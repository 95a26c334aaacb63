import { hostname } from 'node:os'

import { readTextOrNull } from '../../../system/files.ts'
import type { ProcessEnd, RunProcess } from '../../../system/process.ts'

export type MacHostTools = {
  readonly run: RunProcess
  /** `darwin` on macOS; elsewhere the driver runs with stand-ins, and the host is a stand-in too. */
  readonly platform: string
  readonly uid: number
}

export type MacHost = {
  /** What tells this Mac user from every other: the machine's UUID and the user id. Null: not known yet. */
  deviceKey(signal: AbortSignal): Promise<string | null>
  /**
   * Whether the user is logged in to a graphical session, in front or in the background: without one
   * there are no Apple events. Null where it could not be asked.
   */
  hasGuiSession(signal: AbortSignal): Promise<boolean | null>
}

// Where macOS has them: the manual pages ioreg(8), stat(1) and launchctl(1).
const IOREG_PATH = '/usr/sbin/ioreg'
const STAT_PATH = '/usr/bin/stat'
const LAUNCHCTL_PATH = '/bin/launchctl'
/** See machine-id(5) of systemd. */
const MACHINE_ID_PATH = '/etc/machine-id'

const TOOL_LIMITS = { timeoutMs: 5_000, killAfterMs: 7_000 }

export function macHost({ run, platform, uid }: MacHostTools): MacHost {
  const isMac = platform === 'darwin'
  const ask = (path: string, args: readonly string[], signal: AbortSignal) =>
    run({ path, args, ...TOOL_LIMITS }, signal)
  let machine: string | null = null
  return {
    async deviceKey(signal) {
      machine ??= isMac
        ? platformUuid(await ask(IOREG_PATH, ['-rd1', '-c', 'IOPlatformExpertDevice'], signal))
        : machineId()
      return machine === null ? null : `${machine}:${uid}`
    },
    async hasGuiSession(signal) {
      if (!isMac) return true
      const console = await ask(STAT_PATH, ['-f', '%u', '/dev/console'], signal)
      if (isAnswer(console) && console.stdout.trim() === String(uid)) return true
      // Fast user switching leaves sessions in the background, which launchd knows.
      const session = await ask(LAUNCHCTL_PATH, ['print', `gui/${uid}`], signal)
      return session.end === 'exited' ? session.exitCode === 0 : null
    },
  }
}

function isAnswer(end: ProcessEnd): end is Extract<ProcessEnd, { readonly end: 'exited' }> {
  return end.end === 'exited' && end.exitCode === 0
}

function platformUuid(end: ProcessEnd): string | null {
  if (!isAnswer(end)) return null
  return /"IOPlatformUUID" = "([0-9A-F-]{36})"/i.exec(end.stdout)?.[1]?.toUpperCase() ?? null
}

/** The file is missing or empty in some containers. */
function machineId(): string {
  const id = readTextOrNull(MACHINE_ID_PATH)?.trim() ?? ''
  return id === '' ? hostname() : id
}
