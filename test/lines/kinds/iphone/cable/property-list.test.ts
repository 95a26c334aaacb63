// Property lists in both forms: that they come through whole, and that no list, however it is made, is
// followed too far, printed, or quoted.

import { expect, spyOn, test } from 'bun:test'

import * as fc from 'fast-check'

import {
  parsePropertyList,
  xmlPropertyList,
} from '../../../../../src/lines/kinds/iphone/cable/property-list.ts'
import { PropertyListError, type PropertyValue } from '../../../../../src/system/binary-plist.ts'
import {
  arrayObject,
  binaryOf,
  binaryPropertyList,
  marker,
  trailer,
} from '../../../../support/iphone/binary-plist-writer.ts'
import { PAIR_RECORD } from '../../../../support/iphone/fake-phones.ts'

const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'

/** Made by Python's plistlib, which has no code in common with ours. */
const OF_PLISTLIB = `
YnBsaXN0MDDfEBEBAgMEBQYHCAkKCwwNDg8QERITFBUWHB0eHzAxMjM0NTYgVWFzY2lpVGJ5dGVUZGF0YVRkYXRl
VGRlZXBVZW1wdHlVZmFsc2VTaW50VGxpc3RUbG9uZ1huZWdhdGl2ZVRub25lVHJlYWxVc2hvcnRUdGV4dFR0cnVl
VHplcm9WaVBob25lEP9PEBQAAQIDBAUGBwgJCgsMDQ4PEBESEzNByFjRkAAAANEXGFZkZWVwZXKhGdEaG1dkZWVw
ZXN0U3llc9AIEv////+vEBAgISIjJCUmJygpKissLS4vEAAQARACEAMQBBAFEAYQBxAIEAkQChALEAwQDRAOEA8T
AAABAAAAAAAT/////////9agI7/gAAAAAAAAEf//aABHAGUAcgDkAHQAINg93PEJAAgALQAzADgAPQBCAEcATQBT
AFcAXABhAGoAbwB0AHoAfwCEAIkAkACSAKkAsgC1ALwAvgDBAMkAzQDOAM8A1ADnAOkA6wDtAO8A8QDzAPUA9wD5
APsA/QD/AQEBAwEFAQcBEAEZARoBIwEmATcAAAAAAAACAQAAAAAAAAA3AAAAAAAAAAAAAAAAAAABOA==`

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function xml(body: string): Uint8Array {
  return bytes(`${HEAD}<plist version="1.0">${body}</plist>\n`)
}

/** The message of the refusal; throws where the list was read. */
function refusalOf(list: Uint8Array): string {
  try {
    parsePropertyList(list)
  } catch (error) {
    if (error instanceof PropertyListError) return error.message
    throw error
  }
  throw new Error('It was read.')
}

test('every kind of value comes through XML as it went in', () => {
  const value: PropertyValue = {
    text: 'a & <b> "c" \'d\' \u00e4\u{1F4F1}\nnext',
    nothing: '',
    whole: 4_294_967_295,
    negative: -7,
    real: 0.25,
    yes: true,
    no: false,
    // A view into the middle of something larger.
    data: new Uint8Array([0, 1, 2, 3, 255]).subarray(1, 4),
    list: ['one', { deep: ['two'] }],
    none: [],
    empty: {},
  }

  const read = parsePropertyList(bytes(xmlPropertyList(value)))

  expect(read).toEqual(value)
  expect(parsePropertyList(xml('<array><date>2026-11-21T10:00:00Z</date></array>'))).toEqual([])
})

test('XML is read as a Mac writes it: with tabs, and data over several lines', () => {
  const body =
    '\n<dict>\n\t<key>Data</key>\n\t<data>\n\tAAEC\n\tAwQ=\n\t</data>\n\t<key>On</key>\n\t<true/>\n</dict>\n'

  const read = parsePropertyList(xml(body))

  expect(read).toEqual({ Data: new Uint8Array([0, 1, 2, 3, 4]), On: true })
})

