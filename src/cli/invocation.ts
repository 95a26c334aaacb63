import { realpathSync } from 'node:fs'
import { relative } from 'node:path'

import { defaultDataDirectory } from '../system/data-directory.ts'
import { ownExecutable } from '../system/own-executable.ts'
import type { Call } from './command.ts'

/**
 * How a person calls this very executable, for this very data directory, from where they are: `hookline`
 * where the shell finds it by that name, else its path.
 */
export function invocation(call: Call): string {
  const { environment } = call.surroundings
  const { dataDir } = call.loadConfig().config
  const isElsewhere = dataDir !== defaultDataDirectory(environment)
  return nameOf(call) + (isElsewhere ? ` --data-dir ${quoted(dataDir)}` : '')
}

function nameOf({ surroundings: { environment, folder } }: Call): string {
  const executable = ownExecutable()
  const found = Bun.which('hookline', { PATH: environment['PATH'] ?? '' })
  if (executable === null || (found !== null && realpathSync(found) === executable)) {
    return 'hookline'
  }
  const near = relative(folder, executable)
  return quoted(near.startsWith('..') ? executable : `./${near}`)
}

/** A word of a shell; bare where nothing in it would mean something else there. */
function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
