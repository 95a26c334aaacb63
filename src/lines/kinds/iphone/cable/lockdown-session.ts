// The service "lockdown" of a phone: 4 bytes of length, the highest first, and a property list in XML.
// libimobiledevice describes it. A few values are open to every computer; a trusted one begins a session,
// from then on in TLS on the same connection, and may ask for the rest.

import type { Duplex } from 'node:stream'
import { connect, createSecureContext, type SecureContext } from 'node:tls'

import { readExactly, StreamEndedError } from './mux-connection.ts'
import {
  bytesOf,
  dictionaryOf,
  parsePropertyList,
  type PropertyDictionary,
  PropertyListError,
  type PropertyValue,
  booleanOf,
  textOf,
  xmlPropertyList,
} from './property-list.ts'
import type { MuxDevice, Usbmux } from './usbmux.ts'

export const LOCKDOWN_PORT = 62_078

/** The phone answered that it will not, with its word for why. */
export class LockdownRefusal extends Error {
  override readonly name = 'LockdownRefusal'
  /** As `InvalidHostID`; `unknown` where it is no such word. */
  readonly word: string

  constructor(word: string) {
    super(`The phone refused: ${word}`)
    this.word = word
  }
}

/** The connection ended or failed, or what came is not of the protocol. It quotes nothing of that. */
export class LockdownBroken extends Error {
  override readonly name = 'LockdownBroken'
}

const LENGTH_BYTES = 4
const ANSWER_BYTES_MAX = 1_048_576
const WORD = /^[A-Za-z]{1,60}$/

export class LockdownSession {
  /** The socket, or TLS on it. */
  #stream: Duplex

  /** Takes over a connection to `LOCKDOWN_PORT`, whose errors are listened to. */
  constructor(socket: Duplex) {
    this.#stream = socket
  }

  /** The value of `key`; null where the phone has none, or keeps it from us. */
  async value(
    { domain, key }: { readonly domain: string | null; readonly key: string },
    signal: AbortSignal,
  ): Promise<PropertyValue | null> {
    const place = domain === null ? {} : { Domain: domain }
    try {
      const answer = await this.#ask({ Request: 'GetValue', ...place, Key: key }, signal)
      return answer['Value'] ?? null
    } catch (error) {
      // GetProhibited, MissingValue and their like.
      if (error instanceof LockdownRefusal) return null
      throw error
    }
  }

  /** Begins a session. Rejects with a `LockdownRefusal` where the phone does not trust this computer. */
  async start(record: PairRecord, signal: AbortSignal): Promise<void> {
    const { hostId, systemBuid } = record
    const ids = { HostID: hostId, SystemBUID: systemBuid }
    // go-ios names the version (startsession.go), libimobiledevice leaves it out.
    const request = { Request: 'StartSession', ProtocolVersion: '2', ...ids }
    const answer = await this.#ask(request, signal)
    if (booleanOf(answer['EnableSessionSSL']) === true) await this.#encrypt(record, signal)
  }

  close(): void {
    this.#stream.destroy()
  }

  async #ask(request: PropertyDictionary, signal: AbortSignal): Promise<PropertyDictionary> {
    const payload = Buffer.from(xmlPropertyList({ Label: 'hookline', ...request }))
    const head = Buffer.alloc(LENGTH_BYTES)
    head.writeUInt32BE(payload.byteLength)
    this.#stream.write(Buffer.concat([head, payload]))
    const answer = await this.#read(signal)
    const word = textOf(answer['Error'])
    if (word !== null) throw new LockdownRefusal(WORD.test(word) ? word : 'unknown')
    return answer
  }

  async #read(signal: AbortSignal): Promise<PropertyDictionary> {
    try {
      const head = await readExactly(this.#stream, LENGTH_BYTES, signal)
      const length = Buffer.from(head).readUInt32BE()
      if (length > ANSWER_BYTES_MAX) throw new LockdownBroken('Its answer is too long.')
      const answer = dictionaryOf(
        parsePropertyList(await readExactly(this.#stream, length, signal)),
      )
      if (answer !== null) return answer
      throw new LockdownBroken('Its answer is no dictionary.')
    } catch (error) {
      if (error instanceof StreamEndedError) throw new LockdownBroken('The connection ended.')
      if (error instanceof PropertyListError) throw new LockdownBroken('Its answer is unreadable.')
      throw error
    }
  }

  /**
   * The phone proves itself by a certificate that is of no authority, and it hangs on our cable: like
   * other programs we do not ask more of it.
   */
  async #encrypt({ secureContext }: PairRecord, signal: AbortSignal): Promise<void> {
    const secure = connect({ socket: this.#stream, secureContext, rejectUnauthorized: false })
    this.#stream = secure
    const ready = Promise.withResolvers<void>()
    const fail = () => ready.reject(new LockdownBroken('It does not come to an encrypted session.'))
    secure.once('secureConnect', ready.resolve)
    // The listener for errors stays: an unhandled one would end the process.
    for (const name of ['error', 'close', 'end']) secure.on(name, fail)
    signal.addEventListener('abort', fail)
    if (signal.aborted) fail()
    try {
      await ready.promise
    } finally {
      signal.removeEventListener('abort', fail)
    }
  }
}

type PairRecord = {
  readonly hostId: string
  readonly systemBuid: string
  /** Certificate and key of this computer, as TLS wants them: it gives neither back. */
  readonly secureContext: SecureContext
}

/**
 * The record of `device`; `absent` where there is none, `unusable` where it lacks what is needed.
 * Rejects with a `MuxError` where usbmuxd could not be asked.
 */
export async function readPairRecord(
  mux: Usbmux,
  device: MuxDevice,
  signal: AbortSignal,
): Promise<PairRecord | 'absent' | 'unusable'> {
  // By either name: usbmuxd may have stored it before it wrote UDIDs as it does now.
  const bytes =
    (await mux.pairRecord(device.serial, signal)) ??
    (device.serial === device.udid ? null : await mux.pairRecord(device.udid, signal))
  if (bytes === null) return 'absent'
  const record = dictionaryIn(bytes)
  const hostId = textOf(record?.['HostID'])
  const secureContext = record === null ? null : contextOf(record)
  if (hostId === null || secureContext === null) return 'unusable'
  const systemBuid = textOf(record?.['SystemBUID']) ?? (await mux.buid(signal))
  return { hostId, systemBuid, secureContext }
}

function dictionaryIn(bytes: Uint8Array): PropertyDictionary | null {
  try {
    return dictionaryOf(parsePropertyList(bytes))
  } catch {
    return null
  }
}

function contextOf(record: PropertyDictionary): SecureContext | null {
  const certificate = bytesOf(record['HostCertificate'])
  const key = bytesOf(record['HostPrivateKey'])
  if (certificate === null || key === null) return null
  try {
    return createSecureContext({ cert: Buffer.from(certificate), key: Buffer.from(key) })
  } catch {
    // They are no PEM, or not of one pair.
    return null
  }
}
