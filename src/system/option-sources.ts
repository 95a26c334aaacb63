// Sources of option values: flags, the environment, and a file of `NAME=VALUE` lines.

import { resolve } from 'node:path'

/** A value as it was written, and where: `--port`, `HOOKLINE_PORT`, `hookline.env: HOOKLINE_PORT`. */
export type Written = { readonly text: string; readonly from: string }

export type Variables = Readonly<Record<string, string | undefined>>

type Places = {
  readonly environment: Variables
  /** Variables of the options file. */
  readonly file: Variables
  /** Base of relative paths. */
  readonly folder: string
  /** Reads the text of a file, or null where there is none. */
  readonly readText: (path: string) => string | null
}

/** Finds values, the strongest source first, and collects problems of their syntax. */
export class OptionSources {
  readonly #places: Places
  readonly #problems: string[]

  constructor(places: Places, problems: string[]) {
    this.#places = places
    this.#problems = problems
  }

  find(variable: string, flag?: string, flagName = ''): Written | null {
    if (flag !== undefined) return { text: flag, from: flagName }
    const { environment, file } = this.#places
    return this.#in(environment, variable, '') ?? this.#in(file, variable, 'hookline.env: ')
  }

  /** An empty variable is as if it were not set. */
  #in(values: Variables, variable: string, where: string): Written | null {
    const text = values[variable] ?? ''
    const path = values[`${variable}_FILE`] ?? ''
    if (text !== '' && path !== '') {
      this.#problems.push(`${where}${variable} and ${variable}_FILE are both set. Keep one.`)
    }
    if (text !== '') return { text, from: `${where}${variable}` }
    if (path === '') return null
    const content = this.#places.readText(resolve(this.#places.folder, path))
    if (content !== null) return { text: content.trim(), from: `${where}${variable}_FILE` }
    this.#problems.push(`${where}${variable}_FILE names ${path}, which cannot be read.`)
    return null
  }
}

/** `NAME=VALUE` lines; `#` starts a comment line; a value may stand in quotes. */
export function parseOptionFile(
  text: string,
  known: ReadonlySet<string>,
  problems: string[],
): Variables {
  const values: Record<string, string> = {}
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const match = /^(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*(.*)$/.exec(line)
    const name = match?.[1] ?? ''
    if (known.has(name) || known.has(name.replace(/_FILE$/, ''))) {
      values[name] = (match?.[2] ?? '').replace(/^(["'])(.*)\1$/, '$2')
    } else {
      problems.push(`hookline.env, line ${index + 1}: unknown option or invalid line.`)
    }
  }
  return values
}
