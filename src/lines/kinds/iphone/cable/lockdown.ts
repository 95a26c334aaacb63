// Reads facts about an attached iPhone from its service "lockdown": 4 bytes of length, big-endian, and a property
// list in XML (libimobiledevice). Every computer may read a few values; a trusted one starts a session, in TLS on the
// same connection, and may read all.

import type { Duplex } from 'node:stream'
import { connect, createSecureContext, type SecureContext } from 'node:tls'

import {
  booleanOf,
  bytesOf,
  dictionaryOf,
  numberOf,
  PropertyListError,
  textOf,
  type PropertyDictionary,
  type PropertyValue,
} from '../../../../system/binary-plist.ts'
import { deadline, type Clock } from '../../../../system/clock.ts'
import { MuxError, readExactly, StreamEndedError } from './mux-connection.ts'
import { parsePropertyList, xmlPropertyList } from './property-list.ts'
import type { MuxDevice, Usbmux } from './usbmux.ts'

/** The answers of lockdown in one reading. */
export type PhoneFacts = {
  readonly reading: 'facts'
  readonly udid: string
  readonly name: string
  readonly iosVersion: string
  /** The SIM's number in E.164; null if the phone has none or does not know it. */
  readonly number: string | null
  readonly battery: { readonly percent: number; readonly isCharging: boolean } | null
  /** This and the following fields are null if the phone does not say. */
  readonly isDeveloperModeOn: boolean | null
  /** A language tag such as `en` or `en-US`. */
  readonly language: string | null
  /** True if a passcode is set and the screen is locked. */
  readonly isLocked: boolean | null
  /** An IANA name such as `Europe/Berlin`. */
  readonly timeZone: string | null
}

export type PhoneTroubleReason =
  | 'not_trusted'
  | 'trust_dialog'
  | 'trust_denied'
  | 'pairing_stale'
  | 'passcode_locked'
  | 'usbmux_denied'
  | 'unreadable'

/** The reason why an attached phone could not be read. */
export type PhoneTrouble = {
  readonly reading: 'trouble'
  readonly udid: string
  /** The phone's name; null if not even the name could be read. */
  readonly name: string | null
  readonly reason: PhoneTroubleReason
  /** A sentence without secrets. */
  readonly why: string
}

export type PhoneReading = PhoneFacts | PhoneTrouble

/** A phone that is attached, or was since the relay started. */
export type Phone = {
  readonly udid: string
  /** Its attachment; null while it is not plugged in. */
  readonly device: MuxDevice | null
  /** The last facts, even if they are from before the present trouble or before it was unplugged. */
  readonly facts: PhoneFacts | null
  /** The reason why it cannot be read; null while it can. */
  readonly trouble: PhoneTrouble | null
  /** The numbers that it has had, oldest first; at most ten. */
  readonly numbers: readonly string[]
  /** True if it has been below 20 % and not charging for ten minutes. */
  readonly hasLowBattery: boolean
}

const LOCKDOWN_PORT = 62_078
const LENGTH_BYTES = 4
const ANSWER_BYTES_MAX = 1_048_576
/** A phone that does not answer must not hold up the next one. */
const READING_MS_MAX = 15_000
const TEXT_LENGTH_MAX = 200

const BATTERY = 'com.apple.mobile.battery'
const INTERNATIONAL = 'com.apple.international'
/** Apple Mobile File Integrity lets only signed programs run, and knows whether developer mode is on. */
const FILE_INTEGRITY = 'com.apple.security.mac.amfi'

/** Troubles by lockdown's error words (lockdown.h of libimobiledevice). */
const REASON_OF_WORD: Readonly<Record<string, PhoneTroubleReason>> = {
  PasswordProtected: 'passcode_locked',
  EscrowLocked: 'passcode_locked',
  PairingDialogResponsePending: 'trust_dialog',
  UserDeniedPairing: 'trust_denied',
  // The phone was reset, or its owner revoked the trust.
  InvalidHostID: 'pairing_stale',
  MissingHostID: 'pairing_stale',
  InvalidPairRecord: 'pairing_stale',
  MissingPairRecord: 'pairing_stale',
}
const WORD = /^[A-Za-z]{1,60}$/

const E164 = /^\+[1-9][0-9]{6,14}$/
/** Characters to ignore in numbers: spaces, dashes, brackets, and the direction marks that iOS puts around them. */
const NUMBER_DRESSING = /[\s().\-/\u00AD\u2010-\u2015\u200B-\u200F\u202A-\u202E\u2060-\u2069]/gu

