// A connection to usbmuxd and its frames: a little-endian header of 16 bytes (length with the header, version, kind,
// tag) and a property list in XML, as in libusbmuxd.

import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import {
  dictionaryOf,
  type PropertyDictionary,
  PropertyListError,
} from '../../../../system/binary-plist.ts'
import { parsePropertyList, xmlPropertyList } from './property-list.ts'

/**
 * `absent`: nothing listens, so there are no phones. `denied`: no permission for the socket. `refused`: nothing on
 * the phone listens on that port, or its cable was just pulled. `bad_device`: the device is no longer attached under
 * that id. `bad_command`: usbmuxd does not accept the request. `silent`: no answer in time. `protocol`: it closed
 * the connection, or broke the protocol.
 */
export type MuxErrorCode =
  | 'absent'
  | 'denied'
  | 'refused'
  | 'bad_device'
  | 'bad_command'
  | 'silent'
  | 'protocol'

/** A failure between us and usbmuxd, or between it and a phone. Its message quotes nothing that was sent. */
export class MuxError extends Error {
  override readonly name = 'MuxError'
  readonly code: MuxErrorCode

  constructor(code: MuxErrorCode, what: string) {
    super(`usbmuxd (${code}): ${what}`)
    this.code = code
  }
}

/** The address of usbmuxd: a Unix socket, or a port of the computer into which the phones are plugged. */
export type MuxAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

/** The socket's usual path, the same on macOS and Linux. */
const DEFAULT_PATH = '/var/run/usbmuxd'
/** `sun_path` has 104 bytes with its closing zero on macOS; on Linux it is longer. */
const PATH_BYTES_MAX = 103

const UNIX_FORM = /^(?:unix:\/\/|unix:|(?=\/))(\/[^\0]*)$/i
const TCP_FORM = /^(?:tcp:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9.-]+):([0-9]{1,5})$/i

/**
 * The address that `text` names, in the forms of the environment variable USBMUXD_SOCKET_ADDRESS:
 * `UNIX:/path` and `host:port` as libusbmuxd has them, `unix:///path` and `tcp://host:port` as go-ios
 * does, and a plain `/path`. Null stands for the usual place. Throws a RangeError for anything else.
 */
export function muxAddress(text: string | null): MuxAddress {
  if (text === null) return { path: DEFAULT_PATH }
  const path = UNIX_FORM.exec(text)?.[1]
  if (path !== undefined && Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path }
  const [, host, digits] = TCP_FORM.exec(text) ?? []
  const port = Number(digits)
  if (host !== undefined && port >= 1 && port <= 65_535) {
    return { host: host.replace(/^\[|\]$/g, ''), port }
  }
  throw new RangeError('An address of usbmuxd is like /var/run/usbmuxd, UNIX:/path or host:port.')
}

type Frame = { readonly tag: number; readonly message: PropertyDictionary }

const HEAD_BYTES = 16
/** Larger than a list of a thousand phones, and than any pair record. */
const FRAME_BYTES_MAX = 1_048_576
const VERSION_PLIST = 1
const KIND_PLIST = 8
/** Events answer no request. */
const EVENT_TAG = 0
/** Most events kept that come before the answer to the request for them. */
const EARLY_EVENTS_MAX = 100
/** For usbmuxd on another computer, which may disappear without closing the connection. */
const KEEP_ALIVE_MS = 30_000

const WHO_WE_ARE = {
  ClientVersionString: 'hookline',
  ProgName: 'hookline',
  // libusbmuxd's version: it turns on property lists, and devices in the network.
  kLibUSBMuxVersion: 3,
}

/** Opens a socket, not yet connected; failures are events of the socket. */
export type OpenSocket = (address: MuxAddress) => Socket

export const openSocket: OpenSocket = (address) => connect(address)

export class MuxConnection {
  readonly #socket: Socket
  readonly #early: PropertyDictionary[] = []
  #tag = EVENT_TAG

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Rejects with a `MuxError`, which is `silent` if `signal` aborted. */
  static open(address: MuxAddress, open: OpenSocket, signal: AbortSignal): Promise<MuxConnection> {
    return new Promise((resolve, reject) => {
      const socket = open(address)
      const fail = (error: MuxError) => {
        signal.removeEventListener('abort', abort)
        socket.destroy()
        reject(error)
      }
      const abort = () => fail(new MuxError('silent', 'it does not take the connection'))
      // This listener stays, because an error without a listener would end the process.
      socket.on('error', (error) => fail(errorOfSocket(error)))
      socket.once('connect', () => {
        signal.removeEventListener('abort', abort)
        socket.setKeepAlive(true, KEEP_ALIVE_MS)
        resolve(new MuxConnection(socket))
      })
      signal.addEventListener('abort', abort)
      if (signal.aborted) abort()
    })
  }

