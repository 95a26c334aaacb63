// How long files are, and how much of them is comment. Functions are measured by the linter.

import { expect, test } from 'bun:test'

import { allSources, sourceFiles, type SourceFile } from '../support/source-files.ts'

const FILE_LINES_MAX = 400
const MEDIAN_LINES_MAX = 150
const COMMENT_SHARE_MIN = 0.05
const COMMENT_SHARE_MAX = 0.15
const COMMENT_WIDTH_MAX = 120

test(`no file has more than ${FILE_LINES_MAX} lines`, () => {
  const tooLong = allSources().filter((file) => linesOf(file) > FILE_LINES_MAX)

  expect(tooLong.map((file) => `${file.path}: ${linesOf(file)}`)).toEqual([])
})

test(`half of the files of the program have fewer than ${MEDIAN_LINES_MAX} lines`, () => {
  const lengths = sourceFiles('src/**/*.{ts,tsx}').map(linesOf)

  const median = lengths.sort((a, b) => a - b)[Math.floor(lengths.length / 2)]

  expect(median).toBeLessThan(MEDIAN_LINES_MAX)
})

test('between a twentieth and a seventh of the program is comment', () => {
  const lines = sourceFiles('src/**/*.{ts,tsx}')
    .flatMap((file) => file.text.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '')

  const share = lines.filter(isComment).length / lines.length

  expect(share).toBeGreaterThan(COMMENT_SHARE_MIN)
  expect(share).toBeLessThan(COMMENT_SHARE_MAX)
})

test(`no comment is wider than ${COMMENT_WIDTH_MAX} columns`, () => {
  const tooWide = allSources().flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        isComment(line.trim()) && line.length > COMMENT_WIDTH_MAX ? [`${path}:${index + 1}`] : [],
      ),
  )

  expect(tooWide).toEqual([])
})

function linesOf(file: SourceFile): number {
  return file.text.trimEnd().split('\n').length
}

function isComment(line: string): boolean {
  return /^(\/\/|\/\*|\*)|\s\/\/\s/.test(line)
}
