import { expect, test } from 'bun:test'

import { sizeWords } from '../../src/dashboard/words/common.ts'
import { momentWords, variableOf } from '../../src/dashboard/words/settings.ts'
import { environmentOfSetting, SETTING_NAMES } from '../../src/domain/setting.ts'

const KB = 1_024
const NOON = Date.parse('2026-11-21T12:00:00.000Z')

test('a size is written in the unit that fits it', () => {
  const sizes = [0, 500, 1.5 * KB, 236 * KB, 1_023.9 * KB, KB ** 2, 12 * KB ** 2, 1.4 * KB ** 3]

  expect(sizes.map(sizeWords)).toEqual([
    '1 kB',
    '1 kB',
    '1.5 kB',
    '236 kB',
    '1 MB',
    '1 MB',
    '12 MB',
    '1.4 GB',
  ])
})

test('a moment is written as its date and time', () => {
  const moment = momentWords(new Date(NOON).toISOString())

  expect(moment).toContain('2026')
  expect(moment).toMatch(/\d\d?:\d\d/)
})

test('a locked setting names the variable that locks it', () => {
  expect(SETTING_NAMES.map(variableOf)).toEqual(SETTING_NAMES.map(environmentOfSetting))
})
