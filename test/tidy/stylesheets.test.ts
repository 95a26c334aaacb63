// The page takes every value that people see from the scales in `tokens.css`, so that no two places differ by accident.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = `${import.meta.dir}/../../src/dashboard/css`
const PAGE = `${import.meta.dir}/../../src/dashboard`

/** Print has sizes of paper. */
const sheets = readdirSync(FOLDER).filter((name) => !['tokens.css', 'print.css'].includes(name))

type Declaration = { readonly at: string; readonly property: string; readonly value: string }

function declarationsIn(name: string): readonly Declaration[] {
  const text = readFileSync(`${FOLDER}/${name}`, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '')
  return [...text.matchAll(/(?<=[{;]\s*)([-a-z]+):\s*([^;{}]+)[;}]/g)].map((found) => {
    const [, property = '', value = ''] = found
    return { at: name, property, value: value.replaceAll(/\s+/g, ' ').trim() }
  })
}

const all = sheets.flatMap(declarationsIn)

/** The declarations of these properties whose value doesn't fit. */
function outside(properties: RegExp, fits: (value: string) => boolean): readonly string[] {
  return all
    .filter(({ property, value }) => properties.test(property) && !fits(value))
    .map(({ at, property, value }) => `${at}: ${property}: ${value}`)
}

const LENGTH = /(?<![-\w])[\d.]+(px|rem|pt)\b/
const COLOR = /#[0-9a-f]{3,8}\b|\b(rgb|hsl|oklch|lab)a?\(|\b(white|black|red|blue|gray|grey)\b/i

test('text has a size and a weight of the scales', () => {
  expect(outside(/^font-size$/, (value) => /^(var\(--[a-z]+\)|inherit)$/.test(value))).toEqual([])
  expect(outside(/^font-weight$/, (value) => /^var\(--[a-z]+\)$/.test(value))).toEqual([])
  expect(outside(/^font$/, (value) => value === 'inherit' || !LENGTH.test(value))).toEqual([])
})

test('distances are of the scale', () => {
  const properties = /^(margin|padding|gap|row-gap|column-gap|inset|top|right|bottom|left)/

  expect(outside(properties, (value) => !LENGTH.test(value))).toEqual([])
})

test('corners are of the scale', () => {
  const fits = (value: string) => /^(0|inherit|var\(--round-\w+\)|\s)+$/.test(value)

  expect(outside(/radius$/, fits)).toEqual([])
})

test('colors are of the palette', () => {
  expect(outside(/./, (value) => !COLOR.test(value))).toEqual([])
})

test('what moves takes a duration of the scale', () => {
  const fits = (value: string) =>
    !/(?<![-\w])[\d.]+m?s\b/.test(value) || value.includes('!important')

  expect(outside(/^(animation|transition)/, fits)).toEqual([])
})

test('every class of a component has a rule', () => {
  const texts = [...sheets, 'print.css'].map((name) => readFileSync(`${FOLDER}/${name}`, 'utf8'))
  const ruled = new Set(
    texts.flatMap((text) => [...text.matchAll(/\.([a-z][-\w]*)/g)].map(([, name = '']) => name)),
  )
  const used = [...new Bun.Glob('**/*.tsx').scanSync(PAGE)].flatMap((file) =>
    [...readFileSync(`${PAGE}/${file}`, 'utf8').matchAll(/\sclass="([^"]+)"/g)].flatMap(
      ([, names = '']) => names.split(' ').map((name) => ({ file, name })),
    ),
  )

  expect(used.length).toBeGreaterThan(300)
  expect(used.flatMap(({ file, name }) => (ruled.has(name) ? [] : [`${file}: .${name}`]))).toEqual(
    [],
  )
})

test('every name that a stylesheet uses exists, and every one of the scales is used', () => {
  const tokens = readFileSync(`${FOLDER}/tokens.css`, 'utf8')
  const named = new Set([...tokens.matchAll(/(--[-\w]+):/g)].map(([, name = '']) => name))
  const local = new Set(all.flatMap(({ property }) => (property.startsWith('--') ? property : [])))
  const texts = [...sheets, 'print.css', 'tokens.css'].map((name) =>
    readFileSync(`${FOLDER}/${name}`, 'utf8'),
  )
  const used = new Set(
    texts.flatMap((text) => [...text.matchAll(/var\((--[-\w]+)/g)].map(([, name = '']) => name)),
  )
  const given = new Set(customProperties())

  expect(
    [...used].filter((name) => !named.has(name) && !local.has(name) && !given.has(name)),
  ).toEqual([])
  expect([...named].filter((name) => !used.has(name))).toEqual([])
})

test('components set no style but custom properties, from data', () => {
  const styles = components().flatMap(({ name, text }) =>
    [...text.matchAll(/style=\{\{([^}]*)\}\}|style="([^"]*)"/g)].flatMap(([, object, words]) => {
      const keys = [...(object ?? '').matchAll(/'?([-\w]+)'?:/g)].map(([, key = '']) => key)
      return [
        ...keys.filter((key) => !key.startsWith('--')),
        ...(words === undefined ? [] : [words]),
      ].map((style) => `${name}: ${style}`)
    }),
  )

  expect(styles).toEqual([])
})

function components(): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(PAGE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx'))
    .map((name) => ({ name, text: readFileSync(`${PAGE}/${name}`, 'utf8') }))
}

function customProperties(): readonly string[] {
  return components().flatMap(({ text }) =>
    [...text.matchAll(/'(--[-\w]+)'/g)].map(([, name = '']) => name),
  )
}