/** The phone cannot be read: it does not trust us, it refused, or its answer breaks the protocol. */
class LockdownError extends Error {
  override readonly name: string = 'LockdownError'
  readonly reason: PhoneTroubleReason

  constructor(why: string, reason: PhoneTroubleReason = 'unreadable') {
    super(why)
    this.reason = reason
  }
}

/** The phone refused, with its word for the cause. */
class LockdownRefusal extends LockdownError {
  constructor(word: string) {
    super(`The phone refused: ${WORD.test(word) ? word : 'unknown'}`, REASON_OF_WORD[word])
  }
}

/**
 * Reads a phone within 15 s. Changes nothing there, and asks its owner nothing. Rejects only when `signal` aborts:
 * any other failure is returned as a trouble.
 */
export async function readPhone(
  mux: Usbmux,
  clock: Clock,
  device: MuxDevice,
  signal: AbortSignal,
): Promise<PhoneReading> {
  const { udid } = device
  const limit = deadline(clock, READING_MS_MAX, signal)
  let name: string | null = null
  let lockdown: Lockdown | null = null
  try {
    const socket = await mux.connect(device.deviceId, LOCKDOWN_PORT, limit.signal)
    lockdown = new Lockdown(socket, limit.signal)
    name = await lockdown.text('DeviceName')
    const iosVersion = await lockdown.text('ProductVersion')
    if (iosVersion === null) throw new LockdownError('The phone does not say its iOS version.')
    await lockdown.startSession(await readPairRecord(mux, device, limit.signal))
    const rest = await readTrusted(lockdown)
    return { reading: 'facts', udid, name: name ?? 'iPhone', iosVersion, ...rest }
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) {
      const why = 'The phone does not answer in time.'
      return { reading: 'trouble', udid, name, reason: 'unreadable', why }
    }
    return { reading: 'trouble', udid, name, ...troubleOf(error) }
  } finally {
    lockdown?.close()
    limit.clear()
  }
}

async function readTrusted(
  lockdown: Lockdown,
): Promise<Omit<PhoneFacts, 'reading' | 'udid' | 'name' | 'iosVersion'>> {
  const number = textOf(await lockdown.value('PhoneNumber'))
  const percent = numberOf(await lockdown.value('BatteryCurrentCapacity', BATTERY))
  const isCharging = booleanOf(await lockdown.value('BatteryIsCharging', BATTERY)) ?? false
  return {
    number: number === null ? null : phoneNumberOf(number),
    battery: percent === null ? null : { percent, isCharging },
    isDeveloperModeOn: booleanOf(await lockdown.value('DeveloperModeStatus', FILE_INTEGRITY)),
    language: await lockdown.text('Language', INTERNATIONAL),
    // A passcode is set and the screen is locked (go-ios).
    isLocked: booleanOf(await lockdown.value('PasswordProtected')),
    timeZone: await lockdown.text('TimeZone'),
  }
}

/** The number in E.164; null if it lacks its country code. */
export function phoneNumberOf(text: string): string | null {
  const plain = text.replaceAll(NUMBER_DRESSING, '')
  return E164.test(plain) ? plain : null
}

/** The trouble behind an error; throws an error that is not the phone's or usbmuxd's. */
function troubleOf(error: unknown): Pick<PhoneTrouble, 'reason' | 'why'> {
  if (error instanceof LockdownError) return { reason: error.reason, why: error.message }
  if (!(error instanceof MuxError)) throw error
  const reason = error.code === 'denied' ? 'usbmux_denied' : 'unreadable'
  return { reason, why: error.message }
}

/** A connection to lockdown. Rejects with a `LockdownError`. */
class Lockdown {
  /** The socket, or TLS on it. */
  #stream: Duplex
  readonly #signal: AbortSignal

  /** `socket` must have a listener for errors. */
  constructor(socket: Duplex, signal: AbortSignal) {
    this.#stream = socket
    this.#signal = signal
  }

