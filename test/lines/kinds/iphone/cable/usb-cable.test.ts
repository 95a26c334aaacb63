// What the whole of the cable says where something stands between us and a phone: a socket that the system
// refuses, and a trust that was not given. How phones are read is in lockdown.test.ts and phone-watch.test.ts.

import { expect, test } from 'bun:test'

import type { Phone } from '../../../../../src/lines/kinds/iphone/cable/lockdown.ts'
import {
  openSocket,
  type OpenSocket,
} from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import { UsbCable } from '../../../../../src/lines/kinds/iphone/cable/phone-watch.ts'
import { MuxRig, NUMBER, until } from '../../../../support/iphone/fake-phones.ts'
import { sessionsOf } from '../../../../support/iphone/phone-rig.ts'
import { recordingLog } from '../../../../support/recording-log.ts'
import { TestClock } from '../../../../support/test-clock.ts'

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
