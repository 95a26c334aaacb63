// The manual is done as it says: `bun scripts/manual-check.ts` does all of it, this file the quick blocks of two guides
// and what must be found.

import { expect, test } from 'bun:test'

import { blocksOf } from '../../scripts/manual/blocks.ts'
import { differences, missingWords } from '../../scripts/manual/compare.ts'
import { checkGuide } from '../../scripts/manual/runner.ts'
import { findGuide } from '../../src/guides/guides.ts'

/** The outcomes of a guide's first blocks, without what isn't run. */
async function outcomes(markdown: string, count: number): Promise<readonly string[]> {
  const blocks = blocksOf('api', markdown).slice(0, count)
  const found = await checkGuide(markdown, blocks)
  return found.map(({ block, what, note }) => `${block.language} ${what} ${note}`.trim())
}

test.each(['api', 'webhooks'])(
  'what the guide %s shows first is what a relay answers',
  async (name) => {
    expect(await outcomes(findGuide(name)?.text ?? '', 2)).toEqual(['sh run', 'json compared'])
  },
)

test('a command that is refused and an answer with another field are wrong', async () => {
  const wrong = (findGuide('api')?.text ?? '')
    .replace('"to":"+12025550123"', '"too":"+12025550123"')
    .replace('"guid":', '"uuid":')

  const [command, answer] = await outcomes(wrong, 2)

  expect(command).toStartWith('sh wrong')
  expect(answer).toStartWith('json wrong')
})

test.each([
  [
    'another value',
    { service: 'iMessage' },
    { service: 'SMS' },
    ['.service is "SMS", not "iMessage"'],
  ],
  ['another kind of value', { count: 1 }, { count: '1' }, ['.count is string, not number']],
  ['a field too few', { a: 1, b: 2 }, { a: 1 }, ['there is no .b']],
  ['a field too many', { a: 1 }, { a: 1, b: 2 }, ['.b is not shown']],
  [
    'a list of others',
    { data: [{ a: 1 }] },
    { data: [{ b: 1 }] },
    ['there is no .data[0].a', '.data[0].b is not shown'],
  ],
  ['other ids and times', { id: `msg_${'0'.repeat(26)}` }, { id: `msg_${'1'.repeat(26)}` }, []],
  ['what the manual cuts', { a: 1, '…': '…' }, { a: 1, b: 2 }, []],
])('an answer with %s', (_, shown, actual, problems) => {
  expect(differences(shown, actual)).toEqual(problems)
})

test('a comment that shows what is printed is compared field by field', () => {
  const shown = '{"id":"msg_01m85xn21we00r9777rfr3wd5w", … "status":"queued"}'

  expect(missingWords(shown, '{"id":"msg_1","status":"queued"}')).toEqual([])
  expect(missingWords(shown, '{"id":"msg_1","status":"sent"}')).toEqual(['"status":"queued"'])
  expect(missingWords('HTTP/1.1 200 OK', 'HTTP/1.1 202 Accepted')).toEqual(['HTTP/1.1 200 OK'])
})
