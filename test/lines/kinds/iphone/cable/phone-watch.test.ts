// When phones are read, and what is kept of them. How one is read is in lockdown.test.ts.

import { expect, test } from 'bun:test'
import { once } from 'node:events'

import type { PhoneTroubleReason } from '../../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { readExactly } from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import {
  type FakePhone,
  NUMBER,
  OTHER_UDID,
  secretsOfPairing,
  UDID,
  until,
} from '../../../../support/iphone/fake-phones.ts'
import { PhoneWatchRig, sessionsOf } from '../../../../support/iphone/phone-rig.ts'

const NEVER = new AbortController().signal

const distrust = (phone: FakePhone) => {
  phone.pairRecord = null
}
const hang = ({ lockdown }: FakePhone) => {
  lockdown.isHanging = true
}
const refuse = (word: string | null) => {
  return ({ lockdown }: FakePhone) => {
    lockdown.refusal = word
  }
}
const setBattery = (percent: number, isCharging: boolean) => {
  return ({ lockdown }: FakePhone) =>
    lockdown.values.set('com.apple.mobile.battery', {
      BatteryCurrentCapacity: percent,
      BatteryIsCharging: isCharging,
    })
}

test('a phone is read when it is plugged in, and every minute from then on', async () => {
  await using rig = await PhoneWatchRig.start()
  const { clock, deviceId, phone } = rig

  await rig.isRead()
  const first = rig.known()
  setBattery(50, true)(phone)
  await clock.advance(59_999)
  const early = sessionsOf(phone)
  await clock.advance(1)
  await rig.comesTo((now) => now?.facts?.battery?.percent === 50)

  expect(first).toEqual({
    udid: UDID,
    device: { udid: UDID, serial: UDID, deviceId, transport: 'usb' },
    facts: expect.objectContaining({ number: NUMBER, iosVersion: '18.6.2' }),
    trouble: null,
    numbers: [NUMBER],
    hasLowBattery: false,
  })
  expect([early, sessionsOf(phone)]).toEqual([1, 2])
})

test('phones that are there before anybody watches them are read too', async () => {
  await using rig = await PhoneWatchRig.start()
  await rig.isRead()

  const later = rig.anotherWatch()
  await until(() => later.phones()[0]?.facts?.number === NUMBER, 'facts')

  expect(later.phones()).toHaveLength(1)
})

test('a phone is read as soon as its owner has tapped Trust', async () => {
  await using rig = await PhoneWatchRig.start(distrust)
  await rig.comesToTrouble('not_trusted')

  rig.trust()
  rig.rig.mux.announcePaired(rig.deviceId)
  await rig.isRead()

  expect(rig.known()?.trouble).toBeNull()
  expect(rig.clock.monotonic()).toBe(0)
})

test('trust that is given while the phone is read is not missed', async () => {
  await using rig = await PhoneWatchRig.start((phone, { mux }) => {
    const { pairRecord } = phone
    distrust(phone)
    mux.onRequest = ({ type }) => {
      if (type !== 'ReadPairRecord' || phone.pairRecord !== null) return null
      phone.pairRecord = pairRecord
      mux.announcePaired(1)
      return { result: 2 }
    }
  })

  await rig.isRead()

  expect(sessionsOf(rig.phone)).toBe(2)
})

const AGAIN: readonly (readonly [
  reason: PhoneTroubleReason,
  againMs: number,
  prepare: (phone: FakePhone) => void,
])[] = [
  ['not_trusted', 5_000, distrust],
  ['trust_dialog', 5_000, refuse('PairingDialogResponsePending')],
  ['passcode_locked', 30_000, refuse('PasswordProtected')],
  ['pairing_stale', 30_000, refuse('InvalidHostID')],
  ['unreadable', 15_000, refuse('InvalidService')],
]

test.each(AGAIN)(
  'a phone that is %s is read again after %d ms',
  async (reason, againMs, prepare) => {
    await using rig = await PhoneWatchRig.start(prepare)
    const { clock, phone } = rig
    await rig.comesToTrouble(reason)

    await clock.advance(againMs - 1)
    const early = sessionsOf(phone)
    rig.trust()
    refuse(null)(phone)
    await clock.advance(1)
    await rig.isRead()

    expect(early).toBe(1)
    expect(rig.known()?.trouble).toBeNull()
  },
)

