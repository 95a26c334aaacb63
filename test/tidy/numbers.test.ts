// The numbers of the whole program, printed and held. Sizes of single files and functions are the
// linter's and sizes.test.ts'.

import { afterAll, expect, test } from 'bun:test'

import {
  bareClauseShare,
  filesOfOneSend,
  linesOf,
  program,
  singleImporterShare,
} from './numbers.ts'

// What is reached is kept: each goes down with the program, and none goes up.
const LINES_MAX = 111_250
const FILES_OF_ONE_SEND_MAX = 68
const SINGLE_IMPORTER_SHARE_MAX = 0.24
const BARE_CLAUSE_SHARE_MAX = 0.005

const table: string[] = []
afterAll(() => void process.stdout.write(['', ...table, '', ''].join('\n')))

test('the program is no longer than it needs to be', () => {
  const lines = linesOf(program)
  note('source lines', `${lines} in ${program.length} files`, LINES_MAX)

  expect(lines).toBeLessThanOrEqual(LINES_MAX)
})

test('one send with one webhook runs lines in few files', () => {
  const files = filesOfOneSend()
  note('files run by one send with one webhook', files.length, FILES_OF_ONE_SEND_MAX)

  expect(files.length).toBeLessThanOrEqual(FILES_OF_ONE_SEND_MAX)
}, 180_000)

test('few files exist for one other file only', () => {
  const share = singleImporterShare(program)
  note('files with exactly one importer', percent(share), percent(SINGLE_IMPORTER_SHARE_MAX))

  expect(share).toBeLessThanOrEqual(SINGLE_IMPORTER_SHARE_MAX)
})

test('comments open with the thing that they describe', () => {
  const share = bareClauseShare(program)
  note('comments that open with a bare clause', percent(share), percent(BARE_CLAUSE_SHARE_MAX))

  expect(share).toBeLessThanOrEqual(BARE_CLAUSE_SHARE_MAX)
})

function note(what: string, measured: string | number, most: string | number): void {
  table.push(`${what}: ${measured} (at most ${most})`)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
