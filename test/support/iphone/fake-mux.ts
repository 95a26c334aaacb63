// usbmuxd, for tests, on a Unix socket. How it answers was measured with usbmuxd 1.1.1 of Debian 12
// without a device, and read in its client.c where a device is needed for it. It reads and writes frames
// by itself, not by the code that is tested; libimobiledevice's tools find nothing odd in them. What no
// client should send ends the connection, whatever the real one does then.

import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'

import { build, parse } from 'plist'

import type { FakePhone } from './fake-phones.ts'

export type MuxRequest = {
  readonly connection: number
  readonly type: string
  readonly values: Readonly<Record<string, unknown>>
}

/** What takes the place of the answer: nothing, the end, a result, or these bytes as they are. */
export type OddAnswer = 'silence' | 'close' | { readonly result: number } | Uint8Array

type Attachment = {
  readonly phone: FakePhone
  readonly deviceId: number
  readonly transport: 'USB' | 'Network'
}

type Client = {
  readonly number: number
  readonly socket: Socket
  received: Buffer
  /** `raw` once it carries a connection to a phone. */
  state: 'commands' | 'listening' | 'raw'
  /** The attachment that it goes to then. */
  deviceId: number | null
}

const HEAD_BYTES = 16
const ENOENT = 2
const EINVAL = 22
export const BUID = '4B0E5C9A-0F0E-4B43-8F0E-3A1A4DDE0A11'

export class FakeMux {
  readonly path: string
  /** Every request, in the order in which they came. */
  readonly requests: MuxRequest[] = []
  /** Takes the place of an answer if it gives one. */
  onRequest: (request: MuxRequest, tag: number) => OddAnswer | null = () => null
  /** So many bytes are written at once; null for all of them. */
  pieceBytes: number | null = null
  readonly #server: Server
  readonly #clients = new Set<Client>()
  readonly #attached = new Map<number, Attachment>()
  #nextDeviceId = 1
  #connections = 0

