// The `hookline.env` that comes back with a backup: all but what takes a person's word to change.

import { environmentOf, type OptionTable } from '../domain/option.ts'

/** A line of `hookline.env` that differs between the backup and what is there. */
export type EnvironmentChange = {
  readonly variable: string
  /** The value in the backup: null where the variable is missing, `(hidden)` for a secret. */
  readonly value: string | null
  /** False where the present line stays, because it takes a person's word to change it. */
  readonly isTaken: boolean
}

type RestoredEnvironment = {
  readonly text: string
  readonly changes: readonly EnvironmentChange[]
}

/**
 * The `hookline.env` that a restore writes: what the backup says, but for what names programs, hosts,
 * ports, files or passwords, which stays as it is unless `takesAll`.
 */
export function restoredEnvironment(
  present: string,
  backedUp: string,
  { options, takesAll }: { readonly options: OptionTable; readonly takesAll: boolean },
): RestoredEnvironment {
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
      // Only what is known to be no secret is shown.
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
