// iPhones for tests, and a rig of usbmuxd with phones on it.

import type { Socket } from 'node:net'

import { build } from 'plist'

import { eventually } from '../eventually.ts'
import { ScratchFolder } from '../scratch-folder.ts'
import { settle } from '../test-clock.ts'
import { FakeLockdown, HOST_ID } from './fake-lockdown.ts'
import { BUID, FakeMux } from './fake-mux.ts'
import { HOST, ROOT } from './test-pairing.ts'

/** A port of the phone: `greeting` goes out in one piece with the news that it is connected. */
export type FakePort = {
  readonly greeting?: Uint8Array | undefined
  readonly serve: (socket: Socket) => void
}

export type FakePhone = {
  /** As usbmuxd reports it. */
  readonly serial: string
  /** The name of its pair record. */
  readonly recordId: string
  readonly ports: Map<number, FakePort>
  readonly lockdown: FakeLockdown
  /** Null if it does not trust this computer. */
  pairRecord: Uint8Array | null
}

export const UDID = '00008110-000A4C2E1E38801E'
export const OTHER_UDID = '00008130-001C25D40C62001C'
export const NUMBER = '+15551230001'
const ESCROW_BAG = Buffer.from('escrow bag of a made-up pairing!')

/** Names and values as lockdown reports them; `PhoneNumber` is dressed as iOS 17 does it. */
const VALUES = {
  DeviceClass: 'iPhone',
  DeviceName: 'Line one',
  PasswordProtected: false,
  PhoneNumber: '\u202A+1 (555)\u00A0123-0001\u202C',
  ProductType: 'iPhone14,5',
  ProductVersion: '18.6.2',
  SIMStatus: 'kCTSIMSupportSIMStatusReady',
  TimeZone: 'America/New_York',
}

/** The fields of a pair record, as usbmuxd keeps them. */
export const PAIR_RECORD = {
  DeviceCertificate: Buffer.from(`${ROOT.cert}\n`),
  EscrowBag: ESCROW_BAG,
  HostCertificate: Buffer.from(`${HOST.cert}\n`),
  HostID: HOST_ID,
  HostPrivateKey: Buffer.from(`${HOST.key}\n`),
  RootCertificate: Buffer.from(`${ROOT.cert}\n`),
  RootPrivateKey: Buffer.from(`${ROOT.key}\n`),
  SystemBUID: BUID,
  WiFiMACAddress: '02:00:00:44:55:66',
}

const LOCKDOWN_PORT = 62_078
/** Sockets of one process are mostly through by then. */
const TURNS_AT_ONCE = 200

/** A phone that trusts this computer, switched on, with a SIM. */
export async function fakePhone(
  serial = UDID,
  {
    values = {},
    version = 'TLSv1.3',
  }: {
    readonly values?: Readonly<Record<string, unknown>> | undefined
    readonly version?: 'TLSv1.2' | 'TLSv1.3' | undefined
  } = {},
): Promise<FakePhone> {
  const lockdown = await FakeLockdown.start(version)
  const battery = { BatteryCurrentCapacity: 87, BatteryIsCharging: true }
  lockdown.values.set('', { ...VALUES, UniqueDeviceID: serial, ...values })
  lockdown.values.set('com.apple.mobile.battery', battery)
  lockdown.values.set('com.apple.security.mac.amfi', { DeveloperModeStatus: true })
  lockdown.values.set('com.apple.international', { Language: 'en', Locale: 'en_US' })
  const pairRecord = Buffer.from(build(PAIR_RECORD, { pretty: true }))
  const ports = new Map([[LOCKDOWN_PORT, { serve: lockdown.serve }]])
  return { serial, recordId: serial, ports, lockdown, pairRecord }
}

/** Whatever of a pairing must be seen nowhere, as it could stand in a text, a property list or a log. */
export function secretsOfPairing(): readonly string[] {
  const files = [HOST.key, ROOT.key, HOST.cert, ROOT.cert]
  const lines = files.flatMap((pem) => pem.split('\n').filter((line) => !line.startsWith('-----')))
  const whole = [...files.map((pem) => Buffer.from(`${pem}\n`)), ESCROW_BAG]
  return [...lines, HOST_ID, ESCROW_BAG.toString(), ...whole.flatMap(writtenForms)]
}

/** Pieces of the bytes in each form in which programs write bytes down. */
function writtenForms(bytes: Buffer): readonly string[] {
  // Property lists cut the lines of what they hold: a piece of the first one.
  const ofFirstLine = bytes.toString('base64').slice(0, 32)
  const middle = Math.floor(bytes.byteLength / 2)
  const piece = bytes.subarray(middle, middle + 12)
  return [ofFirstLine, piece.toString('hex'), [...piece].join(',')]
}

/** usbmuxd in a folder of its own, and what ends all of it. */
export class MuxRig implements AsyncDisposable {
  readonly #folder = new ScratchFolder()
  readonly #phones: FakePhone[] = []
  #mux: FakeMux | null = null

  get path(): string {
    return this.#folder.file('usbmuxd')
  }

  get mux(): FakeMux {
    if (this.#mux === null) throw new Error('usbmuxd was not started.')
    return this.#mux
  }

  static async start(): Promise<MuxRig> {
    const rig = new MuxRig()
    await rig.startMux()
    return rig
  }

  async startMux(): Promise<FakeMux> {
    this.#mux = await FakeMux.start(this.path)
    return this.#mux
  }

  async stopMux(): Promise<void> {
    await this.#mux?.stop()
    this.#mux = null
  }

  /** A phone that is not plugged in yet. */
  readonly phone = async (...order: Parameters<typeof fakePhone>): Promise<FakePhone> => {
    const phone = await fakePhone(...order)
    this.#phones.push(phone)
    return phone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopMux()
    for (const { lockdown } of this.#phones) lockdown.stop()
    this.#folder[Symbol.dispose]()
  }
}

/** Waits until something that real sockets bring about has come true. */
export async function until(isTrue: () => boolean, what = 'what was waited for'): Promise<void> {
  for (let turn = 0; turn < TURNS_AT_ONCE && !isTrue(); turn += 1) await settle(1)
  await eventually(what, () => (isTrue() ? true : null))
}
