// The picture of who imports whom: that it shows the code is in guides.test.ts.

import { expect, test } from 'bun:test'

import {
  drawnImports,
  importsBetween,
  importsPicture,
  rowsOf,
  type Imports,
} from '../../scripts/imports-picture.ts'
import { sourceFiles } from '../support/source-files.ts'

const program = importsBetween(sourceFiles('src/**/*.{ts,tsx}'))

test('every import between two folders leads to a lower row, and every arrow goes down', () => {
  const rows = rowsOf(program)
  const rowOf = (name: string) => rows.findIndex((row) => row.includes(name))
  const upward = [...program].flatMap(([from, targets]) =>
    [...targets].filter((to) => rowOf(to) <= rowOf(from)).map((to) => `${from} → ${to}`),
  )
  const heights = arrowsIn(importsPicture()).map(({ start, end }) => end - start)

  expect(upward).toEqual([])
  expect(heights.length).toBeGreaterThan(40)
  expect(heights.filter((height) => height <= 0)).toEqual([])
})

test('the arrows say everything: along them, each folder reaches what it imports', () => {
  const drawn = drawnImports(program)
  const missing = [...program].flatMap(([from, targets]) =>
    [...targets].filter((to) => !reached(drawn, from).has(to)).map((to) => `${from} → ${to}`),
  )

  expect(missing).toEqual([])
})

test('an import that other arrows lead to as well is not drawn', () => {
  const imports = new Map([
    ['top', new Set(['middle', 'base'])],
    ['middle', new Set(['base'])],
    ['base', new Set<string>()],
  ])

  expect(rowsOf(imports)).toEqual([['top'], ['middle'], ['base']])
  expect(drawnImports(imports).get('top')).toEqual(new Set(['middle']))
})

test('folders that import each other in a circle cannot be drawn', () => {
  const file = (path: string, target: string) => ({ path, text: `import { x } from '${target}'\n` })
  const imports = importsBetween([
    file('src/keys/a.ts', '../people/b.ts'),
    file('src/people/b.ts', '../stats/c.ts'),
    file('src/stats/c.ts', '../keys/d.ts'),
    file('src/keys/d.ts', 'node:fs'),
  ])

  expect(() => rowsOf(imports)).toThrow('in a circle: keys, people, stats')
})

function reached(imports: Imports, from: string): ReadonlySet<string> {
  const found = [...(imports.get(from) ?? [])]
  return new Set([...found, ...found.flatMap((other) => [...reached(imports, other)])])
}

/** Where each arrow starts and ends, from the top. */
function arrowsIn(picture: string): readonly { readonly start: number; readonly end: number }[] {
  const arrows = [...picture.matchAll(/<path d="M\d+ (\d+)[^"]* (\d+)"/g)]
  return arrows.map(([, start, end]) => ({ start: Number(start), end: Number(end) }))
}
