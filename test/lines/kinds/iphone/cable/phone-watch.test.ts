// When phones are read, and what is kept of them. How one is read is in lockdown.test.ts.

import { expect, test } from 'bun:test'

import type { Phone } from '../../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import {
  openSocket,
  type OpenSocket,
} from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import { UsbCable } from '../../../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import {
  MuxRig,
  NUMBER,
  OTHER_UDID,
  secretsOfPairing,
  UDID,
  until,
} from '../../../../support/iphone/fake-phones.ts'
import { PhoneWatchRig, sessionsOf } from '../../../../support/iphone/phone-rig.ts'
import { recordingLog } from '../../../../support/recording-log.ts'
import { TestClock } from '../../../../support/test-clock.ts'

test('a phone is read when it is plugged in, and every minute from then on', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  await using rigged = new PhoneWatchRig(rig)

  const deviceId = rig.mux.attach(phone)
  await rigged.isRead()
  const first = rigged.phone()
  phone.lockdown.values.set('com.apple.mobile.battery', { BatteryCurrentCapacity: 50 })
  await rigged.clock.advance(59_999)
  const early = sessionsOf(phone)
  await rigged.clock.advance(1)
  await rigged.comesTo((now) => now?.facts?.battery?.percent === 50)

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
  await using rig = await MuxRig.start()
  rig.mux.attach(await rig.phone())
  await using rigged = new PhoneWatchRig(rig)
  await rigged.isRead()

  const later = rigged.anotherWatch()
  await until(() => later.phones()[0]?.facts?.number === NUMBER, 'facts')

  expect(later.phones()).toHaveLength(1)
})

test('a phone is read as soon as its owner has tapped Trust', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const { pairRecord } = phone
  phone.pairRecord = null
  const deviceId = rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.comesTo((now) => now?.trouble?.reason === 'not_trusted')

  phone.pairRecord = pairRecord
  rig.mux.announcePaired(deviceId)
  await rigged.isRead()

  expect(rigged.phone()?.trouble).toBeNull()
  expect(rigged.clock.monotonic()).toBe(0)
})

test('trust that is given while the phone is read is not missed', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const { pairRecord } = phone
  phone.pairRecord = null
  const deviceId = rig.mux.attach(phone)
  rig.mux.onRequest = ({ type }) => {
    if (type !== 'ReadPairRecord' || phone.pairRecord !== null) return null
    phone.pairRecord = pairRecord
    rig.mux.announcePaired(deviceId)
    return { result: 2 }
  }
  await using rigged = new PhoneWatchRig(rig)

  await rigged.isRead()

  expect(sessionsOf(phone)).toBe(2)
})

const AGAIN: readonly (readonly [word: string, againMs: number])[] = [
  ['PairingDialogResponsePending', 5_000],
  ['PasswordProtected', 30_000],
  ['InvalidHostID', 30_000],
  ['InvalidService', 15_000],
]

test.each(AGAIN)('a phone that answers %s is read again after %d ms', async (word, againMs) => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.refusal = word
  rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.comesTo((now) => now !== undefined && now.trouble !== null)

  await rigged.clock.advance(againMs - 1)
  const early = sessionsOf(phone)
  phone.lockdown.refusal = null
  await rigged.clock.advance(1)
  await rigged.isRead()

  expect(early).toBe(1)
  expect(rigged.phone()?.trouble).toBeNull()
})

test('a phone that was told not to trust is left alone until it is plugged in anew', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.refusal = 'UserDeniedPairing'
  const deviceId = rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.comesTo((now) => now?.trouble?.reason === 'trust_denied')

  await rigged.clock.advance(3_600_000)
  const meanwhile = sessionsOf(phone)
  phone.lockdown.refusal = null
  rig.mux.detach(deviceId)
  rig.mux.attach(phone)
  await rigged.isRead()

  expect(meanwhile).toBe(1)
})

