// How a phone is read: what it tells everybody, and what it tells those it trusts, through real TLS with
// the certificates of a made-up pairing. When phones are read is in phone-watch.test.ts.

import { expect, test } from 'bun:test'

import { build } from 'plist'

import {
  phoneNumberOf,
  type PhoneReading,
  type PhoneTroubleReason,
} from '../../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { SELF_SIGNED } from '../../../../fixtures/self-signed.ts'
import { lockdownFrame } from '../../../../support/iphone/fake-lockdown.ts'
import { PAIR_RECORD, UDID, until } from '../../../../support/iphone/fake-phones.ts'
import { FACTS } from '../../../../support/iphone/phone-facts.ts'
import { PhoneRig } from '../../../../support/iphone/phone-rig.ts'

/** A key and a certificate that belong together, and that the phone does not know. */
const FOREIGN_RECORD = {
  ...PAIR_RECORD,
  HostCertificate: Buffer.from(SELF_SIGNED.cert),
  HostPrivateKey: Buffer.from(SELF_SIGNED.key),
}

function reasonOf(reading: PhoneReading): PhoneTroubleReason | 'facts' {
  return reading.reading === 'facts' ? 'facts' : reading.reason
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
  const values = ['DeviceName', 'ProductVersion', 'ProductType'].map((key) => `GetValue ${key}`)
  expect(asked).toEqual([...values, 'StartSession'])
  await until(() => rig.phone.lockdown.openCount === 0, 'closed sessions')
  await until(() => rig.rig.mux.connectionCount === 0, 'closed connections')
})

test('a phone that does not trust this computer tells its name, and is asked for nothing more', async () => {
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
  expect(asked).toEqual(['GetValue', 'GetValue', 'GetValue'])
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
]

test.each(WORDS)('a session refused with %s means %s', async (word, reason) => {
  await using rig = await PhoneRig.start()
  rig.phone.lockdown.refusal = word

  const reading = await rig.read()

  const why = `The phone refused: ${word}`
  expect(reading).toEqual({ reading: 'trouble', udid: UDID, name: 'Line one', reason, why })
})

test('a word of refusal that is none is not passed on', async () => {
  await using rig = await PhoneRig.start()
  rig.phone.lockdown.refusal = 'Call +15559990000 <now>'

  const reading = await rig.read()

  expect(reading).toMatchObject({ reason: 'unreadable', why: 'The phone refused: unknown' })
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
    productType: 'unknown',
    number: null,
    battery: null,
    isDeveloperModeOn: null,
    language: null,
    isLocked: null,
    timeZone: null,
    simStatus: null,
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

  const why = 'It does not come to an encrypted session.'
  expect(closed).toMatchObject({ name: 'Line one', reason: 'unreadable', why })
  expect(foreign).toMatchObject({ name: 'Line one', reason: 'unreadable' })
})

test('a phone that hangs, in the open or in TLS, is given up after fifteen seconds', async () => {
  await using rig = await PhoneRig.start()
  const { lockdown } = rig.phone

  lockdown.tlsTrouble = 'hangs'
  const inTls = rig.read()
  await until(() => lockdown.requests.length === 4, 'a session')
  await rig.clock.advance(15_000)
  lockdown.isHanging = true
  const inTheOpen = rig.read()
  await until(() => lockdown.requests.length === 5, 'a question')
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
  await until(() => rig.phone.lockdown.requests.length === 4, 'a session')
  leaving.abort(new Error('left'))

  expect(await reading).toEqual(new Error('left'))
  await until(() => rig.phone.lockdown.openCount === 0, 'closed connections')
})

const ODD_ANSWERS: readonly (readonly [what: string, answer: Uint8Array])[] = [
  ['too long', Buffer.from([0x7f, 0xff, 0xff, 0xff])],
  ['no property list', Buffer.concat([Buffer.from([0, 0, 0, 4]), Buffer.from('what')])],
  ['no dictionary', lockdownFrame([] as never)], // The writer takes what a phone would not say.
  ['without a version', lockdownFrame({ Request: 'GetValue' })],
]

test.each(ODD_ANSWERS)('a phone whose answer is %s is unreadable', async (_, answer) => {
  await using rig = await PhoneRig.start()
  rig.phone.lockdown.onRequest = () => answer

  const reading = await rig.read()

  expect(reasonOf(reading)).toBe('unreadable')
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