  private constructor(path: string) {
    this.path = path
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async start(path: string): Promise<FakeMux> {
    const mux = new FakeMux(path)
    await new Promise<void>((resolve) => void mux.#server.listen(path, resolve))
    return mux
  }

  get address(): { readonly path: string } {
    return { path: this.path }
  }

  /** Connections that are open. */
  get connectionCount(): number {
    return this.#clients.size
  }

  requestsOf(type: string): readonly MuxRequest[] {
    return this.requests.filter((request) => request.type === type)
  }

  /** Plugs a phone in; every time it gets a device id of its own. */
  attach(phone: FakePhone, transport: 'USB' | 'Network' = 'USB'): number {
    const deviceId = this.#nextDeviceId
    this.#nextDeviceId += 1
    const attachment = { phone, deviceId, transport }
    this.#attached.set(deviceId, attachment)
    this.#announce(attachedEvent(attachment))
    return deviceId
  }

  /** Pulls it out: what went to it breaks (usbmuxd's device_remove). */
  detach(deviceId: number): void {
    this.#attached.delete(deviceId)
    for (const client of this.#clients) {
      if (client.deviceId === deviceId) client.socket.destroy()
    }
    this.#announce({ MessageType: 'Detached', DeviceID: deviceId })
  }

  /** Reports that the owner has tapped Trust. */
  announcePaired(deviceId: number): void {
    this.#announce({ MessageType: 'Paired', DeviceID: deviceId })
  }

  /** Sends bytes to all listeners. */
  announceBytes(bytes: Uint8Array): void {
    for (const client of this.#clients) {
      if (client.state === 'listening') this.#write(client, bytes)
    }
  }

  /** Ends as the daemon does: its connections break, and its socket is gone. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()))
    for (const { socket } of this.#clients) socket.destroy()
    await closed
    rmSync(this.path, { force: true })
  }

  #announce(message: Readonly<Record<string, unknown>>): void {
    this.announceBytes(frame(0, message))
  }

  #accept(socket: Socket): void {
    this.#connections += 1
    const client: Client = {
      number: this.#connections,
      socket,
      received: Buffer.alloc(0),
      state: 'commands',
      deviceId: null,
    }
    this.#clients.add(client)
    socket.on('error', () => {})
    socket.on('close', () => this.#clients.delete(client))
    socket.on('data', (chunk: Buffer) => {
      if (client.state === 'raw') return
      client.received = Buffer.concat([client.received, chunk])
      this.#takeFrames(client)
    })
  }

  #takeFrames(client: Client): void {
    while (client.state !== 'raw' && client.received.byteLength >= HEAD_BYTES) {
      const [length = 0, version, kind, tag = 0] = [0, 4, 8, 12].map((at) =>
        client.received.readUInt32LE(at),
      )
      if (client.received.byteLength < length) return
      const payload = client.received.subarray(HEAD_BYTES, length)
      client.received = client.received.subarray(length)
      // Measured: one that listens may ask for nothing more.
      const isOdd = version !== 1 || kind !== 8 || client.state === 'listening'
      if (isOdd) return void client.socket.destroy()
      this.#take(client, tag, payload)
    }
  }

  #take(client: Client, tag: number, payload: Buffer): void {
    // Clients of usbmuxd send dictionaries.
    const values = parse(payload.toString('utf8')) as Record<string, unknown>
    const request = { connection: client.number, type: String(values['MessageType']), values }
    this.requests.push(request)
    const odd = this.onRequest(request, tag)
    if (odd === null) this.#answer(client, tag, request)
    else if (odd === 'close') client.socket.destroy()
    else if (odd instanceof Uint8Array) this.#write(client, odd)
    else if (odd !== 'silence') this.#write(client, result(tag, odd.result))
  }

  #answer(client: Client, tag: number, { type, values }: MuxRequest): void {
    const reply = (message: Readonly<Record<string, unknown>>) =>
      this.#write(client, frame(tag, message))
    switch (type) {
      case 'ListDevices':
        return reply({ DeviceList: [...this.#attached.values()].map(attachedEvent) })
      case 'ReadBUID':
        return reply({ BUID })
      case 'ReadPairRecord':
        return this.#write(client, this.#pairRecord(tag, values['PairRecordID']))
      case 'Listen':
        return this.#listen(client, tag)
      case 'Connect':
        return this.#connect(client, tag, values)
      default:
        return this.#write(client, result(tag, 1))
    }
  }

  #pairRecord(tag: number, id: unknown): Uint8Array {
    if (typeof id !== 'string') return result(tag, EINVAL)
    const phones = [...this.#attached.values()].map(({ phone }) => phone)
    const record = phones.find(({ recordId }) => recordId === id)?.pairRecord ?? null
    if (record === null) return result(tag, ENOENT)
    return frame(tag, { PairRecordData: Buffer.from(record) })
  }

  /** The result and what is attached go out at once, in one piece if nothing cuts it. */
  #listen(client: Client, tag: number): void {
    client.state = 'listening'
    const events = [...this.#attached.values()].map((one) => frame(0, attachedEvent(one)))
    this.#write(client, Buffer.concat([result(tag, 0), ...events]))
  }

  #connect(client: Client, tag: number, values: Readonly<Record<string, unknown>>): void {
    const attachment = this.#attached.get(Number(values['DeviceID']))
    const number = Number(values['PortNumber'])
    if (attachment === undefined) return this.#write(client, result(tag, 2))
    if (Number.isNaN(number)) return this.#write(client, result(tag, 1))
    // The number is the port with its two bytes changed over.
    const port = attachment.phone.ports.get((number >> 8) | ((number & 0xff) << 8))
    if (port === undefined) return this.#write(client, result(tag, 3))
    client.state = 'raw'
    client.deviceId = attachment.deviceId
    client.socket.removeAllListeners('data')
    this.#write(client, Buffer.concat([result(tag, 0), port.greeting ?? Buffer.alloc(0)]))
    port.serve(client.socket)
  }

  #write({ socket }: Client, bytes: Uint8Array): void {
    const step = this.pieceBytes
    if (step === null) return void socket.write(bytes)
    void writeInPieces(socket, bytes, step)
  }
}

/** One frame of usbmuxd. */
export function frame(tag: number, message: Readonly<Record<string, unknown>>): Buffer {
  return headed([1, 8, tag], Buffer.from(build(message, { pretty: true })))
}

/** The frame of a result. */
export function result(tag: number, number: number): Buffer {
  return frame(tag, { MessageType: 'Result', Number: number })
}

/** A frame whose head says this much of its length, without any of it. */
export function headOnly(length: number): Buffer {
  const head = headed([1, 8, 1], Buffer.alloc(0))
  head.writeUInt32LE(length, 0)
  return head
}

function headed(words: readonly number[], payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  const all = [HEAD_BYTES + payload.byteLength, ...words]
  for (const [index, word] of all.entries()) head.writeUInt32LE(word, 4 * index)
  return Buffer.concat([head, payload])
}

function attachedEvent({ phone, deviceId, transport }: Attachment): Record<string, unknown> {
  const Properties = {
    ConnectionSpeed: 480_000_000,
    ConnectionType: transport,
    DeviceID: deviceId,
    LocationID: 65_538,
    ProductID: 4_776,
    SerialNumber: phone.serial,
    // libusbmuxd takes no device on the network without its address: a sockaddr_in.
    ...(transport === 'Network' ? { NetworkAddress: Buffer.alloc(128, 2) } : {}),
  }
  return { MessageType: 'Attached', DeviceID: deviceId, Properties }
}

async function writeInPieces(socket: Socket, bytes: Uint8Array, step: number): Promise<void> {
  for (let at = 0; at < bytes.byteLength && !socket.destroyed; at += step) {
    socket.write(bytes.subarray(at, at + step))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
