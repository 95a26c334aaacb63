/** What the process was started with. */
export type Surroundings = {
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths start from. */
  readonly folder: string
  /** Whether a person reads what is printed: standard output and error are a terminal. */
  readonly isTerminal: boolean
}

export function readSurroundings(): Surroundings {
  return {
    args: process.argv.slice(2),
    environment: process.env,
    folder: process.cwd(),
    isTerminal: process.stdout.isTTY && process.stderr.isTTY,
  }
}

/** An abort signal for SIGINT and SIGTERM; the second of them ends the process at once. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = (name: 'SIGINT' | 'SIGTERM', exitCode: number) => {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(exitCode)
      controller.abort()
    })
  }
  stop('SIGINT', 130)
  stop('SIGTERM', 143)
  return controller.signal
}

/**
 * Ends the process when something fails that nobody caught: a compiled executable would go on after
 * an unhandled rejection, in an unknown state.
 */
export function exitOnCrash(tell: (message: string, error: unknown) => void): void {
  process.on('unhandledRejection', (error) => {
    tell('a promise was rejected and nobody looked', error)
    process.exit(70)
  })
  process.on('uncaughtException', (error) => {
    tell('an error was thrown and nobody caught it', error)
    process.exit(71)
  })
}

/** Where Bun keeps what is compiled into an executable. */
const COMPILED = '/$bunfs/'

/** The path of this executable, links resolved; null where the sources run under `bun`. */
export function ownExecutable(): string | null {
  return import.meta.path.startsWith(COMPILED) ? process.execPath : null
}
