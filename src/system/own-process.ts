import { existsSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'

import { readTextOrNull } from './files.ts'

/** Arguments and environment of this process. */
export type Surroundings = {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Base of relative paths. */
  readonly folder: string
  /** True where standard output and error are a terminal. */
  readonly isTerminal: boolean
  /** Width of the terminal on standard output; null where that is none. */
  readonly columns: number | null
}

/** Width of a terminal that does not know its own. */
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
 * An abort signal for SIGINT and SIGTERM, and for SIGHUP, which a closed terminal sends, unless `nohup` had it ignored;
 * the second of them ends the process at once.
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

/** Signals are numbered from 1, and SIGHUP is the first, in hexadecimal masks. */
function ignoresHangup(): boolean {
  const status = readTextOrNull('/proc/self/status')
  const command = ['/bin/ps', '-o', 'sigignore=', '-p', String(process.pid)]
  const mask =
    status === null
      ? Bun.spawnSync(command, { timeout: 2_000 }).stdout.toString().trim()
      : (/^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '')
  return (Number.parseInt(mask.slice(-1), 16) & 1) === 1
}

/** Resolves when standard input has ended. */
export function inputEnd(): Promise<void> {
  return new Promise((resolve) => process.stdin.once('close', () => resolve()))
}

/**
 * Ends the process at an uncaught error: a compiled executable would go on after an unhandled rejection,
 * in an unknown state.
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

/** Folder of the files that Bun compiles into an executable. */
const COMPILED = '/$bunfs/'

/** Path of this executable, links resolved; null where the sources run under `bun`. */
export function ownExecutable(): string | null {
  return import.meta.path.startsWith(COMPILED) ? process.execPath : null
}

const IOREG = ['/usr/sbin/ioreg', '-rd1', '-c', 'IOPlatformExpertDevice']
const NETWORKS = '/sys/class/net'

/** A name of this machine's hardware, as far as the system gives one: a copy of its disk elsewhere has another. */
export function machineName(): string {
  if (process.platform === 'darwin') {
    const text = Bun.spawnSync(IOREG, { timeout: 2_000 }).stdout.toString()
    return /"IOPlatformUUID" = "([0-9A-F-]{36})"/i.exec(text)?.[1] ?? hostname()
  }
  const names = existsSync(NETWORKS) ? readdirSync(NETWORKS) : []
  // Bridges and tunnels have no device, and another address at each start.
  const cards = names.filter((name) => existsSync(`${NETWORKS}/${name}/device`)).toSorted()
  const addresses = cards.map((name) => readTextOrNull(`${NETWORKS}/${name}/address`) ?? '')
  return [readTextOrNull('/etc/machine-id') ?? hostname(), ...addresses].join(' ').trim()
}
