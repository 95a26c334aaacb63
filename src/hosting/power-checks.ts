// Whether a Mac comes back by itself after a power cut: what three tools of macOS say, and what follows.

import type { Finding } from '../domain/finding.ts'
import type { RunProcess } from '../system/process.ts'
import { tryTool, type ToolAnswer } from './system-tool.ts'

/** What was found out; null where the Mac did not say. */
export type PowerFacts = {
  /** Who is logged in after a start: a user's name, or `nobody`. */
  readonly autoLogin: { readonly user: string } | 'nobody' | null
  readonly isFileVaultOn: boolean | null
  /** Minutes without use after which it sleeps on mains power; 0 is never. */
  readonly sleepMinutes: number | null
  /** Whether it starts by itself when the power is back. A MacBook does not know that. */
  readonly restartsItself: boolean | null
}

const DEFAULTS = '/usr/bin/defaults'
const FDESETUP = '/usr/bin/fdesetup'
const PMSET = '/usr/bin/pmset'
const TOOL_MS_MAX = 10_000

/** Asks the Mac. Never throws. */
export async function askPower(run: RunProcess, signal: AbortSignal): Promise<PowerFacts> {
  const ask = (path: string, ...args: readonly string[]) =>
    tryTool(run, { path, args, timeoutMs: TOOL_MS_MAX }, signal)
  const login = ['read', '/Library/Preferences/com.apple.loginwindow', 'autoLoginUser']
  const [user, fileVault, power] = await Promise.all([
    ask(DEFAULTS, ...login),
    ask(FDESETUP, 'status'),
    ask(PMSET, '-g', 'custom'),
  ])
  const mains = mainsPower(power)
  return {
    autoLogin: autoLoginOf(user),
    isFileVaultOn: fileVaultOf(fileVault),
    sleepMinutes: mains.get('sleep') ?? null,
    restartsItself: restartOf(mains.get('autorestart')),
  }
}

/** What the owner should change. `userName` is whose session the relay lives in. */
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

const FILE_VAULT_ON: Finding = {
  code: 'filevault_on',
  severity: 'warning',
  title: 'After a power cut this Mac waits for your password',
  why: 'FileVault is on: nothing runs until somebody unlocks the disk at this Mac.',
  fix:
    'Turn FileVault off in System Settings, Privacy & Security; or give the Mac a battery (UPS), ' +
    'and somebody who comes.',
  key: null,
  depends_on: null,
}

const AUTORESTART_OFF: Finding = {
  code: 'autorestart_off',
  severity: 'warning',
  title: 'After a power cut this Mac stays off',
  why: 'It does not start by itself when the power is back.',
  fix:
    'In System Settings, Energy, turn on "Start up automatically after a power failure", or run: ' +
    'sudo pmset -a autorestart 1',
  key: null,
  depends_on: null,
}

function autoLoginOff(userName: string, isFileVaultOn: boolean): Finding {
  return {
    code: 'auto_login_off',
    severity: 'warning',
    title: 'After a start nobody is logged in on this Mac',
    why: 'Messages works only while its user is logged in: until then no message comes or goes.',
    fix: `In System Settings, Users & Groups, have ${userName} logged in automatically.`,
    key: null,
    // macOS offers no automatic login while FileVault is on.
    depends_on: isFileVaultOn ? FILE_VAULT_ON.code : null,
  }
}

function sleepEnabled(minutes: number): Finding {
  return {
    code: 'sleep_enabled',
    severity: 'warning',
    title: 'This Mac goes to sleep',
    why: `It sleeps after ${minutes} min without use, and then nothing comes or goes.`,
    fix:
      'In System Settings, Energy, turn on "Prevent automatic sleeping when the display is off", or ' +
      'run: sudo pmset -a sleep 0',
    key: null,
    depends_on: null,
  }
}

/** `defaults` prints the name, or ends with 1 where the key does not exist. */
function autoLoginOf(answer: ToolAnswer | null): PowerFacts['autoLogin'] {
  if (answer === null) return null
  const user = answer.stdout.trim()
  if (answer.exitCode === 0) return user === '' ? 'nobody' : { user }
  return answer.stderr.includes('does not exist') ? 'nobody' : null
}

/** `FileVault is On.` or `FileVault is Off.`, and more lines while it encrypts. */
function fileVaultOf(answer: ToolAnswer | null): boolean | null {
  const word = /^FileVault is (On|Off)\b/m.exec(answer?.stdout ?? '')?.[1]
  return word === undefined ? null : word === 'On'
}

/** The settings below `AC Power:`, a name and a number each. */
function mainsPower(answer: ToolAnswer | null): ReadonlyMap<string, number> {
  const text = answer?.stdout ?? ''
  const section = /^AC Power:\s*\n((?:[ \t]+.*(?:\n|$))*)/m.exec(text)?.[1] ?? ''
  const pairs = [...section.matchAll(/^\s+(\w+)\s+(\d+)\b/gm)]
  return new Map(pairs.map((pair) => [pair[1] ?? '', Number(pair[2])]))
}

function restartOf(value: number | undefined): boolean | null {
  return value === undefined ? null : value !== 0
}
