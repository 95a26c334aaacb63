import { environmentOf, OPTION_NAMES, OPTIONS } from '../domain/option.ts'

/** A line of `hookline.env` that differs between the backup and what is there. */
export type EnvironmentChange = {
  readonly variable: string
  /** What the backup says: null where it leaves the variable out, `(hidden)` for what nobody may read. */
  readonly value: string | null
  /** False where the present line stays, because it takes a person's word to change it. */
  readonly isTaken: boolean
}

export type RestoredEnvironment = {
  readonly text: string
  readonly changes: readonly EnvironmentChange[]
}

const OPTION_OF_VARIABLE = new Map(OPTION_NAMES.map((name) => [environmentOf(name), OPTIONS[name]]))

/**
 * The `hookline.env` that a restore writes: what the backup says, but for what names programs, hosts,
 * ports, files or passwords, which stays as it is unless `takesAll`.
 */
export function restoredEnvironment(
  present: string,
  backedUp: string,
  takesAll: boolean,
): RestoredEnvironment {
  const [before, after] = [linesOf(present), linesOf(backedUp)]
  const isTaken = (variable: string | null) =>
    takesAll || variable === null || OPTION_OF_VARIABLE.get(variable)?.needsTrust === false
  const lines = [
    ...after.filter(({ variable }) => isTaken(variable)),
    ...before.filter(({ variable }) => !isTaken(variable)),
  ]
  const variables = new Set([...before, ...after].flatMap(({ variable }) => variable ?? []))
  const changes = [...variables]
    .filter((variable) => valueIn(before, variable) !== valueIn(after, variable))
    .map((variable) => ({
      variable,
      value: shown(variable, valueIn(after, variable)),
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

/** Only what is known to be no secret is shown. */
function shown(variable: string, value: string | null): string | null {
  if (value === null) return null
  return OPTION_OF_VARIABLE.get(variable)?.isSecret === false ? value : '(hidden)'
}
