// The sentences of the page: each view has one file of them in `src/dashboard/words/`, and none stands
// elsewhere.

import { expect, test } from 'bun:test'

import ts from 'typescript-5'

import { sourceFiles, type SourceFile } from '../support/source-files.ts'

const SPOKEN =
  /^(?:aria-label|placeholder|title|label|hint|confirm|alt|lead|about|caption|consequence)$/
/** Letters, but for a path, an address and a variable. */
const WORDS = /^(?!\s*(?:\/|https?:|(?:HOST, )?HOOKLINE_))[^]*\p{L}{2}/u

/** Two words that begin or end as a sentence does. */
const SENTENCE = /^\p{Lu}[^]*\p{L}[,;:]? \p{L}|\p{L}[,;:]? \p{L}[^]*[.?!…]\s*$/u

test('no sentence of the page stands outside of its files of words', () => {
  const files = ['ts', 'tsx'].flatMap((ending) => sourceFiles(`src/dashboard/**/*.${ending}`))
  const found = files.filter(({ path }) => !path.includes('/words/')).flatMap(sentencesIn)

  expect(found).toEqual([])
})

function sentencesIn({ path, text }: SourceFile): readonly string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    // An error that is thrown is a fault of the page, for its developers.
    if (ts.isNewExpression(node) && node.expression.getText() === 'Error') return
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
    const sentences = isText ? literalsOf(node).filter(({ text }) => SENTENCE.test(text)) : []
    for (const spoken of [...spokenBy(node), ...sentences]) {
      if (!WORDS.test(spoken.text)) continue
      const { line } = file.getLineAndCharacterOfPosition(spoken.getStart())
      found.push(`${path}:${line + 1}: ${spoken.text.trim().slice(0, 60)}`)
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

type Spoken = ts.Node & { readonly text: string }

/** The literal texts that a piece of markup or a state shows or gives to a screen reader. */
function spokenBy(node: ts.Node): readonly Spoken[] {
  if (ts.isJsxText(node)) return [node]
  if (ts.isPropertyAssignment(node)) {
    const name = node.name.getText()
    return name === 'text' || SPOKEN.test(name) ? literalsOf(node.initializer) : []
  }
  if (ts.isJsxAttribute(node)) {
    const isSpoken = SPOKEN.test(node.name.getText()) && node.initializer !== undefined
    return isSpoken ? literalsOf(node.initializer) : []
  }
  const isChild = ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)
  return isChild && node.expression !== undefined ? literalsOf(node.expression) : []
}

/** Literals that `node` is or may become; what is within a call or another element speaks for itself. */
function literalsOf(node: ts.Node): readonly Spoken[] {
  if (ts.isStringLiteralLike(node)) return [node]
  if (ts.isTemplateExpression(node)) {
    return [node.head, ...node.templateSpans.map(({ literal }) => literal)]
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(literalsOf)
  if (ts.isBinaryExpression(node)) return literalsOf(node.right)
  if (ts.isJsxExpression(node))
    return node.expression === undefined ? [] : literalsOf(node.expression)
  return ts.isParenthesizedExpression(node) ? literalsOf(node.expression) : []
}
