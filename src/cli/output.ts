import { writeSync } from 'node:fs'

/** The only writer to standard output and standard error. */
export type Output = {
  /** What was asked for: `json` where `--json` was given, else `lines`. */
  data(json: unknown, lines: readonly string[]): void
  /** What is good to know: left out with `--quiet` and with `--json`. */
  note(line: string): void
  /** What went wrong, on standard error. */
  problem(message: string): void
}

export function createOutput(style: {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly hasColour: boolean
}): Output {
  return {
    data(json, lines) {
      if (style.isJson) console.log(JSON.stringify(json))
      else for (const line of lines) console.log(line)
    },
    note(line) {
      if (!style.isQuiet && !style.isJson) console.log(line)
    },
    problem(message) {
      const name = style.hasColour ? '\u001B[31mhookline:\u001B[0m' : 'hookline:'
      console.error(`${name} ${message}`)
    },
  }
}

/** One line of the log, on standard error. A reader that went away must not end the relay. */
export function writeLogLine(line: string): void {
  try {
    writeSync(2, line)
  } catch {
    // Nobody is left to be told.
  }
}
