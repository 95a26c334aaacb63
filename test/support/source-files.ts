import { readFileSync } from 'node:fs'

import { Glob } from 'bun'

export const ROOT = `${import.meta.dir}/../..`

/** A file of the checkout: its path from the root, and its text. */
export type SourceFile = { readonly path: string; readonly text: string }

/** The files that match a pattern, in order of path. */
export function sourceFiles(pattern: string): readonly SourceFile[] {
  return [...new Glob(pattern).scanSync({ cwd: ROOT })]
    .sort()
    .map((path) => ({ path, text: readFileSync(`${ROOT}/${path}`, 'utf8') }))
}

/** What the program is made of, tests and scripts included. */
export function allSources(): readonly SourceFile[] {
  return sourceFiles('{src,test,scripts}/**/*.{ts,tsx,css,html}')
}
