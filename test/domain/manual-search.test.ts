import { expect, test } from 'bun:test'

import { sectionFinder, type Section } from '../../src/domain/manual-search.ts'

const section = (place: string, heading: string, text: string): Section => {
  return { href: `/guide/${heading}`, place, heading, text }
}
const find = sectionFinder([
  section('Webhooks', 'Retries', 'A signature is checked before each retry.'),
  section('Webhooks', 'Signatures', 'Check the signature of each delivery.'),
  section('Keys', 'Café', 'Rotate a key that signs in Zürich.'),
])
const headings = (query: string) => find(query).map(({ heading }) => heading)

test('a section is found by all words of the query, a heading before a text', () => {
  expect(headings('signature')).toEqual(['Signatures', 'Retries'])
  expect(headings('signature retry')).toEqual(['Retries'])
  expect(headings('signature nowhere')).toEqual([])
})

test('case, accents and the place of a word do not matter', () => {
  expect(headings('CAFE')).toEqual(['Café'])
  expect(headings('zurich keys')).toEqual(['Café'])
})

test('an empty query finds nothing', () => {
  expect(headings('  ')).toEqual([])
})
