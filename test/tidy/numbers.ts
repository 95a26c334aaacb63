// The numbers that keep the house legible: measured here, held by numbers.test.ts.

import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

import { spawnSync } from 'bun'

import { ScratchFolder } from '../support/scratch-folder.ts'
import { ROOT, sourceFiles, type SourceFile } from '../support/source-files.ts'
import { importsOf } from './layers.ts'

export const program = sourceFiles('src/**/*.{ts,tsx}')

export function linesOf(files: readonly SourceFile[]): number {
  return files.reduce((sum, { text }) => sum + text.trimEnd().split('\n').length, 0)
}

/**
 * Share of the program's files that exactly one other file imports, from 0 to 1. A script that the page
 * loads by itself can be no part of another file.
 */
export function singleImporterShare(files: readonly SourceFile[]): number {
  const importers = new Map<string, Set<string>>()
  const scripts = new Set<string>()
  for (const { path, text } of files) {
    const fileOf = (target: string) => normalize(join(dirname(path), target))
    for (const found of importsOf(text)
      .filter((name) => name.startsWith('.'))
      .map(fileOf)) {
      importers.set(found, (importers.get(found) ?? new Set()).add(path))
    }
    for (const [, target = ''] of text.matchAll(/\bimport\('(\.[^']+)'\)/g)) {
      scripts.add(fileOf(target))
    }
  }
  const isSingle = ({ path }: SourceFile) => importers.get(path)?.size === 1 && !scripts.has(path)
  return files.filter(isSingle).length / files.length
}

/** A glob such as `src/**` opens no comment. */
export const COMMENT =
  /(?<![\w}*'"`])\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|(?<=[;{}(,\w)\]] )\/\/ .*/gm
const BARE_CLAUSE = /^(What|Whether|How|Who|Whom|Whose|Where|Why|When|Which)\b/

/** The text of each comment; lines of one block are one comment. */
export function commentsOf({ text }: SourceFile): readonly string[] {
  return [...text.matchAll(COMMENT)].map(([comment]) =>
    comment.replace(/^\s*(\/\*\*?|\*\/|\*|\/\/)[ \t]?/gm, '').trim(),
  )
}

/** Share of the comments that open with a clause in place of a noun, from 0 to 1. */
export function bareClauseShare(files: readonly SourceFile[]): number {
  const comments = files.flatMap(commentsOf)
  return comments.filter((comment) => BARE_CLAUSE.test(comment)).length / comments.length
}

/** The files with lines that one send with one webhook runs, and an idle relay does not. */
export function filesOfOneSend(): readonly string[] {
  using folder = new ScratchFolder()
  const [idle, sending] = ['no', 'yes'].map((send) => coveredLines(folder.path, send))
  return (
    [...(sending ?? [])]
      .filter(([path, lines]) => !lines.isSubsetOf(idle?.get(path) ?? new Set()))
      .map(([path]) => path)
      // The test's own clock, which no relay runs by.
      .filter((path) => path.startsWith('src/') && path !== 'src/system/driven-clock.ts')
      .sort()
  )
}

function coveredLines(folder: string, send: string): ReadonlyMap<string, ReadonlySet<number>> {
  const to = join(folder, send)
  const options = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${to}`]
  const { exitCode, stderr } = spawnSync(
    [process.execPath, 'test', ...options, './test/tidy/one-send.ts'],
    {
      cwd: ROOT,
      env: { ...process.env, SEND: send },
      stderr: 'pipe',
    },
  )
  if (exitCode !== 0) throw new Error(stderr.toString())
  return readLcov(readFileSync(join(to, 'lcov.info'), 'utf8'))
}

/** The lines that ran, by file. LCOV has a record for each file: `SF:path`, then `DA:line,count`. */
function readLcov(text: string): ReadonlyMap<string, ReadonlySet<number>> {
  const covered = new Map<string, Set<number>>()
  let lines = new Set<number>()
  for (const [, key, value = '', count] of text.matchAll(/^(SF|DA):([^,\n]+)(?:,(\d+))?/gm)) {
    if (key === 'SF') covered.set(value, (lines = new Set()))
    else if (Number(count) > 0) lines.add(Number(value))
  }
  return covered
}
