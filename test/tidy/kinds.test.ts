// Kinds of lines are named in their own folders and in the one table, and nowhere else.

import { expect, test } from 'bun:test'

import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { sourceFiles } from '../support/source-files.ts'

/** Files that name kinds for a reason of their own. */
const EXCEPTIONS: readonly string[] = [
  // Guides have the names of kinds, and are chosen by a reader.
  'src/domain/finding-codes.ts',
  'src/guides/guides.ts',
]

test('no name of a kind of line stands outside its folder and the table', () => {
  const names = new RegExp(`'(?:${LINE_KINDS.map(({ name }) => name).join('|')})'`)
  const places = sourceFiles('src/**/*.{ts,tsx}')
    .filter(({ path }) => !path.startsWith('src/lines/kinds/') && !EXCEPTIONS.includes(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => (names.test(line) ? [`${path}:${index + 1}`] : [])),
    )

  expect(places).toEqual([])
})
