// Files of contacts as people have them: whatever is in one, every good row comes out of it.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { commonHome, groupedNumber, understandRecipient } from '../../src/domain/handle.ts'
import type { Card } from '../../src/people/card.ts'
import { decodeContacts, readContacts } from '../../src/people/contact-file.ts'

type Person = { readonly name: string; readonly number: string; readonly note: string }

const cardsOf = (text: string): readonly Card[] =>
  [...readContacts(text).cards].filter((card) => card !== null)

/** Words without the characters that separate tags or recipients. */
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((text) => {
  return `n${text.replaceAll(/[\s\0\uFEFF]/g, ' ').trim()}n`
})
const person = fc.record({
  name: words,
  number: fc.integer({ min: 2_000_000, max: 9_999_999 }).map((number) => `+1202${number}`),
  note: words,
})

test('no text and no bytes make a reader fail, or read for ever', () => {
  const mark = fc.constantFrom(
    'BEGIN:VCARD\n',
    'END:VCARD\n',
    'TEL:',
    '"',
    '""',
    ',',
    ';',
    '\n',
    '\r',
    '=',
    ' ',
  )
  const text = fc.array(fc.oneof(mark, fc.string()), { maxLength: 60 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, (given) => {
      const cards = cardsOf(given)
      expect(cards.every((card) => card.end <= given.length)).toBe(true)
      expect(cards.length).toBeLessThanOrEqual(given.length)
    }),
    { numRuns: 1_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void cardsOf(decodeContacts(bytes))),
    { numRuns: 500 },
  )
})

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

test('every good row of a table is read, whatever stands in the rows beside it', () => {
  const broken = fc.constantFrom(
    '"never closed',
    'a"b",,',
    ',,,,,,,',
    '"a"b,c',
    'x'.repeat(500),
    '""")',
  )
  const rows = fc.array(fc.oneof(person, broken), { minLength: 1, maxLength: 20 })
  const delimiter = fc.constantFrom(',', ';', '\t')
  fc.assert(
    fc.property(rows, delimiter, fc.constantFrom('\n', '\r\n'), (given, separator, end) => {
      const head = ['Name', 'Phone', 'Notes'].join(separator)
      const lines = given.map((row) =>
        typeof row === 'string'
          ? row
          : [row.name, row.number, row.note].map(quoted).join(separator),
      )
      const cards = cardsOf(`\uFEFF${[head, ...lines].join(end)}${end}`)
      const found = cards.map(({ name, note, recipients }) => [name, recipients[0] ?? '', note])
      const wanted = given.flatMap((row) => (typeof row === 'string' ? [] : [row]))
      for (const { name, number, note } of wanted)
        expect(found).toContainEqual([name, number, note])
    }),
    { numRuns: 500 },
  )
})

const escaped = (text: string) => text.replaceAll(/[\\;,]/g, String.raw`\$&`)

function cardText({ name, number, note }: Person): string {
  return [
    'BEGIN:VCARD',
    'VERSION:4.0',
    `FN:${escaped(name)}`,
    `TEL:${number}`,
    `NOTE:${escaped(note)}`,
    'END:VCARD',
  ]
    .map((line) =>
      Array.from(line).reduce(
        (all, point, i) => all + (i > 0 && i % 70 === 0 ? `\r\n ` : '') + point,
        '',
      ),
    )
    .join('\r\n')
}

test('every whole vCard is read, also between some that were cut off', () => {
  const broken = fc.constantFrom(
    'BEGIN:VCARD\nFN:Cut off',
    'END:VCARD',
    'nonsense',
    'PHOTO:' + 'A'.repeat(300),
    'TEL',
  )
  const parts = fc.array(fc.oneof(person, broken), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(parts, (given) => {
      const text = given
        .map((part) => (typeof part === 'string' ? part : cardText(part)))
        .join('\r\n')
      const found = cardsOf(`BEGIN:VCARD\r\nEND:VCARD\r\n${text}`)
      const shown = found.map(({ name, note, recipients }) => [name, recipients, note])
      for (const part of given) {
        if (typeof part !== 'string')
          expect(shown).toContainEqual([part.name, [part.number], part.note])
      }
    }),
    { numRuns: 500 },
  )
})

