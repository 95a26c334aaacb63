import { writeSync } from 'node:fs'

import { jsonLog, type Log } from '../system/log.ts'

/** The only writer to standard output and standard error. */
export type Output = {
  /** Result of the command: `json` with `--json`, else `lines`. */
  data(json: unknown, lines: readonly string[]): void
  /** Hint, left out with `--quiet` and with `--json`. */
  note(line: string): void
  /** Error, on standard error; with `--json` in the shape of the API's errors. */
  problem(message: string, code?: string): void
}

export function createOutput(style: {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly hasColour: boolean
}): Output {
  return {
    data(json, lines) {
      if (style.isJson) console.log(escapeControls(JSON.stringify(json)))
      else for (const line of lines) console.log(printable(line))
    },
    note(line) {
      if (!style.isQuiet && !style.isJson) console.log(printable(line))
    },
    problem(message, code = 'failed') {
      if (style.isJson) {
        console.error(escapeControls(JSON.stringify({ error: { code, message } })))
        return
      }
      const name = style.hasColour ? '\u001B[31mhookline:\u001B[0m' : 'hookline:'
      // Only our own messages have several lines: invalid options, or a stack trace.
      console.error(`${name} ${message.split('\n').map(printable).join('\n')}`)
    },
  }
}

const BAR_LENGTH = 24

/** A bar that grows with what was carried; `end` removes it. */
export type ProgressBar = { readonly add: (bytes: number) => void; readonly end: () => void }

/** A bar on standard error; nothing where no person sees it, or nothing is known of the size. */
export function progressBar(title: string, size: number | null, isShown: boolean): ProgressBar {
  if (!isShown || size === null || size === 0) return { add: () => {}, end: () => {} }
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
      writeSync(2, `\r[${bar}] ${String(percent).padStart(3)} %  ${printable(title)}\u001B[K`)
    },
    end: () => writeSync(2, '\r\u001B[K'),
  }
}

/** Writes one line of the log to standard error. A closed pipe must not end the relay. */
export function writeLogLine(line: string): void {
  try {
    writeSync(2, escapeControls(line))
  } catch {
    // Standard error has no reader any more.
  }
}

/** Control characters except the tab, and marks that change the text direction. */
const STEERING = /(?:[^\P{Cc}\t]|[\u202A-\u202E\u2066-\u2069])+/gu
/** The ones that JSON.stringify does not escape. */
const UNESCAPED = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g

/** The line without characters that control the terminal. */
export function printable(line: string): string {
  return line.replaceAll(STEERING, ' ')
}

/** Equivalent JSON without characters that control the terminal. */
function escapeControls(json: string): string {
  return json.replaceAll(
    UNESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Log for a terminal: warnings and errors, in short form. */
export function terminalLog(write: (line: string) => void, now: () => number): Log {
  return jsonLog((line) => write(`${shortened(line)}\n`), now, 'warn')
}

function shortened(line: string): string {
  const { time, level, message, ...fields } = JSON.parse(line) as Record<string, unknown> // Our own.
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${String(message)}`
  return [head, ...pairs].join('  ')
}