test('a phone that was asked not to trust is left alone until it is plugged in again', async () => {
  await using rig = await PhoneWatchRig.start(refuse('UserDeniedPairing'))
  const { phone } = rig
  const { mux } = rig.rig
  await rig.comesToTrouble('trust_denied')

  await rig.clock.advance(3_600_000)
  const meanwhile = sessionsOf(phone)
  refuse(null)(phone)
  mux.detach(rig.deviceId)
  mux.attach(phone)
  await rig.isRead()

  expect(meanwhile).toBe(1)
})

test('of ten phones four are read at once, and one that hangs delays none of the others', async () => {
  const phones: FakePhone[] = []
  await using rig = await PhoneWatchRig.start(async (first, { mux, phone }) => {
    phones.push(first)
    for (let i = 10; i < 19; i += 1) phones.push(await phone(`00008110-00000000000000${i}`))
    phones.slice(0, 5).forEach(hang)
    for (const other of phones.slice(1)) mux.attach(other)
  })
  await until(() => phones.filter((phone) => sessionsOf(phone) > 0).length === 4, 'four sessions')

  const most = phones.filter(({ lockdown }) => lockdown.openCount > 0)
  const [hanging, ...others] = most
  for (const { lockdown } of phones.filter((phone) => phone !== hanging)) lockdown.isHanging = false
  await rig.clock.advance(15_000)
  for (const phone of phones.filter((one) => !most.includes(one))) await rig.isRead(phone.serial)
  await rig.clock.advance(15_000)
  for (const { serial } of others) await rig.isRead(serial)

  expect(most).toHaveLength(4)
  expect(rig.known(hanging?.serial)?.facts).toBeNull()
})

test('what is known of a phone is kept when it goes, and while it is in trouble', async () => {
  await using rig = await PhoneWatchRig.start()
  const { deviceId, phone } = rig
  await rig.isRead()

  refuse('InvalidHostID')(phone)
  await rig.clock.advance(60_000)
  await rig.comesToTrouble('pairing_stale')
  const inTrouble = rig.known()
  rig.rig.mux.detach(deviceId)
  await rig.comesTo((now) => now?.device === null)

  expect(inTrouble).toMatchObject({ device: { deviceId }, facts: { number: NUMBER } })
  expect(rig.known()).toMatchObject({ facts: { number: NUMBER }, trouble: null })
})

test('a phone that is unplugged while it is read counts for nothing, and is read again when it is back', async () => {
  await using rig = await PhoneWatchRig.start(hang)
  const { deviceId, phone } = rig
  const { mux } = rig.rig
  await until(() => sessionsOf(phone) === 1, 'a session')

  mux.detach(deviceId)
  await until(() => phone.lockdown.openCount === 0, 'the end of the session')
  phone.lockdown.isHanging = false
  mux.attach(phone)
  await rig.isRead()

  expect(rig.clock.monotonic()).toBe(0)
  expect(rig.known()?.device?.deviceId).toBe(deviceId + 1)
})

test('each number that a phone had is remembered, the one of now last', async () => {
  await using rig = await PhoneWatchRig.start()
  const { lockdown } = rig.phone
  await rig.isRead()

  const values = lockdown.values.get('')
  for (const number of ['+15550009999', null, NUMBER]) {
    lockdown.values.set('', { ...values, PhoneNumber: number ?? '' })
    await rig.clock.advance(60_000)
    await rig.comesTo((now) => now?.facts?.number === number)
  }

  expect(rig.known()?.numbers).toEqual(['+15550009999', NUMBER])
})

test('a battery is low once it is below 20 % for ten minutes and does not charge', async () => {
  await using rig = await PhoneWatchRig.start(setBattery(19, false))
  const { clock } = rig
  await rig.isRead()

  for (let minute = 1; minute < 10; minute += 1) await rig.passes(60_000)
  await clock.advance(59_999)
  const early = rig.known()?.hasLowBattery
  setBattery(19, true)(rig.phone)
  await clock.advance(1)
  const late = rig.known()?.hasLowBattery
  await rig.comesTo((now) => now?.facts?.battery?.isCharging === true)

  expect([early, late, rig.known()?.hasLowBattery]).toEqual([false, true, false])
})

