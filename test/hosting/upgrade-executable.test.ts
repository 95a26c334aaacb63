import { expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'

import {
  aboutExecutable,
  copyExecutable,
  publishedSum,
} from '../../src/hosting/upgrade-executable.ts'
import { restrictNewFiles } from '../../src/system/files.ts'
import type { ProcessEnd, RunProcess } from '../../src/system/process.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'

const SUM = 'a'.repeat(64)
const OTHER = 'b'.repeat(64)

test('the copy has the bytes, their sum, and may be executed by everyone', () => {
  using folder = new ScratchFolder()
  restrictNewFiles()
  const bytes = crypto.getRandomValues(new Uint8Array(65_536))
  const content = Buffer.concat(Array.from({ length: 40 }, () => bytes))
  writeFileSync(folder.file('from'), content, { mode: 0o600 })

  const sum = copyExecutable(folder.file('from'), folder.file('to'))

  expect(readFileSync(folder.file('to')).equals(content)).toBe(true)
  expect(sum).toBe(new Bun.CryptoHasher('sha256').update(content).digest('hex'))
  expect((statSync(folder.file('to')).mode & 0o777).toString(8)).toBe('755')
})

const OWN = 'hookline.sha256'
const ALL = 'SHA256SUMS'
const SUMS: readonly (readonly [string, Readonly<Record<string, string>>, string | null])[] = [
  ['a file of its own', { [OWN]: `${SUM}  hookline\n` }, SUM],
  ['a file of its own, bare', { [OWN]: SUM }, null],
  ['a file of its own, with another name', { [OWN]: `${SUM}  any-name\n` }, null],
  ['a file of its own, in capitals', { [OWN]: `${SUM.toUpperCase()}  hookline\r\n` }, SUM],
  ['its line among others', { [ALL]: `${OTHER}  hookline-x\n${SUM}  hookline\n` }, SUM],
  ['its line, marked as binary', { [ALL]: `${SUM} *hookline\n` }, SUM],
  ['both, which differ', { [OWN]: `${SUM}  hookline`, [ALL]: `${OTHER}  hookline\n` }, SUM],
  [
    'the line among others where its own file names another',
    { [OWN]: `${OTHER}  hookline-x\n`, [ALL]: `${SUM}  hookline\n` },
    SUM,
  ],
  ['the line of another file', { [ALL]: `${OTHER}  hookline-x\n` }, null],
  ['a bare line among the sums', { [ALL]: `${SUM}\nhookline\n` }, null],
  ['something shorter', { [OWN]: `${SUM.slice(1)}  hookline` }, null],
  ['nothing', {}, null],
]

test.each(SUMS)('the published sum is read from %s, or there is none: %j', (_, files, sum) => {
  using folder = new ScratchFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.file(name), text)

  expect(publishedSum(folder.file('hookline'))?.sum ?? null).toBe(sum)
})

const ANSWERS: readonly (readonly [end: ProcessEnd, about: unknown])[] = [
  [exited(0, '{"version":"1.2.3","schema":4,"bun":"x"}\n'), { version: '1.2.3', schema: 4 }],
  [exited(1, '{"version":"1.2.3","schema":4}'), null],
  [exited(0, 'hookline 1.2.3'), null],
  [exited(0, '{"version":"1.2.3"}'), null],
  [exited(0, 'null'), null],
  [{ end: 'killed', why: 'timeout', stdout: '', stderr: '' }, null],
  [{ end: 'not_started', why: 'ENOEXEC' }, null],
]

for (const [end, about] of ANSWERS) {
  test(`an executable that answers ${JSON.stringify(end)} is ${JSON.stringify(about)}`, async () => {
    const orders: unknown[] = []
    const run: RunProcess = async ({ path, args }) => {
      orders.push([path, ...args])
      return end
    }

    const told = await aboutExecutable(run, '/opt/hookline', new AbortController().signal)

    expect(told as unknown).toEqual(about)
    expect(orders).toEqual([['/opt/hookline', 'version', '--json']])
  })
}

function exited(exitCode: number, stdout: string): ProcessEnd {
  return { end: 'exited', exitCode, stdout, stderr: '' }
}
