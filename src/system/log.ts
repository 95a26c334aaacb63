export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

/** A log line as the dashboard and the command line get it; `fields` are all other fields. */
export type LogLine = {
  /** Counts up from 1 at the start of the relay. */
  readonly seq: number
  readonly time: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/**
 * One wide line per event: a constant message and fields. Never a text, a secret or a whole handle:
 * callers mask handles with `maskHandle`.
 */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>

const LINE_LENGTH_MAX = 4_096
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** Passes JSON lines of at most 4,096 characters to `write`, each with its line end. */
export function jsonLog(
  write: (line: string) => void,
  now: () => number,
  least: LogLevel = 'info',
): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
      const time = new Date(now()).toISOString()
      const line = JSON.stringify({ time, level, message, ...fields }, plain)
      write(`${line.length > LINE_LENGTH_MAX ? shortened(time, level, message) : line}\n`)
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

const RECENT_MAX = 500

/** A log that passes lines on to `log` and keeps the newest ones from `info` on. */
export class RecentLines {
  readonly log: Log
  readonly #lines: { readonly seq: number; readonly text: string }[] = []
  #seq = 0
  readonly #place: string

  /** `place` is a sentence that says where all lines are. */
  constructor(
    log: Log,
    clock: { now(): number },
    place = 'The whole log is the standard error of the relay.',
  ) {
    this.#place = place
    const own = jsonLog(
      (line) => this.#add(line),
      () => clock.now(),
    )
    const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
      log[level](message, fields)
      own[level](message, fields)
    }
    this.log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }

  /** Oldest first. */
  read(): { readonly data: readonly LogLine[]; readonly place: string } {
    const data = this.#lines.map(({ seq, text }) => {
      const { time, level, message, ...fields } = JSON.parse(text) as LogLine // `jsonLog` wrote it.
      return { seq, time, level, message, fields }
    })
    return { data, place: this.#place }
  }

  #add(text: string): void {
    this.#seq += 1
    this.#lines.push({ seq: this.#seq, text })
    if (this.#lines.length > RECENT_MAX) this.#lines.shift()
  }
}

function shortened(time: string, level: LogLevel, message: string): string {
  return JSON.stringify({ time, level, message, fields: 'left out: too long' })
}

/** Replaces an Error, whose JSON would be empty, by its name, message, code, cause and stack. */
function plain(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === 'bigint' ? String(value) : value
  const code = 'code' in value ? value.code : undefined
  return {
    name: value.name,
    message: value.message,
    code,
    cause: value.cause,
    stack: value.stack
      ?.split('\n')
      .slice(1, 6)
      .map((line) => line.trim()),
  }
}
