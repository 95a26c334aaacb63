// The command line in this process: what a program at the end of a pipe gets of a command, without the time
// that a process takes. That the executable has the same command line is in test/executable.

import { runCommandLine } from '../../src/cli/run.ts'
import { cleanEnvironment, type CommandResult } from './executable.ts'
import type { ScratchFolder } from './scratch-folder.ts'

/** As a person types it, or in its words. */
export type CommandText = string | readonly string[]

/** A command restricts what its process creates from then on; this process goes on after it. */
const UMASK = process.umask()

/** The words of a line, some of them quoted. */
export function wordsOf(line: string): readonly string[] {
  const words = line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)
  return [...words].map(([, quoted, plain = '']) => quoted?.replaceAll(/\\(.)/g, '$1') ?? plain)
}

export async function hookline(
  line: CommandText,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  let [stdout, stderr] = ['', '']
  const surroundings = {
    args: typeof line === 'string' ? wordsOf(line) : line,
    environment: cleanEnvironment(environment),
    folder: process.cwd(),
    isTerminal: false,
    columns: null,
  }
  const to = {
    log: (text: unknown) => void (stdout += `${String(text)}\n`),
    error: (text: unknown) => void (stderr += `${String(text)}\n`),
  }
  const exitCode = await runCommandLine(surroundings, to)
  process.umask(UMASK)
  return { exitCode, stdout, stderr }
}

/** Runs a command on the data directory `folder`. */
export function on(folder: ScratchFolder, line: CommandText): Promise<CommandResult> {
  return hookline(line, { HOOKLINE_DATA_DIR: folder.path })
}
