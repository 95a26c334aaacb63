import { expect, test } from 'bun:test'

import { isFailing, isOfLine } from '../../src/health/line-findings.ts'

const JUDGED: readonly (readonly [failed: number, wasFailing: boolean, isBad: boolean])[] = [
  [0, false, false],
  [2, false, false],
  [3, false, true],
  [10, false, true],
  [2, true, true],
  [1, true, false],
]

test('a line fails from three failures of its last ten on, and is well again below two', () => {
  expect(JUDGED.filter(([failed, was, isBad]) => isFailing(failed, was) !== isBad)).toEqual([])
})

test('a failure speaks against the line unless the recipient, the text, the owner or the way is the reason', () => {
  const codes = ['send_failed', 'imessage_account_problem', 'line_refused', null]
  const others = ['not_on_imessage', 'recipient_rejected', 'resolved_by_hand', 'withdrawn']

  expect(codes.map(isOfLine)).toEqual([true, true, true, true])
  expect(others.map(isOfLine)).toEqual([false, false, false, false])
})
