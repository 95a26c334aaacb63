import { existsSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'

import { readTextOrNull } from './files.ts'

/** The arguments and environment of this process. */
export type Surroundings = {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The base of relative paths. */
  readonly folder: string
  /** True if standard output and error are a terminal. */
  readonly isTerminal: boolean
  /** The width of the terminal on standard output; null if that isn't a terminal. */
  readonly columns: number | null
}

/** The width of a terminal that doesn't know its own. */
const COLUMNS_DEFAULT = 80

export function readSurroundings(): Surroundings {
  return {
    args: process.argv.slice(2),
    environment: process.env,
    folder: process.cwd(),
    isTerminal: process.stdout.isTTY && process.stderr.isTTY,
    columns: process.stdout.isTTY ? process.stdout.columns || COLUMNS_DEFAULT : null,
  }
}

/**
 * An abort signal that fires at SIGINT, SIGTERM, and SIGHUP (sent by a closed terminal) unless `nohup` ignores that.
 * A second signal ends the process at once.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP', exitCode: number) => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode)
      controller.abort()
    })
  }
  stop('SIGINT', 130)
  stop('SIGTERM', 143)
  if (!ignoresHangup()) stop('SIGHUP', 129)
  return controller.signal
}

/** SIGHUP is signal 1, so it is the lowest bit of the hexadecimal mask of ignored signals. */
function ignoresHangup(): boolean {
  const status = readTextOrNull('/proc/self/status')
  const command = ['/bin/ps', '-o', 'sigignore=', '-p', String(process.pid)]
  const mask =
    status === null
      ? Bun.spawnSync(command, { timeout: 2_000 }).stdout.toString().trim()
      : (/^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '')
  return (Number.parseInt(mask.slice(-1), 16) & 1) === 1
}

/**
 * Resolves when the process that started this one has ended, at once if that was before the call: the system then
 * gives this one another parent.
 */
export async function parentEnd(everyMs = 250): Promise<void> {
  const parent = process.ppid
  if (hasStandInParent()) return
  while (process.ppid === parent) await Bun.sleep(everyMs)
}

/**
 * A process is born into the session of its parent, so a parent of another session stands in for one that is gone. The
 * leader of a session has left its parent's, and another user's process may be hidden: then the parent isn't judged.
 */
function hasStandInParent(): boolean {
  const own = placeOf('self')
  if (own === null || own.parent === 0 || own.session === process.pid) return false
  const parent = placeOf(own.parent)
  return parent !== null && parent.session !== own.session
}

/** Null on macOS, and for a process that has ended or is hidden (`hidepid`). */
function placeOf(pid: number | 'self') {
  // The name of a program, in parentheses, may have anything in it.
  const fields = readTextOrNull(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')
  return fields === undefined ? null : { parent: Number(fields[1]), session: Number(fields[3]) }
}

/** Resolves when standard input has ended. */
export function inputEnd(): Promise<void> {
  return new Promise((resolve) => process.stdin.once('close', () => resolve()))
}

/**
 * Ends the process at an uncaught error. A compiled executable would go on after an unhandled rejection, in an
 * unknown state.
 */
export function exitOnCrash(log: (message: string, error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    log('unhandled rejection', error)
    process.exit(70)
  })
  process.on('uncaughtException', (error) => {
    log('uncaught exception', error)
    process.exit(71)
  })
}

/** The path of this executable, with links resolved; null if the sources run under `bun`. */
export function ownExecutable(): string | null {
  // The folder of files that Bun compiles into an executable.
  return import.meta.path.startsWith('/$bunfs/') ? process.execPath : null
}

const IOREG = ['/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice']
const NETWORKS = '/sys/class/net'

/** A name of this machine's hardware: a copy of its disk in another machine gets another name. */
export function hardwareId(): string {
  if (process.platform === 'darwin') {
    const text = Bun.spawnSync(IOREG, { timeout: 2_000 }).stdout.toString()
    return /"IOPlatformUUID" = "([0-9A-F-]{36})"/i.exec(text)?.[1] ?? hostname()
  }
  const names = existsSync(NETWORKS) ? readdirSync(NETWORKS) : []
  // Only real cards have a device; the addresses of bridges and tunnels change at each start.
  const cards = names.filter((name) => existsSync(`${NETWORKS}/${name}/device`)).toSorted()
  const addresses = cards.map((name) => readTextOrNull(`${NETWORKS}/${name}/address`) ?? '')
  return [readTextOrNull('/etc/machine-id') ?? hostname(), ...addresses].join(' ').trim()
}

/** The lines of standard input until it ends; the last one may lack its line feed. */
export async function* inputLines(): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of Bun.stdin.stream()) {
    // A line separator of Unicode is a part of a text, so only line feeds end a line.
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
  return undefined
}

/** Ends this process at once. */
export function exitProcess(exitCode: number): never {
  process.exit(exitCode)
}
