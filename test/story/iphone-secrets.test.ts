// What usbmuxd keeps of the trust between computer and phone opens the phone to whoever has it: it is read
// to greet the phone, and stays nowhere.

import { expect, test } from 'bun:test'

import { build } from 'plist'

import { asOwner } from '../support/control-socket.ts'
import type { CablePhone } from '../support/iphone/cable-phone.ts'
import {
  NUMBER,
  OTHER_UDID,
  PAIR_RECORD,
  secretsOfPairing,
  UDID,
} from '../support/iphone/fake-phones.ts'
import { bytesIn } from '../support/stored-bytes.ts'
import { FRIEND, PhoneBox } from './iphone-relay.ts'

/** Enough for a reading to be told, and asked for anew. */
const A_WHILE_MS = 6_000
const ANSWERS = ['/phone-lines', '/phones', '/health', '/messages', '/settings', '/backups']

/** Goes wrong in every way in which the record of a pairing is looked at. */
async function distrust(box: PhoneBox, phone: CablePhone): Promise<void> {
  const { device } = phone
  const asked = () => device.lockdown.requests.filter(({ key }) => key === 'DeviceName').length
  const whole = device.pairRecord
  const records = [
    null,
    Buffer.from('no property list'),
    record({ ...PAIR_RECORD, HostID: 'another one' }),
    record({ ...PAIR_RECORD, HostPrivateKey: Buffer.from('no key') }),
    record({ HostID: PAIR_RECORD.HostID, EscrowBag: PAIR_RECORD.EscrowBag }),
  ]
  for (const other of records) {
    const before = asked()
    phone.unplug()
    device.pairRecord = other
    phone.plugIn(box.mux)
    await box.comesTo('the phone is read', () => asked() > before)
    await box.passes(A_WHILE_MS)
  }
  phone.unplug()
  device.pairRecord = whole
}

test('no byte of a pairing is in the data, in a back-up, in the log or in an answer', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const other = await box.phone(OTHER_UDID, '+15551230002')
  other.device.lockdown.tlsTrouble = 'closes'
  const first = await box.start()
  await box.isOnline(first)
  await box.during(first.send({ to: FRIEND, text: 'hello' }))
  await distrust(box, other)
  const before = bytesIn(box.dataFolder)
  await box.stop(first)
  const relay = await box.start()
  phone.unplug()
  phone.plugIn(box.mux)
  await box.isOnline(relay)

  const backup = await asOwner(relay, 'POST', '/backup', { body: {} })
  const answers = await Promise.all(ANSWERS.map((path) => asOwner(relay, 'GET', path)))
  const seen = [before, bytesIn(box.dataFolder), ...box.logged, JSON.stringify(answers)].join('\n')

  expect(await Bun.file(backup.path).exists()).toBe(true)
  expect(backup.path).toStartWith(box.dataFolder)
  expect(seen).toContain(phone.device.lockdown.values.get('')?.['DeviceName'] as string)
  expect(secretsOfPairing().filter((secret) => seen.includes(secret))).toEqual([])
}, 180_000)

function record(values: Parameters<typeof build>[0]): Uint8Array {
  return Buffer.from(build(values, { pretty: true }))
}
