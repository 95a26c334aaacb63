// What is stored of the trust between a phone and this computer: in which forms it is taken, when it is
// of no use, and that nothing secret of it is ever seen.

import { expect, spyOn, test } from 'bun:test'

import { build } from 'plist'

import { binaryPropertyList } from '../../../../support/iphone/binary-plist-writer.ts'
import { PAIR_RECORD, secretsOfPairing, UDID } from '../../../../support/iphone/fake-phones.ts'
import { FACTS } from '../../../../support/iphone/phone-facts.ts'
import { PhoneRig } from '../../../../support/iphone/phone-rig.ts'

function recordWith(change: Readonly<Record<string, unknown>>): Uint8Array {
  const fields = Object.entries({ ...PAIR_RECORD, ...change }).filter(([, value]) => value !== null)
  return Buffer.from(build(Object.fromEntries(fields), { pretty: true }))
}

test('a pair record is taken in binary, by either name, and with the id of usbmuxd where it has none', async () => {
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

const UNUSABLE: readonly (readonly [what: string, record: Uint8Array])[] = [
  ['lacks its key', recordWith({ HostPrivateKey: null })],
  ['lacks its id', recordWith({ HostID: null })],
  ['has a key of another pair', recordWith({ HostPrivateKey: PAIR_RECORD.RootPrivateKey })],
  ['has a key that is none', recordWith({ HostPrivateKey: Buffer.from('no key') })],
  ['is no property list', Buffer.from('no list')],
  ['is of another pairing', recordWith({ HostID: 'AAAAAAAA-0000-0000-0000-000000000000' })],
]

test.each(UNUSABLE)('a pair record that %s is stale', async (_, record) => {
  await using rig = await PhoneRig.start()
  rig.phone.pairRecord = record

  const reading = await rig.read()

  expect(reading).toMatchObject({ name: 'Line one', reason: 'pairing_stale' })
})

test('no key and no certificate is in what is told, however the reading ends', async () => {
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
  for (const [, record] of UNUSABLE) {
    rig.phone.pairRecord = record
    told.push(await rig.read())
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
  expect(secrets.length).toBeGreaterThan(90)
})

function cutOff(record: Uint8Array | null): Uint8Array {
  const payload = Buffer.from(`<plist><dict><key>a</key>${Buffer.from(record ?? []).toString()}`)
  const head = Buffer.alloc(16)
  for (const [at, word] of [16 + payload.byteLength, 1, 8, 1].entries())
    head.writeUInt32LE(word, 4 * at)
  return Buffer.concat([head, payload])
}
