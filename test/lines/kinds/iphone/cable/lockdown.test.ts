// How a phone is read: what it reports to everybody, and what to computers that it trusts, through real TLS with
// the certificates of a made-up pairing. When phones are read is in phone-watch.test.ts.

import { expect, spyOn, test } from 'bun:test'

import { build } from 'plist'

import {
  phoneNumberOf,
  type PhoneReading,
  type PhoneTroubleReason,
} from '../../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { SELF_SIGNED } from '../../../../fixtures/self-signed.ts'
import { binaryPropertyList } from '../../../../support/iphone/binary-plist-writer.ts'
import { FACTS } from '../../../../support/iphone/fake-cable.ts'
import { lockdownFrame } from '../../../../support/iphone/fake-lockdown.ts'
import {
  PAIR_RECORD,
  secretsOfPairing,
  UDID,
  until,
} from '../../../../support/iphone/fake-phones.ts'
import { PhoneRig } from '../../../../support/iphone/phone-rig.ts'

/** A key and a certificate that belong together, and that the phone does not know. */
const FOREIGN_RECORD = {
  ...PAIR_RECORD,
  HostCertificate: Buffer.from(SELF_SIGNED.cert),
  HostPrivateKey: Buffer.from(SELF_SIGNED.key),
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a phone is read over %s', async (version) => {
  await using rig = await PhoneRig.start({ version })

  const reading = await rig.read()

  expect(reading).toEqual(FACTS)
})

test('nothing private is asked before the session is encrypted, and no connection stays', async () => {
  await using rig = await PhoneRig.start()

  await rig.read()

  const open = rig.phone.lockdown.requests.filter(({ isEncrypted }) => !isEncrypted)
  const asked = open.map(({ request, key }) => `${request} ${key ?? ''}`.trim())
  const values = ['DeviceName', 'ProductVersion'].map((key) => `GetValue ${key}`)
  expect(asked).toEqual([...values, 'StartSession'])
  await until(() => rig.phone.lockdown.openCount === 0, 'closed sessions')
  await until(() => rig.rig.mux.connectionCount === 0, 'closed connections')
})

test('a phone that does not trust this computer reports its name, and is asked for nothing more', async () => {
  await using rig = await PhoneRig.start()
  rig.phone.pairRecord = null

  const reading = await rig.read()

  expect(reading).toEqual({
    reading: 'trouble',
    udid: UDID,
    name: 'Line one',
    reason: 'not_trusted',
    why: 'There is no pair record for it.',
  })
  const asked = rig.phone.lockdown.requests.map(({ request }) => request)
  expect(asked).toEqual(['GetValue', 'GetValue'])
})

const WORDS: readonly (readonly [word: string, reason: PhoneTroubleReason])[] = [
  ['PasswordProtected', 'passcode_locked'],
  ['EscrowLocked', 'passcode_locked'],
  ['PairingDialogResponsePending', 'trust_dialog'],
  ['UserDeniedPairing', 'trust_denied'],
  ['InvalidHostID', 'pairing_stale'],
  ['MissingHostID', 'pairing_stale'],
  ['InvalidPairRecord', 'pairing_stale'],
  ['MissingPairRecord', 'pairing_stale'],
  ['InvalidService', 'unreadable'],
  ['Call +15559990000 <now>', 'unreadable'],
]

test('the reason for a refused session is the word of the phone, which is passed on if it is one', async () => {
  await using rig = await PhoneRig.start()
  const readings: PhoneReading[] = []

  for (const [word] of WORDS) {
    rig.phone.lockdown.refusal = word
    readings.push(await rig.read())
  }

  expect(readings).toEqual(
    WORDS.map(([word, reason]) => {
      const why = `The phone refused: ${word.startsWith('Call') ? 'unknown' : word}`
      return { reading: 'trouble', udid: UDID, name: 'Line one', reason, why }
    }),
  )
})

