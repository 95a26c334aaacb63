// The client of usbmuxd against one that can be made to misbehave: frames, answers, errors, times. What
// is watched over time is in mux-watch.test.ts.

import { expect, test } from 'bun:test'
import { Socket } from 'node:net'

import {
  muxAddress,
  MuxError,
  openSocket,
  readExactly,
} from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'
import {
  type MuxEvent,
  muxPort,
  Usbmux,
} from '../../../../../src/lines/kinds/iphone/cable/usbmux.ts'
import { normalUdid } from '../../../../../src/lines/kinds/iphone/udid.ts'
import {
  BUID,
  frame,
  headOnly,
  type OddAnswer,
  result,
} from '../../../../support/iphone/fake-mux.ts'
import {
  MuxRig,
  OTHER_UDID,
  PAIR_RECORD,
  UDID,
  until,
} from '../../../../support/iphone/fake-phones.ts'
import { TestClock } from '../../../../support/test-clock.ts'

const NEVER = new AbortController().signal

function clientOf(rig: MuxRig, clock = new TestClock()): Usbmux {
  return new Usbmux(rig.mux.address, clock)
}

/** The code of the error that `work` ends with. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof MuxError) return error.code
    throw error
  }
  return 'no error'
}

function attached(udid: string, deviceId: number): MuxEvent {
  return { event: 'attached', device: { udid, serial: udid, deviceId, transport: 'usb' } }
}

// The fake sends the result and both events at once, if nothing cuts it.
test.each([1, 7, 16, 1_000_000])(
  'answers that come %d bytes at a time are read whole, one after another',
  async (pieceBytes) => {
    await using rig = await MuxRig.start()
    rig.mux.attach(await rig.phone())
    rig.mux.attach(await rig.phone(OTHER_UDID))
    rig.mux.pieceBytes = pieceBytes
    const mux = clientOf(rig)

    const listening = await mux.listen(NEVER)
    const events = [await listening.next(NEVER), await listening.next(NEVER)]
    listening.close()
    const record = await mux.pairRecord(UDID, NEVER)
    const buid = await mux.buid(NEVER)

    expect(events).toEqual([attached(UDID, 1), attached(OTHER_UDID, 2)])
    expect(Buffer.from(record ?? []).toString()).toContain(PAIR_RECORD.HostID)
    expect(buid).toBe(BUID)
  },
)

test('events that come before the answer are kept, and no answer is taken for another', async () => {
  await using rig = await MuxRig.start()
  const mux = clientOf(rig)
  const properties = { SerialNumber: UDID, ConnectionType: 'USB' }
  const event = frame(0, { MessageType: 'Attached', DeviceID: 5, Properties: properties })

  rig.mux.onRequest = (_, tag) => Buffer.concat([event, result(tag, 0)])
  const listening = await mux.listen(NEVER)
  const early = await listening.next(NEVER)
  rig.mux.onRequest = (_, tag) => result(tag + 1, 0)
  const wrong = await codeOf(mux.listen(NEVER))

  expect(early).toEqual(attached(UDID, 5))
  expect(wrong).toBe('protocol')
  listening.close()
})

test('a port is sent with its two bytes changed over', () => {
  const ports = [62_078, 8_100, 80, 0x1234].map(muxPort)

  expect(ports).toEqual([32_498, 42_015, 20_480, 0x3412])
})

/** An answer of `kind`, which is 8 for a property list in XML, and of a version of the protocol. */
function ofKind(kind: number, version: number): Uint8Array {
  const answer = result(1, 0)
  answer.writeUInt32LE(version, 4)
  answer.writeUInt32LE(kind, 8)
  return answer
}

const TOO_LONG = [1_048_577, 4_294_967_295]
const ANSWERS: readonly (readonly [answer: OddAnswer, code: string])[] = [
  [{ result: 1 }, 'bad_command'],
  [{ result: 2 }, 'bad_device'],
  [{ result: 3 }, 'refused'],
  [{ result: 6 }, 'protocol'],
  [{ result: 22 }, 'bad_command'],
  [{ result: 99 }, 'protocol'],
  ['close', 'protocol'],
  [frame(1, { Something: 'else' }), 'protocol'],
  [frame(1, { MessageType: 'Result', Number: 'zero' }), 'protocol'],
  [ofKind(1, 1), 'protocol'],
  [ofKind(1, 0), 'protocol'],
  [Buffer.concat([headOnly(20), Buffer.from('what')]), 'protocol'],
  // Shorter than a head, without a list, and longer than any answer, which is not waited for.
  ...[0, 15, 16, ...TOO_LONG].map((length) => [headOnly(length), 'protocol'] as const),
]

test('every answer that is no success has its code, and its connection is closed', async () => {
  await using rig = await MuxRig.start()
  rig.mux.attach(await rig.phone())
  const mux = clientOf(rig)

  const codes: string[] = []
  for (const [answer] of ANSWERS) {
    rig.mux.onRequest = () => answer
    codes.push(await codeOf(mux.connect(1, 62_078, NEVER)))
  }

  expect(codes).toEqual(ANSWERS.map(([, code]) => code))
  await until(() => rig.mux.connectionCount === 0, 'closed connections')
})

