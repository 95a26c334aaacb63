// Signatures made by minisign 0.11, of Debian 12.

import { expect, test } from 'bun:test'

import { parseMinisignKey, verifyMinisign } from '../../src/system/minisign.ts'

const KEY = 'RWSwEIg+QAM/hCsdyapWHHnplo8g+iYl1538itb6q+LYKZi93rJctO/L'
const CONTENT = Buffer.from('bike ready\n')
/** As `minisign -S` writes it, over the hash of the file. */
const HASHED = `untrusted comment: signature from minisign secret key
RUSwEIg+QAM/hKmsKAp5YGh4soyejkREHufxRdyIYzwqFudHlcfkCC0T4m4v8Z1Ln6PA5F6+wUxTcBkuGQQBoI6nkakOEbmqcQk=
trusted comment: hookline 1.2.3
c1uWLyQYLCfP3DDsTKThZ8wmFjgDXu0UVDDwb6KTacIW57GnlYMpplTdtEQG4M7Byg4MKRpaKGWuDNsvJqfJAA==
`
/** As `minisign -S -l` writes it, over the file itself. */
const DIRECT = `untrusted comment: signature from minisign secret key
RWSwEIg+QAM/hL0XpbTrrSJEHEvKzBzmfL0MbidMbhl/nerC4LZFpm3fqpJ7Mt2+oxlOj9GgZk/R61z2RxLCnyNQnBTpykm3Lwc=
trusted comment: hookline 1.2.3
33rTHPYiunhh94aqdMngKVKjjd73ZMMy9SiozhsDR5xRDC8LCe/XgJPC1TcrZ5kIBlgt5UYy48uZN0ZM8CKNDA==
`

test('a signature over the hash and one over the file itself are genuine', () => {
  const key = parseMinisignKey(`untrusted comment: minisign public key 843F03403E8810B0\n${KEY}\n`)

  expect(verifyMinisign(key, CONTENT, HASHED)).toBe('hookline 1.2.3')
  expect(verifyMinisign(key, CONTENT, DIRECT)).toBe('hookline 1.2.3')
  expect(verifyMinisign(key, CONTENT, HASHED.replaceAll('\n', '\r\n'))).toBe('hookline 1.2.3')
})

const OTHER_ID = KEY.replace('RWSwEIg', 'RWSwEIh')
const OTHER_BYTES = `${KEY.slice(0, -2)}/K`

const FORGED: readonly (readonly [what: string, key: string, content: Buffer, text: string])[] = [
  ['other content', KEY, Buffer.from('bike readY\n'), HASHED],
  ['a changed trusted comment', KEY, CONTENT, HASHED.replace('1.2.3', '9.9.9')],
  ['a changed signature', KEY, CONTENT, HASHED.replace('RUSwEIg+QAM/hKms', 'RUSwEIg+QAM/hKmt')],
  ['one over the hash called one over the file', KEY, CONTENT, HASHED.replace('\nRU', '\nRW')],
  ['another algorithm', KEY, CONTENT, HASHED.replace('\nRU', '\nRV')],
  ['a key of another name', OTHER_ID, CONTENT, HASHED],
  ['a key of other bytes', OTHER_BYTES, CONTENT, HASHED],
  ['one without its second half', KEY, CONTENT, HASHED.split('\n').slice(0, 2).join('\n')],
  ['nothing', KEY, CONTENT, ''],
  ['something else', KEY, CONTENT, 'a\nb\nc\nd'],
]

test.each(FORGED)('%s is not genuine', (_what, key, content, text) => {
  expect(verifyMinisign(parseMinisignKey(key), content, text)).toBeNull()
})

test('what is no public key of minisign is refused', () => {
  for (const text of ['', 'RWS', KEY.slice(2), `${KEY}AAAA`]) {
    expect(() => parseMinisignKey(text)).toThrow('Not a minisign public key')
  }
})