test('of ten phones four are read at once, and one that hangs delays none of the others', async () => {
  await using rig = await MuxRig.start()
  const udids = Array.from(Array(10).keys(), (i) => `00008110-00000000000000${10 + i}`)
  const phones = await Promise.all(udids.map((udid) => rig.phone(udid)))
  for (const { lockdown } of phones.slice(0, 5)) lockdown.isHanging = true
  for (const phone of phones) rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  const isFull = () => phones.filter((phone) => sessionsOf(phone) > 0).length === 4
  await until(isFull, 'four sessions')

  const [, ...others] = phones
  for (const { lockdown } of others) lockdown.isHanging = false
  const most = phones.filter(({ lockdown }) => lockdown.openCount > 0).length
  await rigged.clock.advance(15_000)
  for (const { serial } of phones.slice(4)) await rigged.isRead(serial)
  await rigged.clock.advance(15_000)
  for (const { serial } of phones.slice(1, 4)) await rigged.isRead(serial)

  expect(most).toBe(4)
  expect(rigged.phone(udids[0])?.facts).toBeNull()
})

test('what is known of a phone is kept when it goes, and while it is in trouble', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const deviceId = rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.isRead()

  phone.lockdown.refusal = 'InvalidHostID'
  await rigged.clock.advance(60_000)
  await rigged.comesTo((now) => now?.trouble?.reason === 'pairing_stale')
  const inTrouble = rigged.phone()
  rig.mux.detach(deviceId)
  await rigged.comesTo((now) => now?.device === null)

  expect(inTrouble).toMatchObject({ device: { deviceId }, facts: { number: NUMBER } })
  expect(rigged.phone()).toMatchObject({ facts: { number: NUMBER }, trouble: null })
})

test('a phone that is unplugged while it is read counts for nothing, and is read anew when it is back', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.isHanging = true
  const deviceId = rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await until(() => sessionsOf(phone) === 1, 'a session')

  rig.mux.detach(deviceId)
  await until(() => phone.lockdown.openCount === 0, 'the end of the session')
  phone.lockdown.isHanging = false
  rig.mux.attach(phone)
  await rigged.isRead()

  expect(rigged.clock.monotonic()).toBe(0)
  expect(rigged.phone()?.device?.deviceId).toBe(deviceId + 1)
})

test('each number that a phone had is remembered, the one of now last', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.isRead()

  const values = phone.lockdown.values.get('')
  for (const number of ['+15550009999', null, NUMBER]) {
    phone.lockdown.values.set('', { ...values, PhoneNumber: number ?? '' })
    await rigged.clock.advance(60_000)
    await rigged.comesTo((now) => now?.facts?.number === number)
  }

  expect(rigged.phone()?.numbers).toEqual(['+15550009999', NUMBER])
})

test('a battery is low once it is below 20 % for ten minutes and does not charge', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const { values } = phone.lockdown
  const setBattery = (percent: number, isCharging: boolean) =>
    values.set('com.apple.mobile.battery', {
      BatteryCurrentCapacity: percent,
      BatteryIsCharging: isCharging,
    })
  setBattery(19, false)
  rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.isRead()

  for (let minute = 1; minute < 10; minute += 1) await rigged.passes(60_000, phone)
  await rigged.clock.advance(59_999)
  const early = rigged.phone()?.hasLowBattery
  setBattery(19, true)
  await rigged.clock.advance(1)
  const late = rigged.phone()?.hasLowBattery
  await rigged.comesTo((now) => now?.facts?.battery?.isCharging === true)

  expect([early, late, rigged.phone()?.hasLowBattery]).toEqual([false, true, false])
})

test('the log tells of each change once, with no whole UDID, no number and no secret', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.refusal = 'PasswordProtected'
  const deviceId = rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.comesTo((now) => now?.trouble?.reason === 'passcode_locked')

  for (let time = 0; time < 3; time += 1) await rigged.passes(30_000, phone)
  phone.lockdown.refusal = null
  await rigged.passes(30_000, phone)
  for (let time = 0; time < 3; time += 1) await rigged.passes(60_000, phone)
  rig.mux.detach(deviceId)
  await rigged.comesTo((now) => now?.device === null)

  expect(rigged.lines.map(([level, message]) => `${level}: ${message}`)).toEqual([
    'info: usbmuxd is reached',
    'info: phone attached',
    'warn: phone cannot be read',
    'info: phone is read',
    'info: phone detached',
  ])
  const text = JSON.stringify(rigged.lines)
  const secrets = [...secretsOfPairing(), UDID, NUMBER, OTHER_UDID]
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})

