import { writeSync } from 'node:fs'

import { codeOf } from '../storage/sqlite-errors.ts'
import { systemClock } from '../system/clock.ts'
import { jsonLog, type Log } from '../system/log.ts'
import { laidOut, printable, type Line, type Look } from './table.ts'

/** The only writer to standard output and standard error. */
export type Output = {
  /**
   * The result of the command: `json` with `--json`, else `lines`. Throws an OutputError if it can't be written; `undo`
   * then says what to do about a secret that nobody has.
   */
  data(json: unknown, lines: readonly Line[], undo?: string): void
  /** A hint, left out with `--quiet` and with `--json`. */
  note(line: Line): void
  /** An error, on standard error; with `--json` in the shape of the API's errors. */
  problem(message: string, more?: { readonly code: string; readonly details?: unknown }): void
  /** A bar on standard error that grows up to `size`, if a person sees it. */
  bar(title: string, size: number | null): ProgressBar
  /** Shows the title and the elapsed time on standard error until `work` settles. */
  during<T>(title: string, work: Promise<T>): Promise<T>
}

/** `end` removes the bar. */
export type ProgressBar = { readonly add: (bytes: number) => void; readonly end: () => void }

export type OutputStyle = Look & {
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** True if a person sees standard error. */
  readonly isWatched: boolean
}

/** Writes lines to standard output and standard error. `log` throws the system's error if it can't. */
export type Printer = Pick<Console, 'log' | 'error'>

/** The result of a command could not be written. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
  /** True if the reader has gone, as `head` does once it has its lines, and nothing was lost. */
  readonly isUnread: boolean

  constructor(cause: unknown, undo: string | undefined) {
    const code = codeOf(cause) ?? String(cause)
    super(`The output can't be written (${code}).${undo === undefined ? '' : ` ${undo}`}`, {
      cause,
    })
    this.isUnread = code === 'EPIPE' && undo === undefined
  }
}

/** Bun's console drops write errors, such as a full disk. */
export const STANDARD: Printer = {
  log: (text: string) => writeAll(1, `${text}\n`),
  error: (text: string) => writeLogLine(`${text}\n`),
}

/** For a service, which goes on even when nobody reads what it prints. */
export function unreadPrinter(to: Printer): Printer {
  const log = (text: string) => {
    try {
      to.log(text)
    } catch (error) {
      to.error(new OutputError(error, undefined).message)
    }
  }
  return { log, error: to.error }
}

export function createOutput(style: OutputStyle, to: Printer = STANDARD): Output {
  const { isJson, isQuiet } = style
  const isShown = style.isWatched && !isQuiet && !isJson
  const write = (texts: Iterable<string>, undo?: string) => {
    try {
      for (const text of texts) to.log(text)
    } catch (error) {
      throw new OutputError(error, undo)
    }
  }
  const print = (lines: readonly Line[], undo?: string) => write(laidOut(lines, style), undo)
  return {
    data(json, lines, undo) {
      if (isJson) write([escapeControls(JSON.stringify(json))], undo)
      else print(lines, undo)
    },
    note(line) {
      if (!isQuiet && !isJson) print([line])
    },
    problem(message, { code, details } = { code: 'failed' }) {
      if (isJson) {
        to.error(escapeControls(JSON.stringify({ error: { code, message, details } })))
        return
      }
      const name = style.hasColour ? '\u001B[31mhookline:\u001B[0m' : 'hookline:'
      // Only our own messages have several lines: lists of invalid options, and stack traces.
      to.error(`${name} ${message.split('\n').map(printable).join('\n')}`)
    },
    bar: (title, size) => (isShown && size ? growingBar(title, size) : NO_BAR),
    during: (title, work) => (isShown ? timed(title, work, style.now) : work),
  }
}

const BAR_LENGTH = 24
const TICK_MS = 1_000
const NO_BAR: ProgressBar = { add: () => {}, end: () => {} }

function growingBar(title: string, size: number): ProgressBar {
  let carried = 0
  let shown = -1
  return {
    add(bytes) {
      carried += bytes
      const percent = Math.min(Math.floor((carried / size) * 100), 100)
      if (percent === shown) return
      shown = percent
      const filled = Math.round((percent / 100) * BAR_LENGTH)
      const bar = '#'.repeat(filled).padEnd(BAR_LENGTH, '.')
      rewrite(`[${bar}] ${String(percent).padStart(3)} %  ${printable(title)}`)
    },
    end: () => rewrite(''),
  }
}

async function timed<T>(title: string, work: Promise<T>, now: () => number): Promise<T> {
  const end = new AbortController()
  const since = now()
  const showing = (async () => {
    while (!end.signal.aborted) {
      const seconds = Math.round((now() - since) / TICK_MS)
      rewrite(`${printable(title)}…${seconds > 0 ? ` ${seconds} s` : ''}`)
      await systemClock.sleep(TICK_MS, end.signal)
    }
  })()
  try {
    return await work
  } finally {
    end.abort()
    await showing
    rewrite('')
  }
}

/** Replaces the terminal's current line. */
function rewrite(text: string): void {
  writeError(`\r${text}\u001B[K`)
}

/** Writes to standard error, without control characters. */
export function writeLogLine(line: string): void {
  writeError(escapeControls(line))
}

/** A closed pipe must not end the relay. */
function writeError(text: string): void {
  try {
    writeAll(2, text)
  } catch {
    // Standard error has no reader any more.
  }
}

const PAUSE_MS = 5

/** Retries until a slow reader has taken everything. */
function writeAll(descriptor: 1 | 2, text: string): void {
  let rest: Uint8Array = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest))
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error
      Bun.sleepSync(PAUSE_MS)
    }
  }
}

/** Control characters that JSON.stringify doesn't escape. */
const UNESCAPED = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g

/** Returns equivalent JSON without characters that control the terminal. */
function escapeControls(json: string): string {
  return json.replaceAll(
    UNESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A log for a terminal: warnings and errors, in short form. */
export function terminalLog(write: (line: string) => void, now: () => number): Log {
  return jsonLog((line) => write(`${shortened(line)}\n`), now, 'warn')
}

function shortened(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown> // Our own.
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}`
  return [head, ...pairs].join('  ')
}
