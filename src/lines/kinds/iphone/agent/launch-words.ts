// What programs that start an agent say when they cannot, told apart by their words: they have exit codes
// for success and failure only. The tables are in go-ios-words and xcode-words, with the source of each row.

import type { LaunchTrouble } from './launcher.ts'
import type { ToolEnd } from './tool-run.ts'

export type LaunchWords = { readonly pattern: RegExp; readonly trouble: LaunchTrouble }

/** Whoever wanted it has gone; nobody reads this. */
export const CALLED_OFF: LaunchTrouble = { code: 'launch_failed', why: 'It was called off.' }

/**
 * An agent that ran for so long was installed and trusted. What the program says later may hold what
 * stands on the screen, and strangers write that.
 */
const READ_MS_MAX = 600_000

/** What the newest text that is in the table means; of two rows for it, the first counts. */
export function troubleIn(
  texts: readonly string[],
  words: readonly LaunchWords[],
): LaunchTrouble | null {
  for (const text of texts.toReversed()) {
    const row = words.find(({ pattern }) => pattern.test(text))
    if (row !== undefined) return row.trouble
  }
  return null
}

/** Why an agent ended, by what its program has said; `read` gives null where that says nothing. */
export function endTrouble(
  end: ToolEnd,
  read: (lines: readonly string[]) => LaunchTrouble | null,
): LaunchTrouble {
  const said = end.ranMs <= READ_MS_MAX ? read(end.lines) : null
  return said ?? { code: 'launch_failed', why: endWhy(end) }
}

export function endWhy({ exitCode }: Pick<ToolEnd, 'exitCode'>): string {
  return exitCode === null ? 'A signal ended it.' : `It ended with exit code ${exitCode}.`
}

/** Why a program could not be started: an error of the system, or `aborted`. */
export function startTrouble(code: string): LaunchTrouble {
  if (code === 'aborted') return CALLED_OFF
  const isAbsent = code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR'
  if (isAbsent) return { code: 'launcher_absent', why: `The program cannot be started: ${code}.` }
  return { code: 'launch_failed', why: `The program cannot be started: ${code}.` }
}
