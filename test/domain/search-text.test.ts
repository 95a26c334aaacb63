import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { digitsIn, excerptOf, folded, wordsOf } from '../../src/domain/search-text.ts'

test('an excerpt marks only what was asked for, inside of itself', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 400 })
  fc.assert(
    fc.property(text, fc.array(fc.constantFrom('a', 'ab', 'ü', 'ß', '🙂')), (given, query) => {
      const words = wordsOf(query.join(' '))
      const { text: shown, ranges } = excerptOf(given, words)
      const points = Array.from(shown)
      expect(given).toContain(shown)
      expect(points.length).toBeLessThanOrEqual(160)
      for (const { offset, length } of ranges) {
        expect(length).toBeGreaterThan(0)
        expect(offset + length).toBeLessThanOrEqual(points.length)
        const marked = folded(points.slice(offset, offset + length).join(''))
        expect(words.some((word) => marked.includes(word[0] ?? ''))).toBe(true)
      }
    }),
  )
})

test('case and accents are left aside, and a Korean syllable stays whole', () => {
  expect(folded('ÀÉÎ Straße ΑΒΓ 한국')).toBe('aei strasse αβγ 한국')
  expect(wordsOf('  Müller  müller 한국 ')).toEqual(['muller', '한국'])
})

test('a number is known by its digits, without the zeros of one country', () => {
  expect(digitsIn('(0170) 123-45')).toBe('17012345')
  expect(digitsIn('0049 170')).toBe('49170')
  expect(digitsIn('+1 213')).toBe('1213')
  expect(digitsIn('0')).toBe('0')
  expect(digitsIn('4 eggs')).toBeNull()
  expect(digitsIn('--')).toBeNull()
})
