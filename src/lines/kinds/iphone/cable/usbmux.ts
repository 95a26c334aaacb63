// The client of usbmuxd, the daemon that carries connections over the cable: attached phones, connections to their
// ports, and the stored trust between phone and computer.

import type { Socket } from 'node:net'

import {
  bytesOf,
  dictionaryOf,
  numberOf,
  type PropertyDictionary,
  type PropertyValue,
  textOf,
} from '../../../../system/binary-plist.ts'
import { type Clock, deadline } from '../../../../system/clock.ts'
import { normalUdid } from '../udid.ts'
import {
  type MuxAddress,
  MuxConnection,
  MuxError,
  type MuxErrorCode,
  openSocket,
  type OpenSocket,
} from './mux-connection.ts'

/** A listening connection; usbmuxd closes it at any further request. */
export type MuxListening = {
  /** The next event; waits for it without limit. Rejects with a `MuxError` when the connection ends. */
  next(signal: AbortSignal): Promise<MuxEvent>
  close(): void
}

/** The time limit of libusbmuxd. usbmuxd does not answer a payload that it cannot read. */
const ANSWER_MS_MAX = 5_000

/** usbmuxd's result numbers (usbmuxd-proto.h); it also passes on errno values. */
const RESULT_OK = 0
const RESULT_BAD_DEVICE = 2
const CODE_OF_RESULT: Readonly<Record<number, MuxErrorCode>> = {
  1: 'bad_command',
  [RESULT_BAD_DEVICE]: 'bad_device',
  3: 'refused',
  22: 'bad_command',
}

/** Every method opens a new connection, and rejects with a `MuxError`, or when `signal` aborts. */
export class Usbmux {
  readonly #address: MuxAddress
  readonly #clock: Clock
  readonly #open: OpenSocket

  constructor(address: MuxAddress, clock: Clock, open: OpenSocket = openSocket) {
    this.#address = address
    this.#clock = clock
    this.#open = open
  }

  /**
   * A connection to a TCP port of the phone. The socket is paused: bytes that the phone sends at once wait in it. It
   * has a listener for errors; `close` says that it has ended.
   */
  connect(deviceId: number, port: number, signal: AbortSignal): Promise<Socket> {
    const request = { MessageType: 'Connect', DeviceID: deviceId, PortNumber: muxPort(port) }
    return this.#within(signal, async (connection, limit) => {
      mustBeOk(await connection.ask(request, limit))
      return connection.release()
    })
  }

  /** The stored trust between this computer and a phone; null if there is none. */
  async pairRecord(serial: string, signal: AbortSignal): Promise<Uint8Array | null> {
    const request = { MessageType: 'ReadPairRecord', PairRecordID: serial }
    const answer = await this.#askOnce(request, signal)
    const record = bytesOf(answer['PairRecordData'])
    if (record !== null) return record
    // ENOENT has the same number as the result for an unknown device.
    if (numberOf(answer['Number']) === RESULT_BAD_DEVICE) return null
    throw failureOf(answer)
  }

  /** This computer's id for phones. */
  async buid(signal: AbortSignal): Promise<string> {
    const answer = await this.#askOnce({ MessageType: 'ReadBUID' }, signal)
    const buid = textOf(answer['BUID'])
    if (buid === null) throw failureOf(answer)
    return buid
  }

  /** Announces every attached device, and then every change. */
  listen(signal: AbortSignal): Promise<MuxListening> {
    return this.#within(signal, async (connection, limit) => {
      mustBeOk(await connection.ask({ MessageType: 'Listen' }, limit))
      return { next: (waiting) => nextEvent(connection, waiting), close: () => connection.close() }
    })
  }

  async #askOnce(request: PropertyDictionary, signal: AbortSignal): Promise<PropertyDictionary> {
    return this.#within(signal, async (connection, limit) => {
      const answer = await connection.ask(request, limit)
      connection.close()
      return answer
    })
  }

  /** Does `work` on a new connection within the time for an answer; closes the connection if it fails. */
  async #within<T>(
    signal: AbortSignal,
    work: (connection: MuxConnection, limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted()
    const limit = deadline(this.#clock, ANSWER_MS_MAX, signal)
    let connection: MuxConnection | null = null
    try {
      connection = await MuxConnection.open(this.#address, this.#open, limit.signal)
      return await work(connection, limit.signal)
    } catch (error) {
      connection?.close()
      signal.throwIfAborted()
      if (limit.signal.aborted) throw new MuxError('silent', 'no answer in time')
      throw error
    } finally {
      limit.clear()
    }
  }
}

/** A port as usbmuxd numbers it: its two bytes in network order, read in the host's order. */
export function muxPort(port: number): number {
  return ((port & 0xff) << 8) | (port >> 8)
}

async function nextEvent(connection: MuxConnection, signal: AbortSignal): Promise<MuxEvent> {
  for (;;) {
    const event = muxEvent(await connection.next(signal))
    if (event !== null) return event
  }
}

function mustBeOk(answer: PropertyDictionary): void {
  if (numberOf(answer['Number']) !== RESULT_OK) throw failureOf(answer)
}

function failureOf(answer: PropertyDictionary): MuxError {
  const number = numberOf(answer['Number'])
  if (number === null) return new MuxError('protocol', 'an answer without a result')
  return new MuxError(CODE_OF_RESULT[number] ?? 'protocol', `result ${number}`)
}

/** An attachment of a phone: after it is plugged in again, `deviceId` differs. */
export type MuxDevice = {
  /** The phone's own id in the form of `normalUdid`. */
  readonly udid: string
  /** The same id as usbmuxd writes it: the name of its pair record. */
  readonly serial: string
  /** The id of this attachment, for this run of usbmuxd only. */
  readonly deviceId: number
  readonly transport: 'usb' | 'network'
}

export type MuxEvent =
  | { readonly event: 'attached'; readonly device: MuxDevice }
  | { readonly event: 'detached'; readonly deviceId: number }
  /** The owner tapped Trust. */
  | { readonly event: 'paired'; readonly deviceId: number }

const SERIAL_LENGTH_MAX = 64

/** The event in a message of a listening connection; null if it is unknown. */
function muxEvent(message: PropertyDictionary): MuxEvent | null {
  const kind = textOf(message['MessageType'])
  if (kind === 'Attached') {
    const device = muxDevice(message)
    return device === null ? null : { event: 'attached', device }
  }
  const deviceId = numberOf(message['DeviceID'])
  if (deviceId === null) return null
  if (kind === 'Detached') return { event: 'detached', deviceId }
  return kind === 'Paired' ? { event: 'paired', deviceId } : null
}

/** The device in an entry of a device list, or in an event; null if it names none. */
function muxDevice(entry: PropertyValue): MuxDevice | null {
  const properties = dictionaryOf(dictionaryOf(entry)?.['Properties'])
  const serial = textOf(properties?.['SerialNumber'])
  const deviceId = numberOf(dictionaryOf(entry)?.['DeviceID'] ?? properties?.['DeviceID'])
  if (serial === null || deviceId === null) return null
  if (serial === '' || serial.length > SERIAL_LENGTH_MAX) return null
  const isNetwork = textOf(properties?.['ConnectionType']) === 'Network'
  const transport = isNetwork ? 'network' : 'usb'
  return { udid: normalUdid(serial), serial, deviceId, transport }
}
