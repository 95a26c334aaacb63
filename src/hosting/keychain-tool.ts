import type { RunProcess } from '../system/process.ts'
import { useTool } from './system-tool.ts'

export const SECURITY = '/usr/bin/security'

/**
 * Runs one command of security(1) by its interactive mode, `security -i`, which reads it on standard
 * input and ends as it did. So a password stands in no argument, which every user of the machine can
 * read. Words are in double quotes where they must be; `\` escapes inside them, as public scripts do it.
 */
export function useSecurity(
  run: RunProcess,
  order: { readonly words: readonly string[]; readonly purpose: string },
  signal: AbortSignal,
): Promise<string> {
  const { words, purpose } = order
  const input = `${words.map(quoted).join(' ')}\n`
  return useTool(run, { path: SECURITY, args: ['-i'], input, purpose }, signal)
}

function quoted(word: string): string {
  return /^[\w.,:/-]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`
}
