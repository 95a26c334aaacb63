// Words that do not belong in the checkout: promises to do it later, traces of the machine and of the
// people who wrote it, ways around the compiler and the linter.

import { expect, test } from 'bun:test'

import { allSources, sourceFiles, type SourceFile } from '../support/source-files.ts'
import { foreignSentences, foreignWords } from './vocabulary.ts'

type Ban = { readonly what: string; readonly pattern: RegExp }

const BANNED_EVERYWHERE: readonly Ban[] = [
  { what: 'work left for later', pattern: /\b(TODO|FIXME|XXX|HACK)\b/ },
  { what: 'the number of an issue', pattern: /\b(issue|PR|ticket) #?\d+\b|\s#\d+\b/i },
  { what: 'a package registry', pattern: /\b(registry\.npmjs|npmmirror|verdaccio|artifactory)/ },
  { what: 'a folder of one machine', pattern: /['"`\s](\/work|\/root|\/Users\/\w+|\/home\/\w+)\// },
  { what: 'who wrote it', pattern: /\b(Claude|ChatGPT|Copilot|LLM|AI assistant|sub-?agent)\b/i },
  {
    what: 'how it was written',
    pattern: /\b(the (brief|lead|prompt)|as instructed|per the spec)\b/i,
  },
  { what: 'a silenced compiler', pattern: /@ts-(ignore|nocheck)/ },
  { what: 'a silenced linter without its reason', pattern: /(ox|es)lint-disable(?!.* -- \w)/ },
]

const BANNED_IN_THE_PROGRAM: readonly Ban[] = [
  { what: 'a default export', pattern: /^export default\b/m },
  { what: 'a temporary folder', pattern: /['"`]\/tmp\b/ },
  { what: 'an expected type error', pattern: /@ts-expect-error/ },
  { what: 'a type that is a bag', pattern: /\b(type|interface|class) \w*(Tools|Beside|Deps)\b/ },
  // A message has parts.
  {
    what: 'a type that is a bag',
    pattern: /\b(type|interface|class) (?!SentParts|MessageParts)\w+Parts\b/,
  },
]

/** Places are exempt, such as "stays where it is" and "where it comes from". */
const WHERE: Ban = {
  what: '"where" in the place of "if"',
  pattern:
    /\bwhere (it|they|this|that|one|there|nobody|none|nothing|neither|left)\b(?! (is|are|was)(?=[.,;'`]| (before|found|from|published|read|allowed|seen|used|when|while|with|now)\b)| (comes from|stands|stops|ended|begins|go\b|leads|loop))/,
}

/** This file names the words in order to ban them. */
const OWN_PATH = 'test/tidy/words.test.ts'
/** Messages and identifiers of packages in which such words stand for themselves. */
const QUOTED = /\(drizzle-orm issues [\d, ]+\)/g
/** A colour of a style sheet looks like the number of an issue. */
const COLOUR = /#[0-9a-f]{3,8}\b/gi

test('nothing in the checkout is promised for later, silenced, or speaks of how it was made', () => {
  const files = [...allSources(), ...sourceFiles('{README.md,scripts/*,.ci/*,package.json}')]

  expect(findings(files, BANNED_EVERYWHERE)).toEqual([])
})

test('the program has no ways around its types, and no place of its own on the machine', () => {
  expect(findings(sourceFiles('src/**/*.{ts,tsx}'), BANNED_IN_THE_PROGRAM)).toEqual([])
})

test('"where" means a place, and a condition is an "if", in code, tests and guides', () => {
  const files = sourceFiles('{src,test,scripts}/**/*.{ts,tsx,md}')

  expect(findings(files, [WHERE])).toEqual([])
})

test('names and comments use the words of the field', () => {
  expect(sourceFiles('src/**/*.{ts,tsx}').flatMap(foreignWords)).toEqual([])
})

test('titles and comments of tests and scripts use the words of the field', () => {
  const named = [OWN_PATH, 'test/tidy/vocabulary.ts'] // Both have examples of what is banned.
  const files = sourceFiles('{test,scripts}/**/*.{ts,tsx}').filter(
    ({ path }) => !named.includes(path),
  )

  expect(files.flatMap(foreignSentences)).toEqual([])
})

test('files are in kebab-case and named after what is inside', () => {
  const bad = allSources()
    // Sentences of several views are in no view's file.
    .filter(({ path }) => path !== 'src/dashboard/words/common.ts')
    .map((file) => file.path)
    .filter((path) => path.split('/').some((part) => !isGoodName(part)))

  expect(bad).toEqual([])
})

test('a word that is banned is found, with its place', () => {
  const file = { path: 'src/a.ts', text: 'const a = 1\n// TODO: more\n' }
  const text = '// Null where it is left out.\n// Null if so; says where it comes from.\n'

  expect(findings([file], BANNED_EVERYWHERE)).toEqual(['src/a.ts:2: work left for later'])
  expect(findings([{ path: 'src/b.ts', text }], [WHERE])).toEqual([
    'src/b.ts:1: "where" in the place of "if"',
  ])
  const titled =
    "// It stays.\ntest('a bell is told', async () => {\n  expect(told).toBe('told')\n})\n"
  expect(foreignSentences({ path: 'test/c.ts', text: titled })).toEqual([
    'test/c.ts: bell (signal)',
    'test/c.ts: told (published, reported, notified, sent)',
  ])
})

function findings(files: readonly SourceFile[], bans: readonly Ban[]): readonly string[] {
  return files
    .filter((file) => file.path !== OWN_PATH)
    .flatMap((file) =>
      file.text.split('\n').flatMap((line, index) => {
        const unquoted = line.replace(QUOTED, '')
        const text = file.path.endsWith('.css') ? unquoted.replace(COLOUR, '') : unquoted
        return bans
          .filter((ban) => ban.pattern.test(text))
          .map((ban) => `${file.path}:${index + 1}: ${ban.what}`)
      }),
    )
}

function isGoodName(part: string): boolean {
  // A page is what a browser finds under this name.
  if (part === 'index.html') return true
  const name = part.replace(/(\.(test|macro|d))?\.(tsx?|css|html)$/, '')
  const isKebab = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)
  return isKebab && !/(^|-)(utils?|helpers?|common|shared|managers?|index|misc)$/.test(name)
}
