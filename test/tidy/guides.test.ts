// The manual and the README: what they list is what the code has, and what they link to is there.

import { expect, test } from 'bun:test'

import { GENERATED_GUIDES, PICTURE } from '../../scripts/guides.ts'
import { importsPicture } from '../../scripts/imports-picture.ts'
import { ERRORS, guideOf } from '../../src/api/errors.ts'
import { formats } from '../../src/compat/apis.ts'
import { PROGRAMS } from '../../src/compat/programs.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { FINDING_CODES, FINDING_GUIDES, findingRow } from '../../src/domain/finding-codes.ts'
import { FAILURES, MESSAGE_STATUSES, QUEUED_REASONS } from '../../src/domain/message.ts'
import { SETTING_NAMES } from '../../src/domain/setting.ts'
import { EVENT_NAMES } from '../../src/domain/webhook.ts'
import { findGuide, GUIDES, type Guide } from '../../src/guides/guides.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { ROOT, sourceFiles } from '../support/source-files.ts'

const README_BYTES_MAX = 9 * 1_024
/** Reasons whose hint says all. */
const SELF_EXPLANATORY = new Set(['device_absent', 'driver_failed', 'starting'])
/** Guides for people who write guides. */
const FOR_WRITERS = ['style']

/** Headings of earlier versions, to which bookmarks, and answers and reports of those versions, lead. */
const MOVED = [
  'api#conventions',
  'api#opt-outs',
  'api#simulated-lines',
  'mcp#by-http',
  'operations#backups',
  'operations#upgrade',
  'several-boxes#upgrading-boxes',
]

test('what the guides take from the code is what `bun scripts/guides.ts` writes', () => {
  const differing = Object.entries(GENERATED_GUIDES)
    .filter(([name, make]) => findGuide(name)?.text !== make())
    .map(([name]) => name)

  expect(differing).toEqual([])
})

test('the picture of the imports is what `bun scripts/guides.ts` draws', async () => {
  expect(await Bun.file(PICTURE).text()).toBe(importsPicture())
})

test('the map has each folder of the program and each file beside them, and no other one', () => {
  const parts = sourceFiles('src/**/*.{ts,tsx}').map(({ path }) => path.split('/').slice(1))
  const places = parts.map(([first = '', ...rest]) => (rest.length > 0 ? `${first}/` : first))
  const table = mapText().split('\n| place | |\n')[1]?.split('\n\n')[0] ?? ''
  const rows = table.split('\n').map((row) => row.split('|')[1] ?? '')
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))

  expect(named.sort()).toEqual([...new Set([...places, 'lines/kinds/'])].sort())
})

test('every file and folder that the map names is there, with the functions it names', () => {
  const files = new Map(
    sourceFiles('{src,test,scripts}/**/*').map(({ path, text }) => [path, text]),
  )
  const names = [...mapText().matchAll(/`([\w-]+\/[\w./-]*|[\w-]+\.ts)`(?: \(([^)]*)\))?/g)]
  const wrong = names.filter(([, path = '', inside = '']) => {
    const full = /^(scripts|test)\//.test(path) ? path : `src/${path}`
    const isFolder = path.endsWith('/')
    if (isFolder) return ![...files.keys()].some((file) => file.includes(path))
    const text = files.get(full)
    const inFile = [...inside.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? '')
    return text === undefined || inFile.some((name) => !new RegExp(`\\b${name}\\b`).test(text))
  })

  expect(names.length).toBeGreaterThan(80)
  expect(wrong.map(([whole]) => whole)).toEqual([])
})

/** The part about the code; the rest is about work on it. */
const mapText = () => findGuide('design')?.text.split('\n## Working on it\n')[0] ?? ''

const REFERENCE: readonly (readonly [guide: string, names: readonly string[]])[] = [
  ['errors', Object.keys(ERRORS)],
  ['findings', FINDING_CODES],
  ['event-reference', EVENT_NAMES],
  ['message-states', [...MESSAGE_STATUSES, ...QUEUED_REASONS, ...Object.keys(FAILURES)]],
  ['message-states', LINE_KINDS.flatMap(({ failures }) => Object.keys(failures))],
  ['command-line', SETTING_NAMES],
]

test.each(REFERENCE)('the guide %s has a row for each name of the product', (name, names) => {
  const text = findGuide(name)?.text ?? ''

  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((one) => !text.split('\n').some((row) => isRowOf(row, one)))).toEqual([])
})

const isRowOf = (row: string, name: string) =>
  row.startsWith('| ') && row.split('|')[1]?.includes(`\`${name}\``) === true

test('every error leads to its row', () => {
  const places = new Set(anchorsOf('errors', findGuide('errors')?.text ?? ''))
  const codes = Object.keys(ERRORS) as ErrorCode[] // The keys of the record.

  expect(codes.map(guideOf).filter((place) => !places.has(place.replace('/guide/', '')))).toEqual(
    [],
  )
})