  /** Sends a request and returns its answer; events that come meanwhile are kept for `next`. */
  async ask(request: PropertyDictionary, signal: AbortSignal): Promise<PropertyDictionary> {
    this.#tag += 1
    this.#socket.write(frameBytes(this.#tag, { ...WHO_WE_ARE, ...request }))
    for (;;) {
      const { tag, message } = await this.#read(signal)
      if (tag === this.#tag) return message
      if (tag !== EVENT_TAG || this.#early.length >= EARLY_EVENTS_MAX) {
        throw new MuxError('protocol', 'an answer to something else')
      }
      this.#early.push(message)
    }
  }

  /** The next event of a listening connection; waits for it without limit. */
  async next(signal: AbortSignal): Promise<PropertyDictionary> {
    return this.#early.shift() ?? (await this.#read(signal)).message
  }

  /** Hands over the socket; bytes that came after the last answer are still in it. */
  release(): Socket {
    return this.#socket
  }

  close(): void {
    this.#socket.destroy()
  }

  async #read(signal: AbortSignal): Promise<Frame> {
    try {
      const head = headOf(await readExactly(this.#socket, HEAD_BYTES, signal))
      const payload = await readExactly(this.#socket, head.length - HEAD_BYTES, signal)
      if (head.version !== VERSION_PLIST || head.kind !== KIND_PLIST) {
        throw new MuxError('protocol', 'an answer in another form than XML')
      }
      const message = dictionaryOf(parsePropertyList(payload))
      if (message !== null) return { tag: head.tag, message }
      throw new MuxError('protocol', 'an answer that is no dictionary')
    } catch (error) {
      if (error instanceof StreamEndedError) throw new MuxError('protocol', 'the connection ended')
      if (error instanceof PropertyListError) throw new MuxError('protocol', error.message)
      throw error
    }
  }
}

function frameBytes(tag: number, message: PropertyDictionary): Uint8Array {
  const payload = Buffer.from(xmlPropertyList(message))
  const frame = Buffer.alloc(HEAD_BYTES + payload.byteLength)
  const words = [frame.byteLength, VERSION_PLIST, KIND_PLIST, tag]
  for (const [index, word] of words.entries()) frame.writeUInt32LE(word, 4 * index)
  payload.copy(frame, HEAD_BYTES)
  return frame
}

function headOf(bytes: Uint8Array) {
  const words = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES)
  const length = words.getUint32(0, true)
  if (length < HEAD_BYTES || length > FRAME_BYTES_MAX) {
    throw new MuxError('protocol', `a frame of ${length} bytes`)
  }
  const [version, kind, tag] = [4, 8, 12].map((at) => words.getUint32(at, true))
  return { length, version: version ?? 0, kind: kind ?? 0, tag: tag ?? 0 }
}

function errorOfSocket(error: Error): MuxError {
  const code = 'code' in error ? String(error.code) : 'unknown'
  const isDenied = code === 'EACCES' || code === 'EPERM'
  return new MuxError(isDenied ? 'denied' : 'absent', `its socket answers ${code}`)
}

/** The stream ended, or was aborted, before all bytes had come. */
export class StreamEndedError extends Error {
  override readonly name = 'StreamEndedError'
}

/**
 * The next `length` bytes of `stream`; what follows stays in the stream for the next reader. Rejects with a
 * `StreamEndedError` if the stream ends or fails before, or `signal` aborts; then the stream is unusable.
 */
export function readExactly(
  stream: Duplex,
  length: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (length === 0) return Promise.resolve(new Uint8Array())
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      stream.off('readable', look)
      for (const name of ['end', 'close', 'error']) stream.off(name, fail)
      signal.removeEventListener('abort', fail)
      act()
    }
    const fail = () => settle(() => reject(new StreamEndedError('The connection ended.')))
    const look = () => {
      // At the end of the stream fewer bytes may be left.
      const bytes: unknown = stream.read(length)
      if (bytes instanceof Uint8Array && bytes.byteLength < length) fail()
      else if (bytes instanceof Uint8Array) settle(() => resolve(bytes))
    }
    stream.on('readable', look)
    for (const name of ['end', 'close', 'error']) stream.on(name, fail)
    signal.addEventListener('abort', fail)
    if (signal.aborted || stream.destroyed) fail()
    else look()
  })
}
