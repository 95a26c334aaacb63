import { expect, test } from 'bun:test'

import { momentWords, sizeWords, variableOf } from '../../src/dashboard/settings-words.ts'
import { environmentOfSetting, SETTING_NAMES } from '../../src/domain/setting.ts'

const KB = 1_024
const NOON = Date.parse('2026-11-21T12:00:00.000Z')

test('a size is written in the unit that fits it', () => {
  const sizes = [0, 500, 1.5 * KB, 236 * KB, 1_023.9 * KB, KB ** 2, 12 * KB ** 2, 1.4 * KB ** 3]

  expect(sizes.map(sizeWords)).toEqual([
    '1.0 KB',
    '1.0 KB',
    '1.5 KB',
    '236 KB',
    '1.0 MB',
    '1.0 MB',
    '12 MB',
    '1.4 GB',
  ])
})

test('a moment is written as its day and time', () => {
  const moments = [NOON, NOON - 86_400_000, Date.parse('2025-03-02T12:00:00.000Z')]

  expect(moments.map((at) => momentWords(new Date(at).toISOString(), NOON))).toEqual([
    expect.stringMatching(/^Today, \d+:\d\d [AP]M$/),
    expect.stringMatching(/^Yesterday, \d+:\d\d [AP]M$/),
    expect.stringMatching(/^Mar 2, 2025, \d+:\d\d [AP]M$/),
  ])
})

test('a locked setting names the variable that locks it', () => {
  expect(SETTING_NAMES.map(variableOf)).toEqual(SETTING_NAMES.map(environmentOfSetting))
})
