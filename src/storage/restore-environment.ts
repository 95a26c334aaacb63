// Restores `hookline.env` from a backup, except the options that need a person's consent.

import { environmentOf, type OptionTable } from '../domain/option.ts'

/** A line of `hookline.env` that differs between the backup and the present file. */
export type EnvironmentChange = {
  readonly variable: string
  /** The value in the backup; null if the variable is missing, `(hidden)` for a secret. */
  readonly value: string | null
  /** False if the present line stays, because a person must consent to the change. */
  readonly isTaken: boolean
}

/**
 * The `hookline.env` that a restore writes: the backup's, except that programs, hosts, ports, files and
 * passwords stay as they are unless `takesAll`.
 */
export function restoredEnvironment(
  present: string,
  backedUp: string,
  { options, takesAll }: { readonly options: OptionTable; readonly takesAll: boolean },
): { readonly text: string; readonly changes: readonly EnvironmentChange[] } {
  const [before, after] = [linesOf(present), linesOf(backedUp)]
  const known = new Map(Object.values(options).map((row) => [environmentOf(row), row]))
  const isTaken = (variable: string | null) =>
    takesAll || variable === null || known.get(variable)?.needsTrust === false
  const lines = [
    ...after.filter(({ variable }) => isTaken(variable)),
    ...before.filter(({ variable }) => !isTaken(variable)),
  ]
  const variables = new Set([...before, ...after].flatMap(({ variable }) => variable ?? []))
  const changes = [...variables]
    .filter((variable) => valueIn(before, variable) !== valueIn(after, variable))
    .map((variable) => ({
      variable,
      // Shown only if the option is known not to be a secret.
      value: shown(valueIn(after, variable), known.get(variable)?.isSecret === false),
      isTaken: isTaken(variable),
    }))
  return { text: lines.map(({ line }) => `${line}\n`).join(''), changes }
}

type Line = { readonly line: string; readonly variable: string | null; readonly value: string }

/** Lines as `parseOptionFile` reads them; comments have no variable. */
function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const match = /^(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/.exec(line)
      const isComment = match === null && line.startsWith('#')
      return { line, variable: isComment ? null : (match?.[1] ?? line), value: match?.[2] ?? '' }
    })
}

function valueIn(lines: readonly Line[], variable: string): string | null {
  return lines.findLast((line) => line.variable === variable)?.value ?? null
}

function shown(value: string | null, isPublic: boolean): string | null {
  return value === null || isPublic ? value : '(hidden)'
}