test('every guide is in the manual', () => {
  const files = sourceFiles('src/guides/*.md').map(({ path }) => path.replace(/^.*\/|\.md$/g, ''))
  const names = [...GUIDES.map(({ name }) => name), ...FOR_WRITERS]

  expect(files).toEqual(names.sort())
})

test('every link of a guide leads to a guide, and to a heading of it', () => {
  const places = new Set(GUIDES.flatMap(({ name, text }) => [name, ...anchorsOf(name, text)]))
  const dead = GUIDES.flatMap((guide) => linksOf(guide).filter((link) => !places.has(link)))

  expect(dead).toEqual([])
})

test('a link to a heading that has moved still leads to a place', () => {
  const places = new Set(GUIDES.flatMap(({ name, text }) => anchorsOf(name, text)))

  expect(MOVED.filter((place) => !places.has(place))).toEqual([])
})

test('every finding leads to a place of a guide', () => {
  const places = new Set(GUIDES.flatMap(({ name, text }) => [name, ...anchorsOf(name, text)]))

  expect([...FINDING_GUIDES].filter((place) => !places.has(place))).toEqual([])
})

test('every program of the gallery leads to a place of a guide', () => {
  const places = new Set(GUIDES.flatMap(({ name, text }) => [name, ...anchorsOf(name, text)]))

  expect(PROGRAMS.map(({ guide }) => guide).filter((place) => !places.has(place))).toEqual([])
})

test('every reason for which a line can be offline is explained by a guide', () => {
  const codes = LINE_KINDS.flatMap(({ reasons }) => Object.values(reasons).map(({ code }) => code))
  const unexplained = codes.filter(
    (code) => findingRow(code).guide === null && !SELF_EXPLANATORY.has(code),
  )

  expect(unexplained).toEqual([])
})

test('the README is short, and every file that it links to is there', async () => {
  const readme = await Bun.file(`${ROOT}/README.md`).text()
  const links = [...readme.matchAll(/(?:\]\(|src="|srcset=")(?!https?:|#)([^)#"]+)/g)].map(
    ([, path]) => path ?? '',
  )
  const missing = []
  for (const path of links) if (!(await Bun.file(`${ROOT}/${path}`).exists())) missing.push(path)

  expect(missing).toEqual([])
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(README_BYTES_MAX)
})

test('the guide has each code of an error that the API of Twilio answers, and no other one', async () => {
  const guide = GUIDES.find(({ name }) => name === 'compatible-apis')?.text ?? ''
  const [, section = ''] = guide.split('\n## Twilio\n')
  const [, table = ''] = section.split('\n| Twilio | here |\n')
  const [rows = ''] = table.split('\n\n')
  const code = sourceFiles('src/compat/twilio/*.ts').map(({ text }) => text.replaceAll('_', ''))
  const codesIn = (text: string) => new Set(text.match(/(?<![\d,])[23]\d{4}\b(?!-)/g))
  // Codes of other refusals are made of this and their status.
  const known = codesIn(code.join('\n')).difference(new Set(['20000']))
  const told = codesIn(rows).difference(new Set(['20000', '20429']))

  expect(known.size).toBeGreaterThan(15)
  expect([...told].sort()).toEqual([...known].sort())
})

test('the guide has each event of the webhooks of each compatible API, and no other one', () => {
  const guide = GUIDES.find(({ name }) => name === 'compatible-apis')?.text ?? ''
  const rowOf = (name: string) =>
    guide.split('\n').find((line) => line.startsWith(`| \`${name}\` | \`m`))
  const told = formats().map(({ name }) => [
    name,
    rowOf(name)
      ?.match(/\b\w*message\.\w+/g)
      ?.sort()
      .join(),
  ])

  expect(told).toEqual(formats().map(({ name, events }) => [name, events.toSorted().join()]))
})

test('the README has each guide of the manual', async () => {
  const readme = await Bun.file(`${ROOT}/README.md`).text()

  const names = GUIDES.map(({ name }) => name)

  expect(names.filter((name) => !readme.includes(`[${name}](src/guides/${name}.md)`))).toEqual([])
})

/** `api#conventions` for a link to another guide, `mac#good-to-know` for `#good-to-know` in mac. */
function linksOf({ name, text }: Guide): readonly string[] {
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link ?? '')
  return links
    .filter((link) => !link.startsWith('https:') && !link.endsWith('.svg'))
    .map((link) => (link.startsWith('#') ? `${name}${link}` : link))
}

function anchorsOf(name: string, text: string): readonly string[] {
  const html = Bun.markdown.html(text, { headings: { ids: true } })
  return [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `${name}#${id}`)
}
