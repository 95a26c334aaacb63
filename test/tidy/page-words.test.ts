// A sentence of the page stands in the view that shows it. The tables in `src/dashboard/words/` are for what several
// views say.

import { expect, test } from 'bun:test'

import ts from 'typescript-5'

import { sourceFiles, type SourceFile } from '../support/source-files.ts'

const TABLES = sourceFiles('src/dashboard/words/*.ts')
const VIEWS = ['ts', 'tsx'].flatMap((ending) => sourceFiles(`src/dashboard/**/*.${ending}`))

test('each word in a table is said by two views or more', () => {
  const found = TABLES.flatMap((table) =>
    wordsIn(table)
      .filter(({ name, word }) => usersOf(table, name, word).length < 2)
      .map(({ name, word }) => `${table.path}: ${name}.${word}`),
  )

  expect(found).toEqual([])
})

type Word = { readonly name: string; readonly word: string }

/** Literal texts of the exported tables of a file: `COMMON.cancel`. */
function wordsIn({ path, text }: SourceFile): readonly Word[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const declared = file.statements.flatMap((statement) =>
    ts.isVariableStatement(statement) && statement.modifiers !== undefined
      ? [...statement.declarationList.declarations]
      : [],
  )
  return declared.flatMap(({ name, initializer }) => {
    const table =
      initializer && ts.isAsExpression(initializer) ? initializer.expression : initializer
    if (table === undefined || !ts.isObjectLiteralExpression(table)) return []
    return table.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) && ts.isStringLiteralLike(property.initializer)
        ? [{ name: name.getText(), word: property.name.getText() }]
        : [],
    )
  })
}

/** Files that say a word of a table, under whatever name they import it. */
function usersOf(table: SourceFile, name: string, word: string): readonly string[] {
  const own = table.path.replace(/^.*\//, '')
  const users = VIEWS.filter(({ path, text }) => {
    if (path !== table.path && !text.includes(`/${own}'`)) return false
    const [, alias = name] = new RegExp(`\\b${name} as (\\w+)`).exec(text) ?? []
    return new RegExp(`\\b${alias}(?:\\.${word}\\b|\\[)`).test(text)
  })
  return users.map(({ path }) => path)
}