test('a file made to choke a reader is read to its end, with a turn for others in each thousand lines', () => {
  const bombs = [
    'BEGIN:VCARD\n'.repeat(50_000),
    `BEGIN:VCARD\nFN:a\n${' b\n'.repeat(100_000)}TEL:+12025550147\nEND:VCARD\n`,
    `BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:${'=\n'.repeat(50_000)}\nEND:VCARD\n`,
    `Name,Phone\n${'"'.repeat(200_000)}`,
    `Name,Phone\n${'"a\n'.repeat(30_000)}`,
    `Name,Phone\n${'"""\n'.repeat(30_000)}`,
    `${','.repeat(200_000)}\n`,
    `${'a@'.repeat(200_000)}\n`,
    '\n'.repeat(200_000),
    `BEGIN:VCARD\nFN${';A'.repeat(100_000)}\n${' \n'.repeat(200_000)}`,
    `BEGIN:VCARD\n${'TEL:1\n'.repeat(100_000)}`,
    `BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:${'=41a'.repeat(200_000)}`,
    '\nBEGIN:VCARD'.repeat(10_000) + '\nEND:VCARD'.repeat(10_000),
  ]
  for (const bomb of bombs) {
    const turns = [...readContacts(bomb).cards].length
    const lines = bomb.split('\n').length

    expect(turns).toBeGreaterThanOrEqual(Math.floor(lines / 1_000))
  }
})

test('exports of Google, Outlook and a German spreadsheet are understood', () => {
  const google =
    'First Name,Middle Name,Last Name,Organization Name,Notes,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value\n' +
    'Anna,,Miller,,tea,* myContacts ::: friends,Home,a@example.com,Mobile,+1 202-555-0147 ::: +1 202-555-0148\n' +
    ',,,Bakery,,,,,Work,+12025550149\n'
  expect(cardsOf(google)).toMatchObject([
    {
      row: 2,
      name: 'Anna Miller',
      note: 'tea',
      tags: ['myContacts', 'friends'],
      recipients: ['a@example.com', '+1 202-555-0147', '+1 202-555-0148'],
    },
    { row: 3, name: 'Bakery', recipients: ['+12025550149'] },
  ])
  const german = 'Vorname;Nachname;Mobiltelefon;Notizen\nJörg;Müller;0170 1234567;"a;b"\n'
  expect(cardsOf(german)).toMatchObject([
    { name: 'Jörg Müller', recipients: ['0170 1234567'], note: 'a;b' },
  ])
  const bare = '+12025550147\tAnna\tlikes tea\n\nBob\tbob@example.com\n'
  expect(cardsOf(bare)).toMatchObject([
    { row: 1, name: 'Anna', note: 'likes tea', recipients: ['+12025550147'] },
    { row: 3, name: 'Bob', recipients: ['bob@example.com'] },
  ])
})

const GERMANY = commonHome(['+491701234500'])
const AMERICA = commonHome(['+12025550101', '+12025550102'])

const WRITTEN: readonly (readonly [string, ReturnType<typeof commonHome>, string])[] = [
  ['0170 1234567', GERMANY, '+491701234567'],
  ['(0170) 123-4567', GERMANY, '+491701234567'],
  ['0049 170 1234567', AMERICA, '+491701234567'],
  ['+49 (170) 123 45 67', null, '+491701234567'],
  ['+49 (0)170 1234567', null, '+491701234567'],
  ['(202) 555-0147', AMERICA, '+12025550147'],
  ['1-202-555-0147', AMERICA, '+12025550147'],
  ['202.555.0147', AMERICA, '+12025550147'],
  ['+1 213 000 0007', null, '+12130000007'],
  [' Anna@Example.com ', null, 'anna@example.com'],
]

for (const [written, home, handle] of WRITTEN) {
  test(`${written} is ${handle}`, () => {
    expect(understandRecipient(written, home)).toMatchObject({ handle })
  })
}

const REFUSED: readonly (readonly [string, ReturnType<typeof commonHome>])[] = [
  ['0170 1234567', null],
  ['555-0147', AMERICA],
  ['12345', GERMANY],
  ['4917012345678', GERMANY],
  ['202-555-0147 ext 5', AMERICA],
  ['4.91701E+11', GERMANY],
  ['+123', null],
  ['', GERMANY],
  ['Anna', GERMANY],
  ['a@b', null],
  ['9'.repeat(5_000), AMERICA],
]

for (const [written, home] of REFUSED) {
  test(`${written.slice(0, 20) || 'nothing'} is refused with a reason, not guessed`, () => {
    expect(understandRecipient(written, home)).toEqual({
      why: expect.stringMatching(/^(is|has|may) /),
    })
  })
}

test('whatever is printed in groups is read back as the same number', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\+[1-9][0-9]{6,14}$/), (number) => {
      expect(groupedNumber(number).replaceAll(/[^+\d]/g, '')).toBe(number)
    }),
  )
  expect(groupedNumber('anna@example.com')).toBe('anna@example.com')
  expect(groupedNumber('22000')).toBe('22000')
})

test('lines of several countries have none in common', () => {
  expect(commonHome(['+12025550101', '+491701234500'])).toBeNull()
  expect(commonHome([])).toBeNull()
})