test('the log reports each change once, with no whole UDID, no number and no secret', async () => {
  await using rig = await PhoneWatchRig.start(refuse('PasswordProtected'))
  await rig.comesToTrouble('passcode_locked')

  for (let time = 0; time < 3; time += 1) await rig.passes(30_000)
  refuse(null)(rig.phone)
  await rig.passes(30_000)
  for (let time = 0; time < 3; time += 1) await rig.passes(60_000)
  rig.rig.mux.detach(rig.deviceId)
  await rig.comesTo((now) => now?.device === null)

  expect(rig.lines.map(([level, message]) => `${level}: ${message}`)).toEqual([
    'info: usbmuxd is reached',
    'info: phone attached',
    'warn: phone cannot be read',
    'info: phone is read',
    'info: phone detached',
  ])
  const text = JSON.stringify(rig.lines)
  const secrets = [...secretsOfPairing(), UDID, NUMBER, OTHER_UDID]
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})

test('a hundred phones are remembered: those that are there, and the latest of those that went', async () => {
  await using rig = await PhoneWatchRig.start()
  const { phone } = rig
  const { mux } = rig.rig
  await rig.isRead()

  for (let i = 1; i <= 100; i += 1) {
    mux.detach(mux.attach({ ...phone, ports: new Map(), serial: `phone ${i}` }))
  }
  await rig.comesTo((last) => last !== undefined && last.device === null, 'phone 100')

  expect(rig.cable.phones()).toHaveLength(100)
  expect(rig.known('phone 1')).toBeUndefined()
  expect(rig.known()?.device).not.toBeNull()
})

test('at the end no session is left, also where a phone hangs', async () => {
  await using rig = await PhoneWatchRig.start(hang)
  await until(() => sessionsOf(rig.phone) === 1, 'a session')

  await rig.end()

  await until(() => rig.rig.mux.connectionCount === 0, 'closed connections')
  expect(sessionsOf(rig.phone)).toBe(1)
})

test('a port of a phone is reached over its attachment of now; the one before breaks with its cable', async () => {
  await using rig = await PhoneWatchRig.start(({ ports }) => {
    ports.set(8_100, { serve: (socket) => socket.on('data', (chunk) => socket.write(chunk)) })
  })
  const { mux } = rig.rig
  const connect = () => rig.cable.connect(UDID, 8_100, NEVER)
  await rig.isRead()

  const before = await connect()
  const broken = once(before, 'close')
  mux.detach(rig.deviceId)
  await broken
  await rig.comesTo((now) => now?.device === null)
  const without = await connect().catch((error: unknown) => error)
  mux.attach(rig.phone)
  await rig.comesTo((now) => now?.device?.deviceId === rig.deviceId + 1)
  const after = await connect()
  after.write('hello')

  expect(Buffer.from(await readExactly(after, 5, NEVER)).toString()).toBe('hello')
  expect(without).toHaveProperty('code', 'bad_device')
  after.destroy()
})

test('a socket that the system refuses is reported as such until it may be opened', async () => {
  await using rig = await PhoneWatchRig.start(() => {}, { isDenied: true })
  const { cable } = rig
  await until(() => cable.isDenied, 'a refusal')
  const denied = { isKnown: cable.isKnown, phones: cable.phones() }

  rig.isDenied = false
  await rig.clock.advance(10_000)
  await rig.isRead()

  expect(denied).toEqual({ isKnown: true, phones: [] })
  expect(cable.isDenied).toBe(false)
})

test('a phone that cannot be asked because the system refuses the socket is asked again after ten seconds', async () => {
  await using rig = await PhoneWatchRig.start()
  const { mux } = rig.rig
  await rig.isRead()
  mux.detach(rig.deviceId)
  await rig.comesTo((now) => now?.device === null)
  rig.isDenied = true
  mux.attach(rig.phone)
  await rig.comesToTrouble('usbmux_denied')
  const before = rig.opens

  rig.isDenied = false
  await rig.clock.advance(9_999)
  const early = rig.opens - before
  await rig.clock.advance(1)
  await rig.comesTo((now) => now?.trouble === null)

  expect(early).toBe(0)
  expect(rig.opens).toBeGreaterThan(before)
})