test('values that the phone does not have are null, and the rest is read', async () => {
  await using rig = await PhoneRig.start()
  rig.phone.lockdown.values.clear()
  rig.phone.lockdown.values.set('', { ProductVersion: '15.0' })

  const reading = await rig.read()

  expect(reading).toEqual({
    reading: 'facts',
    udid: UDID,
    name: 'iPhone',
    iosVersion: '15.0',
    number: null,
    battery: null,
    isDeveloperModeOn: null,
    language: null,
    isLocked: null,
    timeZone: null,
  })
})

test('a number is undressed to E.164, and one without its country is none', () => {
  const told = [
    '+1 (555) 123-0001',
    '\u202A+49\u00A01512\u00A03456789\u202C',
    '+33 6.12.34.56.78',
    '(555) 123-0001',
    '00491512345678',
    '+1 555 CALL NOW',
    ' ',
    '',
  ]

  const numbers = told.map(phoneNumberOf)

  expect(numbers.slice(0, 3)).toEqual(['+15551230001', '+4915123456789', '+33612345678'])
  expect(numbers.slice(3)).toEqual([null, null, null, null, null])
})

test('a phone that closes the connection within TLS is unreadable, whichever end it is', async () => {
  await using rig = await PhoneRig.start()

  rig.phone.lockdown.tlsTrouble = 'closes'
  const closed = await rig.read()
  rig.phone.lockdown.tlsTrouble = null
  rig.phone.pairRecord = Buffer.from(build(FOREIGN_RECORD, { pretty: true }))
  const foreign = await rig.read()

  const why = 'The encrypted session failed to start.'
  expect(closed).toMatchObject({ name: 'Line one', reason: 'unreadable', why })
  expect(foreign).toMatchObject({ name: 'Line one', reason: 'unreadable' })
})

test('a phone that hangs, in the open or in TLS, is given up after fifteen seconds', async () => {
  await using rig = await PhoneRig.start()
  const { lockdown } = rig.phone

  lockdown.tlsTrouble = 'hangs'
  const inTls = rig.read()
  await until(() => lockdown.requests.length === 3, 'a session')
  await rig.clock.advance(15_000)
  lockdown.isHanging = true
  const inTheOpen = rig.read()
  await until(() => lockdown.requests.length === 4, 'a question')
  await rig.clock.advance(15_000)

  const why = 'The phone does not answer in time.'
  expect(await inTls).toMatchObject({ name: 'Line one', reason: 'unreadable', why })
  expect(await inTheOpen).toMatchObject({ name: null, reason: 'unreadable', why })
  await until(() => lockdown.openCount === 0, 'closed connections')
})

test('one who leaves while a phone is read is not kept waiting', async () => {
  await using rig = await PhoneRig.start()
  const leaving = new AbortController()
  rig.phone.lockdown.tlsTrouble = 'hangs'

  const reading = rig.read(leaving.signal).catch((error: unknown) => error)
  await until(() => rig.phone.lockdown.requests.length === 3, 'a session')
  leaving.abort(new Error('left'))

  expect(await reading).toEqual(new Error('left'))
  await until(() => rig.phone.lockdown.openCount === 0, 'closed connections')
})

const ODD_ANSWERS: readonly Uint8Array[] = [
  Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  Buffer.concat([Buffer.from([0, 0, 0, 4]), Buffer.from('what')]),
  lockdownFrame([] as never), // The writer takes what a phone would not say.
  lockdownFrame({ Request: 'GetValue' }),
]

test('a phone whose answer is too long, no property list, no dictionary, or without a version is unreadable', async () => {
  await using rig = await PhoneRig.start()
  const readings: PhoneReading[] = []

  for (const answer of ODD_ANSWERS) {
    rig.phone.lockdown.onRequest = () => answer
    readings.push(await rig.read())
  }

  const unreadable = expect.objectContaining({ reason: 'unreadable' }) as unknown as PhoneReading
  expect(readings).toEqual(ODD_ANSWERS.map(() => unreadable))
})

