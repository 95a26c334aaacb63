import { expect, test } from 'bun:test'

import { csvRecord, withoutGuard } from '../../src/domain/csv.ts'

const FORMULAS = [
  '=1+1',
  '+1',
  '-1',
  '@sum',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1+1',
  '＋1',
  '－1',
  '＠sum',
]

test('a cell that a spreadsheet would run as a formula begins with an apostrophe, which is read away again', () => {
  for (const text of FORMULAS) {
    const cell = csvRecord([text]).trimEnd().replaceAll('"', '')

    expect(cell).toBe(`'${text}`)
    expect(withoutGuard(cell)).toBe(text)
  }
  expect(csvRecord(['1-1', 'a=b', "'quoted'"])).toBe("1-1,a=b,'quoted'\r\n")
})