test('the binary form is read as another program writes it', () => {
  const read = parsePropertyList(Buffer.from(OF_PLISTLIB, 'base64'))

  expect(read).toEqual({
    text: 'Ger\u00e4t \u{1F4F1}',
    ascii: 'iPhone',
    true: true,
    false: false,
    zero: 0,
    byte: 255,
    short: 65_535,
    int: 4_294_967_295,
    negative: -42,
    long: 1_099_511_627_776,
    real: -0.5,
    data: new Uint8Array(Array(20).keys()),
    list: [...Array(16).keys()],
    empty: {},
    none: [],
    deep: { deeper: [{ deepest: 'yes' }] },
  })
})

test('a pair record is the same in XML, as Linux keeps it, and in binary, as macOS does', () => {
  const fromXml = parsePropertyList(bytes(xmlPropertyList(PAIR_RECORD)))
  const fromBinary = parsePropertyList(binaryPropertyList(PAIR_RECORD))

  expect(fromBinary).toEqual(fromXml)
  expect(Object.keys(fromXml).sort()).toEqual(Object.keys(PAIR_RECORD).sort())
})

const ODD_XML: readonly (readonly [what: string, list: Uint8Array])[] = [
  [
    'an entity of its own',
    bytes(`<!DOCTYPE plist [<!ENTITY a "secret">]><plist><string>&a;</string></plist>`),
  ],
  ['an entity that nobody knows', xml('<string>&secret;</string>')],
  ['a bare ampersand', xml('<string>a & secret</string>')],
  ['a comment', xml('<string>a</string><!-- </plist> secret -->')],
  ['a section of characters', xml('<string><![CDATA[secret]]></string>')],
  ['an instruction', xml('<?secret?><string>a</string>')],
  ['an attribute', xml('<string a=secret>a</string>')],
  ['an unknown element', xml('<secret/>')],
  ['an element within a text', xml('<string>a<true/></string>')],
  ['text outside of values', xml('<dict>secret</dict>')],
  ['elements that cross', xml('<dict><array></dict></array>')],
  ['an end that is empty too', xml('<dict></dict/>')],
  ['two values', xml('<true/><string>secret</string>')],
  ['no value', bytes('<plist version="1.0"/>')],
  ['two lists', Buffer.concat([xml('<true/>'), xml('<string>secret</string>')])],
  ['a list in a list', xml('<plist><true/></plist>')],
  ['no end', bytes(`${HEAD}<plist><dict><key>secret`)],
  ['a key without a value before another', xml('<dict><key>a</key><key>secret</key></dict>')],
  ['a value without a key', xml('<dict><string>secret</string></dict>')],
  ['a key that reaches into the program', xml('<dict><key>__proto__</key><true/></dict>')],
  ['a number that is none', xml('<integer/>')],
  ['another document', bytes('<html>secret</html>')],
  ['no document', bytes('secret')],
  ['nothing', bytes('')],
]

test.each(ODD_XML)('XML with %s is refused, printed nowhere and quoted nowhere', (_, list) => {
  const spies = [spyOn(console, 'error'), spyOn(console, 'warn'), spyOn(console, 'log')]

  const refusal = refusalOf(list)

  const printed = spies.flatMap((spy) => spy.mock.calls)
  for (const spy of spies) spy.mockRestore()
  expect(refusal).not.toContain('secret')
  expect(printed).toEqual([])
})

test('32 levels are read, and not one more, in either form', () => {
  const nested = (depth: number): PropertyValue[] => (depth === 1 ? [] : [nested(depth - 1)])
  const binary = (depth: number) =>
    binaryOf([...Array(depth).keys()].map((i) => arrayObject(i + 1 === depth ? [] : [i + 1])))

  const read = [xmlPropertyList(nested(32)), binary(32)].map((list) =>
    parsePropertyList(typeof list === 'string' ? bytes(list) : list),
  )

  expect(read).toEqual([nested(32), nested(32)])
  expect(refusalOf(bytes(xmlPropertyList(nested(33))))).toContain('too deeply')
  expect(refusalOf(binary(33))).toContain('larger than it looks')
  expect(refusalOf(xml('<array>'.repeat(200_000)))).toContain('too deeply')
})

test('16 MiB are the most, and 100,000 values', () => {
  const long = Buffer.alloc(16 * 1_048_576 + 1, ' ')
  const many = xml(`<array>${'<true/>'.repeat(100_001)}</array>`)

  expect(refusalOf(long)).toContain('too long')
  expect(refusalOf(many)).toContain('too many')
})