test('a hundred phones are remembered: those that are there, and the latest of those that went', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  rig.mux.attach(phone)
  await using rigged = new PhoneWatchRig(rig)
  await rigged.isRead()

  for (let i = 1; i <= 100; i += 1) {
    rig.mux.detach(rig.mux.attach({ ...phone, ports: new Map(), serial: `phone ${i}` }))
  }
  await rigged.comesTo((last) => last !== undefined && last.device === null, 'phone 100')

  expect(rigged.phones).toHaveLength(100)
  expect(rigged.phone('phone 1')).toBeUndefined()
  expect(rigged.phone()?.device).not.toBeNull()
})

test('at the end no session is left, also where a phone hangs', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  phone.lockdown.isHanging = true
  rig.mux.attach(phone)
  const rigged = new PhoneWatchRig(rig)
  await until(() => sessionsOf(phone) === 1, 'a session')

  await rigged[Symbol.asyncDispose]()

  await until(() => rig.mux.connectionCount === 0, 'closed connections')
  expect(sessionsOf(phone)).toBe(1)
})

/** The cable of a rig, which runs; while `isDenied` the system opens no socket. */
class CableRig implements AsyncDisposable {
  readonly clock = new TestClock()
  readonly cable: UsbCable
  isDenied: boolean
  /** How many sockets were asked for. */
  opens = 0
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(rig: MuxRig, isDenied = false) {
    this.isDenied = isDenied
    const open: OpenSocket = (address) => {
      this.opens += 1
      const socket = openSocket(address)
      const refusal = Object.assign(new Error('refused by the test'), { code: 'EACCES' })
      return this.isDenied ? socket.destroy(refusal) : socket
    }
    this.cable = new UsbCable(rig.path, { clock: this.clock, log: recordingLog().log, open })
    this.#running = this.cable.run(this.#end.signal)
  }

  get phone(): Phone | undefined {
    return this.cable.phones()[0]
  }

  async comesToTrouble(reason: string): Promise<void> {
    await until(() => this.phone?.trouble?.reason === reason, reason)
  }

  async comesToFacts(): Promise<void> {
    await until(() => this.phone?.facts?.number === NUMBER, 'facts')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort()
    await this.#running
  }
}

test('a socket that the system refuses is told as such until it may be opened', async () => {
  await using rig = await MuxRig.start()
  rig.mux.attach(await rig.phone())
  await using rigged = new CableRig(rig, true)
  await until(() => rigged.cable.isDenied, 'a refusal')
  const denied = { isKnown: rigged.cable.isKnown, phones: rigged.cable.phones() }

  rigged.isDenied = false
  await rigged.clock.advance(10_000)
  await rigged.comesToFacts()

  expect(denied).toEqual({ isKnown: true, phones: [] })
  expect(rigged.cable.isDenied).toBe(false)
})

test('a phone that cannot be asked because the system refuses the socket is asked again after ten seconds', async () => {
  await using rig = await MuxRig.start()
  await using rigged = new CableRig(rig)
  await until(() => rig.mux.connectionCount === 1, 'a connection that listens')
  rigged.isDenied = true
  rig.mux.attach(await rig.phone())
  await rigged.comesToTrouble('usbmux_denied')
  const before = rigged.opens

  rigged.isDenied = false
  await rigged.clock.advance(9_999)
  const early = rigged.opens - before
  await rigged.clock.advance(1)
  await rigged.comesToFacts()

  expect(early).toBe(0)
  expect(rigged.phone?.trouble).toBeNull()
})

test('a phone that does not trust this computer is asked again after five seconds', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const { pairRecord } = phone
  phone.pairRecord = null
  rig.mux.attach(phone)
  await using rigged = new CableRig(rig)
  await rigged.comesToTrouble('not_trusted')

  await rigged.clock.advance(4_999)
  const early = sessionsOf(phone)
  phone.pairRecord = pairRecord
  await rigged.clock.advance(1)
  await rigged.comesToFacts()

  expect(early).toBe(1)
  expect(rigged.phone?.trouble).toBeNull()
})