  /** The value of `key`; null if the phone has none, or withholds it. */
  async value(key: string, domain: string | null = null): Promise<PropertyValue | null> {
    const place = domain === null ? {} : { Domain: domain }
    try {
      return (await this.#ask({ Request: 'GetValue', ...place, Key: key }))['Value'] ?? null
    } catch (error) {
      // The phone refused with GetProhibited, MissingValue or similar.
      if (error instanceof LockdownRefusal) return null
      throw error
    }
  }

  async text(key: string, domain: string | null = null): Promise<string | null> {
    return textOf(await this.value(key, domain))?.slice(0, TEXT_LENGTH_MAX) ?? null
  }

  /** Rejects if the phone does not trust this computer. */
  async startSession({ hostId, systemBuid, secureContext }: PairRecord): Promise<void> {
    const ids = { HostID: hostId, SystemBUID: systemBuid }
    // go-ios names the version (startsession.go), libimobiledevice leaves it out.
    const answer = await this.#ask({ Request: 'StartSession', ProtocolVersion: '2', ...ids })
    if (booleanOf(answer['EnableSessionSSL']) === true) await this.#encrypt(secureContext)
  }

  close(): void {
    this.#stream.destroy()
  }

  async #ask(request: PropertyDictionary): Promise<PropertyDictionary> {
    const payload = Buffer.from(xmlPropertyList({ Label: 'hookline', ...request }))
    const head = Buffer.alloc(LENGTH_BYTES)
    head.writeUInt32BE(payload.byteLength)
    this.#stream.write(Buffer.concat([head, payload]))
    const answer = await this.#read()
    const word = textOf(answer['Error'])
    if (word !== null) throw new LockdownRefusal(word)
    return answer
  }

  async #read(): Promise<PropertyDictionary> {
    try {
      const head = await readExactly(this.#stream, LENGTH_BYTES, this.#signal)
      const length = Buffer.from(head).readUInt32BE()
      if (length > ANSWER_BYTES_MAX) throw new LockdownError('Its answer is too long.')
      const bytes = await readExactly(this.#stream, length, this.#signal)
      const answer = dictionaryOf(parsePropertyList(bytes))
      if (answer !== null) return answer
      throw new LockdownError('Its answer is no dictionary.')
    } catch (error) {
      if (error instanceof StreamEndedError) throw new LockdownError('The connection ended.')
      if (error instanceof PropertyListError) throw new LockdownError('Its answer is unreadable.')
      throw error
    }
  }

  /**
   * No authority signs the phone's certificate, and the phone is plugged into this computer. So the certificate isn't
   * checked, as in other programs.
   */
  async #encrypt(secureContext: SecureContext): Promise<void> {
    const secure = connect({ socket: this.#stream, secureContext, rejectUnauthorized: false })
    this.#stream = secure
    const ready = Promise.withResolvers<void>()
    const fail = () => ready.reject(new LockdownError('The encrypted session failed to start.'))
    secure.once('secureConnect', ready.resolve)
    // The listener for errors stays, because an error without a listener would end the process.
    for (const name of ['error', 'close', 'end']) secure.on(name, fail)
    this.#signal.addEventListener('abort', fail)
    if (this.#signal.aborted) fail()
    await ready.promise.finally(() => this.#signal.removeEventListener('abort', fail))
  }
}

/**
 * The trust between a computer and a phone, with its keys, which usbmuxd stores. It is kept for one session only, and
 * not as text that an error or a log could show.
 */
type PairRecord = {
  readonly hostId: string
  readonly systemBuid: string
  /** Certificate and key of this computer, in a form from which neither can be read. */
  readonly secureContext: SecureContext
}

/** Rejects if there is no complete record, or usbmuxd could not be asked. */
async function readPairRecord(
  mux: Usbmux,
  device: MuxDevice,
  signal: AbortSignal,
): Promise<PairRecord> {
  // Asks by both names, because an older usbmuxd may have stored it under another form of the UDID.
  const bytes =
    (await mux.pairRecord(device.serial, signal)) ??
    (device.serial === device.udid ? null : await mux.pairRecord(device.udid, signal))
  if (bytes === null) throw new LockdownError('There is no pair record for it.', 'not_trusted')
  const record = pairDictionary(bytes)
  const hostId = textOf(record['HostID'])
  const secureContext = contextOf(record)
  if (hostId === null || secureContext === null) {
    throw new LockdownError('Its pair record is incomplete.', 'pairing_stale')
  }
  const systemBuid = textOf(record['SystemBUID']) ?? (await mux.buid(signal))
  return { hostId, systemBuid, secureContext }
}

/** The dictionary in `bytes`; empty if there is none. */
function pairDictionary(bytes: Uint8Array): PropertyDictionary {
  try {
    return dictionaryOf(parsePropertyList(bytes)) ?? {}
  } catch {
    return {}
  }
}

/** Certificate and key of a pair record; null if they are missing, not PEM, or do not match. */
function contextOf(record: PropertyDictionary): SecureContext | null {
  const certificate = bytesOf(record['HostCertificate'])
  const key = bytesOf(record['HostPrivateKey'])
  if (certificate === null || key === null) return null
  try {
    return createSecureContext({ cert: Buffer.from(certificate), key: Buffer.from(key) })
  } catch {
    return null
  }
}
