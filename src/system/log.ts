export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, unknown>>

/** A line as the page and the command line get it; `fields` are all others. */
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
export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const LINE_LENGTH_MAX = 4_096
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** JSON lines, each at most 4,096 characters, given to `write` with their end of line. */
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
const ON_STANDARD_ERROR = 'The whole log is the standard error of the relay.'

/** A log that keeps its newest lines from `info` on, beside those that `log` writes. */
export class RecentLines {
  readonly log: Log
  readonly #lines: { readonly seq: number; readonly text: string }[] = []
  #seq = 0

  readonly #place: string

  /** `place` is that of all lines, in a sentence. */
  constructor(log: Log, clock: { now(): number }, place = ON_STANDARD_ERROR) {
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

/** JSON of an Error is empty: its name, message, code, cause and stack are written instead. */
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