test('a megabyte of white space is refused or read as fast as anything else', () => {
  const space = ' '.repeat(1_048_576)
  const heads = ['', '<?xml version="1.0"?>', '<!DOCTYPE plist PUBLIC "a" "b">', '<!DOCTYPE plist']

  for (const head of heads) expect(refusalOf(Buffer.from(`${head}${space}x`))).toContain('begin')
  expect(parsePropertyList(Buffer.from(`${space}<plist><true/></plist>${space}`))).toBe(true)
})

const TEXT = Buffer.concat([marker(0x5, 3), Buffer.from('abc')])
const ODD_BINARY: readonly (readonly [what: string, list: Uint8Array])[] = [
  ['that contains itself', binaryOf([arrayObject([0])])],
  // Each of 15 arrays holds the next one 15 times: 15^15 values in 600 bytes.
  [
    'that is small and unfolds without end',
    binaryOf(
      [...Array(16).keys()].map((i) => (i === 15 ? TEXT : arrayObject(Array(15).fill(i + 1)))),
    ),
  ],
  [
    'with a long text a thousand times',
    binaryOf([
      arrayObject(Array(1_000).fill(1)),
      Buffer.concat([marker(0x5, 50_000), Buffer.alloc(50_000, 'a')]),
    ]),
  ],
  ['whose array is longer than the list', binaryOf([marker(0xa, 4_000_000_000), TEXT])],
  ['whose text is longer than the list', binaryOf([marker(0x5, 60_000), TEXT])],
  ['that leads to an object that is not there', binaryOf([arrayObject([9])])],
  ['whose count is no whole number', binaryOf([Buffer.from([0xaf, 0x52, 0, 0, 0, 0])])],
  [
    'whose count is wider than any list',
    binaryOf([Buffer.from([0xaf, 0x14, ...Array(16).fill(255)])]),
  ],
  ['with an object of no kind', binaryOf([Buffer.from([0xe0])])],
  ['with a number of an archive', binaryOf([Buffer.from([0x80, 0x01])])],
  [
    'whose references have no width',
    Buffer.concat([
      Buffer.from('bplist00'),
      marker(0xa, 4_000_000_000),
      Buffer.from([0, 0, 0, 8]),
      trailer({ objects: 1, table: 14, referenceBytes: 0 }),
    ]),
  ],
  [
    'of more objects than it has bytes',
    Buffer.concat([Buffer.from('bplist00'), TEXT, trailer({ objects: 4_000_000_000, table: 12 })]),
  ],
  [
    'whose table lies behind it',
    Buffer.concat([Buffer.from('bplist00'), TEXT, trailer({ objects: 1, table: 900 })]),
  ],
  [
    'whose top is not there',
    Buffer.concat([
      Buffer.from('bplist00'),
      TEXT,
      Buffer.alloc(4),
      trailer({ objects: 1, table: 12, top: 3 }),
    ]),
  ],
  ['without a trailer', Buffer.from('bplist00')],
]

test.each(ODD_BINARY)('a binary list %s is refused', (_, list) => {
  expect(refusalOf(list)).toContain('binary property list')
})

test('a list that is damaged anywhere is read or refused, and nothing of it is printed', () => {
  const spies = [spyOn(console, 'error'), spyOn(console, 'warn'), spyOn(console, 'log')]
  const whole = [bytes(xmlPropertyList(PAIR_RECORD)), Buffer.from(OF_PLISTLIB, 'base64')]
  const damage = fc.tuple(
    fc.constantFrom(...whole),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 38, 47, 60, 62, 91, 255)), { maxLength: 4 }),
    fc.option(fc.nat()),
  )
  let refused = 0

  fc.assert(
    fc.property(damage, ([list, changes, cut]) => {
      const copy = new Uint8Array(list)
      for (const [at, byte] of changes) copy[at % copy.byteLength] = byte
      try {
        parsePropertyList(cut === null ? copy : copy.subarray(0, cut % copy.byteLength))
      } catch (error) {
        expect(error).toBeInstanceOf(PropertyListError)
        refused += 1
      }
    }),
    { numRuns: 1_000, seed: 1 },
  )

  const printed = spies.flatMap((spy) => spy.mock.calls)
  for (const spy of spies) spy.mockRestore()
  expect(printed).toEqual([])
  expect(refused).toBeGreaterThan(400)
})
