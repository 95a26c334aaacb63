// What every test keeps to, so that the suite is red only when the program is wrong.

import { expect, test } from 'bun:test'

import { sourceFiles, type SourceFile } from '../support/source-files.ts'

/** What reads how long something took, or how much memory or processor time a process has used. */
const MEASURES = [
  /\bperformance\b/,
  /\bhrtime\b/,
  /\bBun\.nanoseconds\b/,
  /\bmemoryUsage\b/,
  /\brss\b/i,
  /\bheap(?:Used|Size|Stats)\b/i,
  /\b(?:cpuUsage|resourceUsage)\b/,
  /\/proc\/[^'"]*\/(?:statm|status|smaps)\b/,
  /\b(?:JSHeapUsedSize|ScriptDuration|TaskDuration)\b/,
  /Date\.now\(\) - (?![\d(])/,
]
const LEFT_OUT = [/\b(?:test|it|describe)\.(?:only|skip|skipIf|if|todo|todoIf)\b/]
/** A real wait: one that hopes for something is `eventually`, and everything else moves by the test clock. */
const SLEEPS = [/\bBun\.sleep(?:Sync)?\(/, /\bsetTimeout\(/]

const OWN_PATH = 'test/tidy/tests.test.ts'
/** Reads a clock for the end of a wait, and sleeps between two looks. */
const WAITS = 'test/support/eventually.ts'
/** Says what the machine lacks. */
const NEEDS = 'test/support/needs.ts'
/** Real sleeps that hope for nothing. */
const MAY_SLEEP: Readonly<Record<string, string>> = {
  'test/attachments/url-fetch.test.ts': 'a server that drips',
  'test/cli/serve.test.ts': 'the text of a program that throws later',
  'test/dashboard/uploads.test.ts': 'one turn of the loop',
  'test/executable/mac.test.ts': 'the length of a life before its kill',
}

test('no test measures time or memory: what is fast or small is a benchmark', () => {
  expect(placesIn('test/**/*.ts', MEASURES, [WAITS])).toEqual([])
})

test('a test is left out only if the machine lacks what it needs', () => {
  expect(placesIn('test/**/*.ts', LEFT_OUT, [NEEDS])).toEqual([])
})

test('no test sleeps and hopes that something has happened meanwhile', () => {
  expect(placesIn('test/**/*.test.ts', SLEEPS, Object.keys(MAY_SLEEP))).toEqual([])
})

function placesIn(
  files: string,
  patterns: readonly RegExp[],
  except: readonly string[],
): readonly string[] {
  return sourceFiles(files)
    .filter(({ path }) => path !== OWN_PATH && !except.includes(path))
    .flatMap((file) => placesOf(file, patterns))
}

/** `path:line` of each line of code, comments left out, that one of the patterns matches. */
function placesOf({ path, text }: SourceFile, patterns: readonly RegExp[]): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\/|\*|\/\*).*$|\s\/\/ .*$/, ''))
    .flatMap((line, index) =>
      patterns.some((pattern) => pattern.test(line))
        ? [`${path}:${index + 1}: ${line.trim()}`]
        : [],
    )
}
