import { writeSync } from 'node:fs'

/** The only writer to standard output and standard error. */
export type Output = {
  /** What was asked for: `json` where `--json` was given, else `lines`. */
  data(json: unknown, lines: readonly string[]): void
  /** What is good to know: left out with `--quiet` and with `--json`. */
  note(line: string): void
  /** What went wrong, on standard error; with `--json` in the shape of the API's errors. */
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
      // A message of several lines is our own: problems of options, or where a fault happened.
      console.error(`${name} ${message.split('\n').map(printable).join('\n')}`)
    },
  }
}

/** One line of the log, on standard error. A reader that went away must not end the relay. */
export function writeLogLine(line: string): void {
  try {
    writeSync(2, escapeControls(line))
  } catch {
    // Nobody is left to be told.
  }
}

/** Control characters but the tab, and the marks that turn the direction of what follows them. */
const STEERING = /(?:[^\P{Cc}\t]|[\u202A-\u202E\u2066-\u2069])+/gu
/** Those of them that JSON.stringify leaves as they are. */
const UNESCAPED = /[\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g

/** A line that cannot steer the terminal, whoever wrote the texts in it. */
export function printable(line: string): string {
  return line.replaceAll(STEERING, ' ')
}

/** JSON with the same meaning that cannot steer the terminal either. */
function escapeControls(json: string): string {
  return json.replaceAll(
    UNESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
