// The service "lockdown" of a phone, for tests: frames, values, and sessions in real TLS that want the
// certificate of the computer. The flow is that of lockdown.c of libimobiledevice, whose ideviceinfo
// reads a phone through this.

import { connect, type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, type Server } from 'node:tls'

import { build, parse } from 'plist'

import { ROOT } from './test-pairing.ts'

export type LockdownRequest = {
  readonly request: string
  readonly key: string | null
  readonly domain: string | null
  readonly isEncrypted: boolean
}

/** What goes wrong in the TLS of a session: the phone closes it, or never comes to its end. */
export type TlsTrouble = 'closes' | 'hangs'

type Values = Readonly<Record<string, unknown>>
type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

export const HOST_ID = '8F6D2F1C-9C7E-4B8B-9A52-54B5D4E6C0DE'

/** What a phone reports without a session (libimobiledevice's documentation of ideviceinfo -s). */
const OPEN_KEYS: ReadonlySet<string> = new Set([
  'DeviceName',
  'DeviceClass',
  'ProductType',
  'ProductVersion',
  'UniqueDeviceID',
])

export class FakeLockdown {
  /** By domain, `` for the one without a name. */
  readonly values = new Map<string, Values>()
  readonly requests: LockdownRequest[] = []
  /** The word with which StartSession is refused. */
  refusal: string | null = null
  tlsTrouble: TlsTrouble | null = null
  /** Nothing is answered any more. */
  isHanging = false
  /** Takes the place of the answer to a request if it gives bytes. */
  onRequest: (request: LockdownRequest) => Uint8Array | null = () => null
  readonly #tls: Server
  readonly #open = new Set<Duplex>()

  private constructor(version: TlsVersion) {
    const trust = { ca: ROOT.cert, requestCert: true, rejectUnauthorized: true }
    const versions = { minVersion: version, maxVersion: version }
    this.#tls = createServer({ ...ROOT, ...trust, ...versions }, (socket) => {
      this.#serve(socket, true)
    })
  }

  static async start(version: TlsVersion = 'TLSv1.3'): Promise<FakeLockdown> {
    const lockdown = new FakeLockdown(version)
    await new Promise<void>((resolve) => void lockdown.#tls.listen(0, '127.0.0.1', resolve))
    return lockdown
  }

  /** Sessions and connections that are open. */
  get openCount(): number {
    return this.#open.size
  }

  readonly serve = (socket: Duplex): void => this.#serve(socket, false)

  stop(): void {
    for (const socket of this.#open) socket.destroy()
    this.#tls.close()
  }

  #serve(stream: Duplex, isEncrypted: boolean): void {
    let received = Buffer.alloc(0)
    this.#open.add(stream)
    stream.on('error', () => {})
    stream.on('close', () => this.#open.delete(stream))
    stream.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      while (received.byteLength >= 4) {
        const end = 4 + received.readUInt32BE()
        if (received.byteLength < end) return
        const payload = received.subarray(4, end)
        received = received.subarray(end)
        this.#take(stream, payload, isEncrypted)
      }
    })
  }

  #take(stream: Duplex, payload: Buffer, isEncrypted: boolean): void {
    const values = parse(payload.toString('utf8')) as Values // Clients of lockdown send dictionaries.
    const { Request, Key, Domain, HostID } = values
    const request = {
      request: String(Request),
      key: typeof Key === 'string' ? Key : null,
      domain: typeof Domain === 'string' ? Domain : null,
      isEncrypted,
    }
    this.requests.push(request)
    if (this.isHanging) return
    const odd = this.onRequest(request)
    if (odd !== null) return void stream.write(odd)
    const answer = { Request: request.request, ...this.#answer(request, HostID) }
    stream.write(lockdownFrame(answer))
    if ('EnableSessionSSL' in answer) this.#encrypt(stream)
  }

  #answer(request: LockdownRequest, hostId: unknown): Values {
    switch (request.request) {
      case 'QueryType':
        return { Type: 'com.apple.mobile.lockdown' }
      case 'GetValue':
        return this.#value(request)
      case 'StartSession':
        return this.#startSession(hostId)
      case 'StopSession':
      case 'Goodbye':
        return { Result: 'Success' }
      default:
        return { Error: 'InvalidRequest' }
    }
  }

  #value({ key, domain, isEncrypted }: LockdownRequest): Values {
    const all = this.values.get(domain ?? '') ?? {}
    const told = Object.fromEntries(
      Object.entries(all).filter(
        ([name]) => isEncrypted || (domain === null && OPEN_KEYS.has(name)),
      ),
    )
    if (key === null) return { Value: told }
    const asked = { Key: key, ...(domain === null ? {} : { Domain: domain }) }
    if (key in told) return { ...asked, Value: told[key] }
    return { ...asked, Error: key in all ? 'GetProhibited' : 'MissingValue' }
  }

  #startSession(hostId: unknown): Values {
    if (this.refusal !== null) return { Error: this.refusal }
    if (hostId !== HOST_ID) return { Error: 'InvalidHostID' }
    return { EnableSessionSSL: true, SessionID: 'D1E7B1F2-2F60-4C92-8D8D-6B9B7A0C9B11' }
  }

  /** From here on the stream carries TLS, which a server of its own takes out of it. */
  #encrypt(stream: Duplex): void {
    stream.removeAllListeners('data')
    if (this.tlsTrouble === 'hangs') return void stream.resume()
    if (this.tlsTrouble === 'closes') return void stream.once('data', () => stream.destroy())
    // The address of a server that listens on a port is an object.
    const { port } = this.#tls.address() as AddressInfo
    const inner = connect(port, '127.0.0.1')
    inner.on('error', () => stream.destroy())
    inner.on('close', () => stream.destroy())
    stream.on('close', () => inner.destroy())
    stream.pipe(inner)
    inner.pipe(stream)
  }
}

/** One message of lockdown. */
export function lockdownFrame(message: Values): Buffer {
  const payload = Buffer.from(build(message, { pretty: true }))
  const head = Buffer.alloc(4)
  head.writeUInt32BE(payload.byteLength)
  return Buffer.concat([head, payload])
}