test('a phone without lockdown, and one that has just gone, are unreadable', async () => {
  await using rig = await PhoneRig.start()

  rig.phone.ports.clear()
  const refused = await rig.read()
  rig.rig.mux.onRequest = ({ type }) => (type === 'Connect' ? { result: 2 } : null)
  const gone = await rig.read()

  expect(refused).toMatchObject({ reason: 'unreadable', why: 'usbmuxd (refused): result 3' })
  expect(gone).toMatchObject({ reason: 'unreadable', why: 'usbmuxd (bad_device): result 2' })
})

function recordWith(change: Readonly<Record<string, unknown>>): Uint8Array {
  const fields = Object.entries({ ...PAIR_RECORD, ...change }).filter(([, value]) => value !== null)
  return Buffer.from(build(Object.fromEntries(fields), { pretty: true }))
}

test('a pair record is taken in binary, by either name, and with the id of usbmuxd if it has none', async () => {
  await using rig = await PhoneRig.start({}, UDID.replace('-', ''))

  rig.phone.pairRecord = binaryPropertyList(PAIR_RECORD)
  const binary = await rig.read()
  rig.phone.pairRecord = recordWith({ SystemBUID: null })
  const without = await rig.read()
  rig.phone.pairRecord = recordWith({})
  Object.assign(rig.phone, { recordId: UDID })
  const otherName = await rig.read()

  expect([binary, without, otherName]).toEqual([FACTS, FACTS, FACTS])
  expect(rig.rig.mux.requestsOf('ReadBUID')).toHaveLength(1)
})

const UNUSABLE: readonly Uint8Array[] = [
  recordWith({ HostPrivateKey: null }),
  recordWith({ HostID: null }),
  // A key of another pair.
  recordWith({ HostPrivateKey: PAIR_RECORD.RootPrivateKey }),
  recordWith({ HostPrivateKey: Buffer.from('no key') }),
  Buffer.from('no list'),
  // Of another pairing.
  recordWith({ HostID: 'AAAAAAAA-0000-0000-0000-000000000000' }),
]

test('a pair record that cannot be used is stale, and no key or certificate is in what is reported, however a reading ends', async () => {
  await using rig = await PhoneRig.start()
  const { lockdown } = rig.phone
  const good = rig.phone.pairRecord
  const secrets = secretsOfPairing()
  const spies = [spyOn(console, 'error'), spyOn(console, 'warn'), spyOn(console, 'log')]

  const told: unknown[] = [await rig.read()]
  lockdown.refusal = 'InvalidHostID'
  told.push(await rig.read())
  lockdown.refusal = null
  lockdown.tlsTrouble = 'closes'
  told.push(await rig.read())
  lockdown.tlsTrouble = null
  for (const record of UNUSABLE) {
    rig.phone.pairRecord = record
    const stale = await rig.read()
    expect(stale).toMatchObject({ name: 'Line one', reason: 'pairing_stale' })
    told.push(stale)
  }
  // Damage that the parser of all XML would quote, and an answer that is cut off within the keys.
  rig.phone.pairRecord = Buffer.from(
    Buffer.from(good ?? [])
      .toString()
      .replaceAll('</data>', '<data '),
  )
  told.push(await rig.read())
  rig.rig.mux.onRequest = ({ type }) => (type === 'ReadPairRecord' ? cutOff(good) : null)
  told.push(await rig.read().catch((error: unknown) => error))

  const printed = spies.flatMap((spy) => spy.mock.calls)
  for (const spy of spies) spy.mockRestore()
  const text = told.map((one) => Bun.inspect(one, { depth: 10 }) + JSON.stringify(one)).join('\n')
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  expect(printed).toEqual([])
  expect(secrets.length).toBeGreaterThan(75)
})

function cutOff(record: Uint8Array | null): Uint8Array {
  const payload = Buffer.from(`<plist><dict><key>a</key>${Buffer.from(record ?? []).toString()}`)
  const head = Buffer.alloc(16)
  for (const [at, word] of [16 + payload.byteLength, 1, 8, 1].entries())
    head.writeUInt32LE(word, 4 * at)
  return Buffer.concat([head, payload])
}