test('silence is given up after five seconds, and its connection closed', async () => {
  await using rig = await MuxRig.start()
  const clock = new TestClock()
  rig.mux.onRequest = () => 'silence'

  const code = codeOf(clientOf(rig, clock).buid(NEVER))
  await until(() => rig.mux.requests.length === 1, 'a request')
  await clock.advance(4_999)
  const before = rig.mux.connectionCount
  await clock.advance(1)

  expect(await code).toBe('silent')
  expect(before).toBe(1)
  await until(() => rig.mux.connectionCount === 0, 'a closed connection')
})

test('one who leaves is not kept waiting, and leaves no connection behind', async () => {
  await using rig = await MuxRig.start()
  rig.mux.onRequest = () => 'silence'
  const leaving = new AbortController()

  const asked = clientOf(rig)
    .buid(leaving.signal)
    .catch((error: unknown) => error)
  await until(() => rig.mux.requests.length === 1, 'a request')
  leaving.abort(new Error('left'))

  expect(await asked).toEqual(new Error('left'))
  await until(() => rig.mux.connectionCount === 0, 'a closed connection')
  expect(await clientOf(rig).buid(leaving.signal).catch(String)).toBe('Error: left')
  expect(rig.mux.requests).toHaveLength(1)
})

test('bytes that follow the connection at once are not lost, however many, and others go both ways', async () => {
  await using rig = await MuxRig.start()
  const phone = await rig.phone()
  const greeting = Buffer.alloc(400_000, 'abcdefg')
  phone.ports.set(8_100, {
    greeting,
    serve: (socket) => socket.on('data', (chunk) => socket.end(`echo of ${String(chunk)}`)),
  })
  const deviceId = rig.mux.attach(phone)

  const socket = await clientOf(rig).connect(deviceId, 8_100, NEVER)
  const first = await readExactly(socket, 7, NEVER)
  socket.write('hello')
  const chunks: Buffer[] = [Buffer.from(first)]
  for await (const chunk of socket) chunks.push(Buffer.from(chunk))

  expect(Buffer.concat(chunks).toString()).toBe(`${greeting.toString()}echo of hello`)
})

test('a connection that is never taken is given up after five seconds, and its socket closed', async () => {
  const clock = new TestClock()
  const socket = new Socket()
  const mux = new Usbmux({ path: '/never' }, clock, () => socket)

  const code = codeOf(mux.buid(NEVER))
  await clock.advance(5_000)

  expect(await code).toBe('silent')
  expect(socket.destroyed).toBe(true)
})

test('without usbmuxd there is nobody; a socket that may not be opened is another matter', async () => {
  await using rig = await MuxRig.start()
  const { address } = rig.mux
  const clock = new TestClock()
  const refusing = (code: string) => () => {
    const socket = openSocket(address)
    socket.destroy(Object.assign(new Error('refused by the test'), { code }))
    return socket
  }

  const codes = [
    await codeOf(new Usbmux({ path: `${rig.path}-absent` }, clock).buid(NEVER)),
    await codeOf(new Usbmux({ host: '127.0.0.1', port: 1 }, clock).buid(NEVER)),
    await codeOf(new Usbmux(address, clock, refusing('EACCES')).buid(NEVER)),
    await codeOf(new Usbmux(address, clock, refusing('EPERM')).buid(NEVER)),
  ]

  expect(codes).toEqual(['absent', 'absent', 'denied', 'denied'])
})

test('an address is taken in each form that other programs know', () => {
  const forms: readonly (string | null)[] = [
    null,
    '/run/mux',
    'UNIX:/run/mux',
    'unix:///run/mux',
    '127.0.0.1:27015',
    'tcp://farm.example:27015',
    '[::1]:27015',
  ]

  expect(forms.map(muxAddress)).toEqual([
    { path: '/var/run/usbmuxd' },
    { path: '/run/mux' },
    { path: '/run/mux' },
    { path: '/run/mux' },
    { host: '127.0.0.1', port: 27_015 },
    { host: 'farm.example', port: 27_015 },
    { host: '::1', port: 27_015 },
  ])
})

test.each([
  '',
  'UNIX:',
  'mux',
  'host:',
  'host:0',
  'host:70000',
  'udp://a:1',
  `/${'x'.repeat(103)}`,
])('the address "%s" is refused', (text) => {
  expect(() => muxAddress(text)).toThrow(RangeError)
})

test('a UDID is the same with and without its dash, in capitals and without', () => {
  const old = '0123456789abcdef0123456789abcdef01234567'
  const written = [UDID, UDID.replace('-', ''), UDID.toLowerCase(), old.toUpperCase(), old, 'other']

  expect(written.map(normalUdid)).toEqual([UDID, UDID, UDID, old, old, 'other'])
})

test('attachments that do not say which phone it is are left out', async () => {
  await using rig = await MuxRig.start()
  const listening = await clientOf(rig).listen(NEVER)
  const known = { SerialNumber: UDID, ConnectionType: 'Network' }
  for (const message of [
    { DeviceID: 1, Properties: { ConnectionType: 'USB' } },
    { Properties: { SerialNumber: UDID } },
    { DeviceID: 3, Properties: { SerialNumber: 'x'.repeat(65) } },
    { DeviceID: 4, Properties: known },
  ]) {
    rig.mux.announceBytes(frame(0, { MessageType: 'Attached', ...message }))
  }

  const event = await listening.next(NEVER)
  listening.close()

  const device = { udid: UDID, serial: UDID, deviceId: 4, transport: 'network' as const }
  expect(event).toEqual({ event: 'attached', device })
})
